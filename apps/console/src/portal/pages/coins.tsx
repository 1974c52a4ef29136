import { Group, Text } from '@mantine/core'
import type { Column } from '../../parts/data-table.tsx'
import { EmptyState } from '../../parts/empty-state.tsx'
import type { Filter } from '../../parts/filters.tsx'
import { Instant } from '../../parts/instant.tsx'
import { lazyPart } from '../../parts/lazy-part.tsx'
import { ListPage } from '../../parts/list-page.tsx'
import { count } from '../../parts/money.tsx'
import { Id } from '../../parts/object-link.tsx'
import { StatusBadge } from '../../parts/status-badge.tsx'
import { api, listOf, payloadOf } from '../api.ts'
import { useMember } from '../session.ts'

const CreateConfig = lazyPart(async () => (await import('./coin-forms.tsx')).CreateConfig, null)
const TryEvent = lazyPart(async () => (await import('./coin-forms.tsx')).TryEvent, null)

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
  const { can } = useMember()
  const create = can('operator') && <CreateConfig />
  return (
    <ListPage
      title="Coins"
      lead="How many coins each event awards, and when."
      actions={
        create && (
          <Group gap="xs">
            {create}
            <TryEvent />
          </Group>
        )
      }
      name="coins"
      caption="Coin configurations"
      load={listOf(search)}
      columns={COLUMNS}
      rowKey={({ coinConfigId }) => coinConfigId}
      filters={FILTERS}
      empty={
        <EmptyState title="No coin configurations yet" action={create}>
          A configuration says how many coins an event awards, such as a purchase.
        </EmptyState>
      }
    />
  )
}
