import { Button, Popover } from '@mantine/core'
import { lazyPart } from './lazy-part.tsx'
import type { ViewChoicesProps } from './view-choices.tsx'

// Needed seldom, so it is not part of the first load of lists.
const ViewChoices = lazyPart(async () => (await import('./view-choices.tsx')).ViewChoices)

/** A button that opens how the list is shown. */
export function ViewMenu<Row>(props: ViewChoicesProps<Row>) {
  return (
    <Popover position="bottom-end" trapFocus withinPortal>
      <Popover.Target>
        <Button variant="default" size="compact-sm" data-columns aria-keyshortcuts="c">
          View
        </Button>
      </Popover.Target>
      <Popover.Dropdown>
        <ViewChoices {...(props as unknown as ViewChoicesProps<unknown>)} />
      </Popover.Dropdown>
    </Popover>
  )
}
