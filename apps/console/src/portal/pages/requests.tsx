import { Code, Text } from '@mantine/core'
import type { Column } from '../../parts/data-table.tsx'
import { EmptyState } from '../../parts/empty-state.tsx'
import type { Filter } from '../../parts/filters.tsx'
import { Instant } from '../../parts/instant.tsx'
import { ListPage } from '../../parts/list-page.tsx'
import { Id, ObjectLink } from '../../parts/object-link.tsx'
import { HttpStatus } from '../../parts/status-badge.tsx'
import { getList } from '../api.ts'

interface Row {
  readonly requestId: string
  readonly receivedOn: string
  readonly operation: string
  readonly method: string
  readonly path: string
  readonly status: number
  readonly durationMs: number
  readonly error?: string
  readonly description?: string
}

const COLUMNS: readonly Column<Row>[] = [
  {
    title: 'Request',
    cell: ({ method, path, requestId }) => (
      <ObjectLink kind="request" id={requestId}>
        <Code style={{ overflowWrap: 'anywhere' }}>
          {method} {path}
        </Code>
      </ObjectLink>
    ),
  },
  { title: 'Status', cell: ({ status }) => <HttpStatus status={status} /> },
  {
    title: 'What was wrong',
    cell: ({ error, description }) =>
      error ? (
        <>
          {error}
          <Text size="xs" c="dimmed">
            {description}
          </Text>
        </>
      ) : (
        '–'
      ),
  },
  { title: 'Id', cell: ({ requestId }) => <Id id={requestId} what="request id" /> },
  { title: 'At', cell: ({ receivedOn }) => <Instant at={receivedOn} /> },
]

const FILTERS: readonly Filter[] = [
  {
    name: 'status',
    label: 'Status',
    kind: 'select',
    options: [
      { value: '2xx', label: 'Successful' },
      { value: '4xx', label: 'Refused' },
      { value: '5xx', label: 'Failed in the service' },
    ],
  },
  { name: 'operation', label: 'Operation', kind: 'text', placeholder: 'createQrCode' },
  { name: 'error', label: 'Error', kind: 'text', placeholder: 'validation_failed' },
  { name: 'from', label: 'From', kind: 'at' },
  { name: 'to', label: 'Before', kind: 'at' },
]

export function Requests() {
  return (
    <ListPage
      title="Requests"
      lead="What your programs asked, and why something was refused. Of successful reads some are kept."
      name="requests"
      caption="Requests"
      load={getList<Row>('/requests')}
      columns={COLUMNS}
      rowKey={({ requestId }) => requestId}
      filters={FILTERS}
      refreshMs={10_000}
      empty={
        <EmptyState title="No requests yet">Your programs have not called the service lately.</EmptyState>
      }
    />
  )
}
