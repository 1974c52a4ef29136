import { Text } from '@mantine/core'
import type { UseQueryResult } from '@tanstack/react-query'
import { Instant } from './instant.tsx'

/** Marks figures that could not be loaded again with the instant of which they are. */
export function StaleNote({ query }: { readonly query: UseQueryResult }) {
  const { data, dataUpdatedAt, failureCount } = query
  if (data === undefined || failureCount === 0) return undefined
  return (
    <Text size="sm" c="orange" role="status" fw={600}>
      Out of date: loaded <Instant at={new Date(dataUpdatedAt).toISOString()} long />
    </Text>
  )
}
