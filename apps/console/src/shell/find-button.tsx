import { Box, Button, Kbd } from '@mantine/core'
import { SearchIcon } from '../parts/icons.tsx'

interface FindButtonProps {
  readonly onClick: () => void
  /** What can be found, where there is room to say it. */
  readonly children: string
}

/** Opens the search, as `/` and ⌘K do. */
export function FindButton({ onClick, children }: FindButtonProps) {
  return (
    <Button
      variant="default"
      className="find-button"
      onClick={onClick}
      px="xs"
      leftSection={<SearchIcon />}
      rightSection={
        <Kbd size="xs" aria-hidden="true" visibleFrom="sm">
          /
        </Kbd>
      }
      aria-keyshortcuts="/ Meta+K Control+K"
    >
      <Box component="span" visibleFrom="sm">
        {children}
      </Box>
      <Box component="span" hiddenFrom="sm">
        Find
      </Box>
    </Button>
  )
}
