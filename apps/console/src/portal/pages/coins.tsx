import { Text } from '@mantine/core'
import type { Column } from '../../parts/data-table.tsx'
import { EmptyState } from '../../parts/empty-state.tsx'
import type { Filter } from '../../parts/filters.tsx'
import { Instant } from '../../parts/instant.tsx'
import { ListPage } from '../../parts/list-page.tsx'
import { count } from '../../parts/money.tsx'
import { Id } from '../../parts/object-link.tsx'
import { StatusBadge } from '../../parts/status-badge.tsx'
import { api, listOf, payloadOf } from '../api.ts'

const search = (body: Record<string, unknown>) =>
  payloadOf(api.POST('/svc-coins/search', { body: { limit: 25, ...body } as never }))
type Row = Awaited<ReturnType<typeof search>>['data'][number]

const COLUMNS: readonly Column<Row>[] = [
  {
    title: 'Event',
    cell: ({ event, title }) => (
      <>
        {event}
        <Text size="xs" c="dimmed">
          {title}
        </Text>
      </>
    ),
  },
  { title: 'Coins', align: 'right', cell: ({ amount }) => count(amount) },
  { title: 'Status', cell: ({ status }) => <StatusBadge state={status} /> },
  { title: 'Valid from', cell: ({ validFrom }) => <Instant at={validFrom} /> },
  { title: 'Valid until', cell: ({ validTo }) => <Instant at={validTo} /> },
  { title: 'Id', cell: ({ coinConfigId }) => <Id id={coinConfigId} what="id" /> },
]

const FILTERS: readonly Filter[] = [
  {
    name: 'status',
    label: 'Status',
    kind: 'select',
    options: [
      { value: 'ACTIVE', label: 'Active' },
      { value: 'INACTIVE', label: 'Inactive' },
    ],
  },
  { name: 'event', label: 'Event', kind: 'text' },
]

export function Coins() {
  return (
    <ListPage
      title="Coins"
      lead="How many coins each event awards, and when."
      name="coins"
      caption="Coin configurations"
      load={listOf(search)}
      columns={COLUMNS}
      rowKey={({ coinConfigId }) => coinConfigId}
      filters={FILTERS}
      empty={
        <EmptyState title="No coin configurations yet">
          Create them with <code>POST /api/v0/svc-coins</code>.
        </EmptyState>
      }
    />
  )
}
