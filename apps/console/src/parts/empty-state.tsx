import { Paper, Stack, Text, Title } from '@mantine/core'
import type { ReactNode } from 'react'

interface EmptyStateProps {
  readonly title: string
  /** What the thing is for and how it comes to be. */
  readonly children: ReactNode
  readonly action?: ReactNode
}

/** Says what to do next where there is nothing yet. */
export function EmptyState({ title, children, action }: EmptyStateProps) {
  return (
    <Paper withBorder p="xl">
      <Stack align="center" gap="sm" ta="center" maw={640} mx="auto">
        <Title order={2} size="h4">
          {title}
        </Title>
        <Text c="dimmed">{children}</Text>
        {action}
      </Stack>
    </Paper>
  )
}
