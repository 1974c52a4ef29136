import { Paper, SimpleGrid, Text } from '@mantine/core'
import type { ReactNode } from 'react'

export interface Figure {
  readonly label: string
  readonly value: ReactNode
  /** Under the figure. */
  readonly note?: ReactNode
  readonly bad?: boolean
}

/** A row of figures, the large one of each under its name. */
export function Figures({ figures }: { readonly figures: readonly Figure[] }) {
  return (
    <Paper withBorder p="md">
      <SimpleGrid component="dl" m={0} cols={{ base: 2, md: figures.length }} spacing="md">
        {figures.map(({ label, value, note, bad = false }) => (
          <div key={label}>
            <Text component="dt" size="xs" c="dimmed">
              {label}
            </Text>
            <Text
              component="dd"
              m={0}
              fz={22}
              fw={600}
              style={{ fontVariantNumeric: 'tabular-nums' }}
              {...(bad && { c: 'var(--mantine-color-error)' })}
            >
              {value}
            </Text>
            {note !== undefined && (
              <Text component="dd" m={0} size="xs" c="dimmed">
                {note}
              </Text>
            )}
          </div>
        ))}
      </SimpleGrid>
    </Paper>
  )
}
