import { type ComponentType, lazy, type ReactNode, Suspense } from 'react'
import { Waiting } from './loaded.tsx'

/**
 * A part of a page that is fetched when it is first shown, so that the page itself is there sooner. What fails to load
 * after a new version was installed is offered by `notices.tsx`; anything else ends at the page's error.
 */
export function lazyPart<Props extends object>(
  load: () => Promise<ComponentType<Props>>,
  meanwhile: ReactNode = <Waiting />,
): ComponentType<Props> {
  const Part = lazy(async () => ({ default: await load() })) as ComponentType<Props>
  return (props) => (
    <Suspense fallback={meanwhile}>
      <Part {...props} />
    </Suspense>
  )
}
