import { Group } from '@mantine/core'
import type { UseQueryResult } from '@tanstack/react-query'
import { WarningIcon } from './icons.tsx'
import { Instant } from './instant.tsx'

/** Marks figures that could not be loaded again with the instant of which they are. */
export function StaleNote({ query }: { readonly query: UseQueryResult }) {
  const { data, dataUpdatedAt, failureCount } = query
  if (data === undefined || failureCount === 0) return undefined
  return (
    <Group gap={6} role="status" fz="sm" fw={600}>
      <WarningIcon />
      <span>
        Out of date: loaded <Instant at={new Date(dataUpdatedAt).toISOString()} long />
      </span>
    </Group>
  )
}
