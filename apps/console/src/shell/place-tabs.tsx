import { Link, useRouterState } from '@tanstack/react-router'
import { type Area, placeAt, type Tab } from './area.ts'
import { WaitingCount } from './waiting-count.tsx'

interface PlaceTabsProps {
  readonly areas: readonly Area[]
  /** How much waits for the person on a page. */
  readonly waitingAt?: (tab: Tab) => number
}

/** The pages that stand side by side at the current place; what is behind one of them has a way back instead. */
export function PlaceTabs({ areas, waitingAt = () => 0 }: PlaceTabsProps) {
  const at = useRouterState({ select: ({ location }) => location })
  const { label, tabs = [] } = placeAt(areas, at) ?? {}
  if (tabs.length < 2 || !tabs.some(({ to }) => to === at.pathname)) return undefined
  return (
    <nav className="place-tabs" aria-label={label}>
      {tabs.map((tab) => (
        <Link key={tab.to} to={tab.to} activeOptions={{ exact: true, includeSearch: false }}>
          {tab.label} <WaitingCount waiting={waitingAt(tab)} />
        </Link>
      ))}
    </nav>
  )
}
