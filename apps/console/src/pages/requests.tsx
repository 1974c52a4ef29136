import { Alert, Code, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { api, listAt, responseOf, type Schemas } from '../api.ts'
import type { Column } from '../parts/data-table.tsx'
import { EmptyState } from '../parts/empty-state.tsx'
import { type Filter, TENANT } from '../parts/filters.tsx'
import { Instant } from '../parts/instant.tsx'
import { ListPage } from '../parts/list-page.tsx'
import { count } from '../parts/money.tsx'
import { IdLink, ObjectLink } from '../parts/object-link.tsx'
import { HttpStatus } from '../parts/status-badge.tsx'
import { catalogueQuery } from '../session.ts'

const COLUMNS: readonly Column<Schemas['LoggedRequest']>[] = [
  { title: 'Request', cell: ({ requestId }) => <ObjectLink kind="request" id={requestId} /> },
  { title: 'When', cell: ({ receivedOn }) => <Instant at={receivedOn} /> },
  {
    title: 'Operation',
    cell: ({ operation, method, path }) => (
      <>
        {operation}
        <Text size="xs" c="dimmed" style={{ overflowWrap: 'anywhere' }}>
          {method} {path}
        </Text>
      </>
    ),
  },
  { title: 'Status', cell: ({ status }) => <HttpStatus status={status} /> },
  { title: 'Error', cell: ({ error }) => (error ? <Code>{error}</Code> : '–') },
  {
    title: 'Tenant',
    cell: ({ tenantId, tenantName }) => (tenantId ? <IdLink id={tenantId} name={tenantName} /> : '–'),
  },
  // No line breaks between the figure and its unit.
  { title: 'Took', align: 'right', cell: ({ durationMs }) => `${durationMs.toFixed(1)}\u00a0ms` },
]

type Catalogue = Schemas['Catalogue']

const filtersOf = ({ errors, operations }: Pick<Catalogue, 'errors' | 'operations'>): readonly Filter[] => [
  { name: 'q', label: 'Request id', kind: 'text', placeholder: 'req_…' },
  {
    name: 'outcome',
    label: 'Outcome',
    kind: 'select',
    options: [
      { value: 'failure', label: 'Failed' },
      { value: 'success', label: 'Succeeded' },
    ],
  },
  {
    name: 'error',
    label: 'Error',
    kind: 'select',
    options: errors.map(({ error }) => ({ value: error, label: error })),
  },
  {
    name: 'operation',
    label: 'Operation',
    kind: 'select',
    options: operations.map(({ id, summary }) => ({ value: id, label: summary })),
  },
  TENANT,
  { name: 'objectId', label: 'Touched', kind: 'text', placeholder: 'Id of a card, code, payment …' },
  { name: 'from', label: 'From', kind: 'from' },
  { name: 'to', label: 'Until', kind: 'to' },
]

/** What the list has, and since when. */
function Lead() {
  const { data: log } = useQuery({
    queryKey: ['request-log'],
    queryFn: () => responseOf(api.GET('/request-log')),
    refetchInterval: 60_000,
  })
  return (
    <>
      Every failure and every command of the last {log ? `${log.days} days` : 'days'}, and a sample of the
      reads.
      {log?.completeSince && (
        <Alert color="orange" role="status" mt="xs">
          The list is complete since <Instant at={log.completeSince} long />. Earlier entries were deleted
          when the log reached {count(log.rowsMax)} entries.
        </Alert>
      )}
    </>
  )
}

export function Requests() {
  const catalogue = useQuery(catalogueQuery)
  return (
    <ListPage
      title="Requests"
      lead={<Lead />}
      name="requests"
      caption="Requests"
      load={listAt('/requests')}
      columns={COLUMNS}
      rowKey={({ requestId }) => requestId}
      filters={filtersOf(catalogue.data ?? { errors: [], operations: [] })}
      sort="-created"
      refreshMs={10_000}
      empty={
        <EmptyState title="No requests yet">
          Requests show up here within seconds. This one fails for want of an API key, which is a fine first
          thing to look at.
        </EmptyState>
      }
    />
  )
}
