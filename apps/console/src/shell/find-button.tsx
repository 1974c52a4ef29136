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
      onClick={onClick}
      px={{ base: 'xs', sm: 'md' }}
      leftSection={<SearchIcon />}
      aria-keyshortcuts="/ Meta+K Control+K"
      fw={400}
    >
      <Box component="span" visibleFrom="sm">
        {children}
        <Kbd size="xs" ml={8} aria-hidden="true">
          /
        </Kbd>
      </Box>
      <Box component="span" hiddenFrom="sm">
        Find
      </Box>
    </Button>
  )
}
