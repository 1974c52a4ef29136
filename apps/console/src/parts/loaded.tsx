import { Loader, Stack } from '@mantine/core'
import type { UseQueryResult } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { FailureAlert } from './failure-alert.tsx'
import { StaleNote } from './stale-note.tsx'

interface LoadedProps<Data> {
  readonly query: UseQueryResult<Data>
  readonly children: (data: Data) => ReactNode
}

/** The response of a query, or that it is on its way, or why it did not come. Old data stays while new is fetched. */
export function Loaded<Data>({ query, children }: LoadedProps<Data>) {
  const { data, error, isPending, refetch } = query
  if (isPending) return <Waiting />
  return (
    <Stack gap="md">
      {error && <FailureAlert failed={error} retry={() => void refetch()} />}
      <StaleNote query={query} />
      {data !== undefined && children(data)}
    </Stack>
  )
}

export function Waiting() {
  return (
    <Stack align="center" py="xl" role="status" aria-label="Loading">
      <Loader />
    </Stack>
  )
}
