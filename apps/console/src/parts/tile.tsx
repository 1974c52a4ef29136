import { Box, Text } from '@mantine/core'
import type { ReactNode } from 'react'

interface TileProps {
  readonly label: string
  readonly value: ReactNode
  readonly hint?: ReactNode
}

/** One figure, to be read at a glance. */
export function Tile({ label, value, hint }: TileProps) {
  return (
    <Box>
      <Text size="xs" c="dimmed">
        {label}
      </Text>
      <Text fw={700} fz="xl" lh={1.3} style={{ fontVariantNumeric: 'tabular-nums' }}>
        {value}
      </Text>
      {hint && (
        <Text size="xs" c="dimmed">
          {hint}
        </Text>
      )}
    </Box>
  )
}
