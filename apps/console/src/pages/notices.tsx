import { Text } from '@mantine/core'
import { listAt, type Schemas } from '../api.ts'
import { BY_TIME, type Column } from '../parts/data-table.tsx'
import { EmptyState } from '../parts/empty-state.tsx'
import type { Filter } from '../parts/filters.tsx'
import { Instant } from '../parts/instant.tsx'
import { ListPage } from '../parts/list-page.tsx'
import { ObjectLink } from '../parts/object-link.tsx'
import { StatusBadge, statusLabel } from '../parts/status-badge.tsx'
import { meaningOf } from './notice-reasons.ts'

type Row = Schemas['NoticeRecord']

const COLUMNS: readonly Column<Row>[] = [
  {
    title: 'Notice',
    cell: (notice) => (
      <ObjectLink kind="notice" id={notice.noticeId}>
        {meaningOf(notice).title}
      </ObjectLink>
    ),
  },
  { title: 'Status', cell: ({ status }) => <StatusBadge state={status} /> },
  {
    title: 'What to do',
    cell: (notice) => (
      <Text size="sm" maw={420}>
        {meaningOf(notice).toDo}
      </Text>
    ),
  },
  { title: 'UTR', cell: ({ utr }) => utr ?? '–' },
  {
    title: 'About',
    cell: ({ cardAccountId, paymentId }) => {
      if (paymentId) return <ObjectLink kind="payment" id={paymentId} />
      return cardAccountId ? <ObjectLink kind="cardAccount" id={cardAccountId} /> : '–'
    },
  },
  { title: 'Received', sorts: BY_TIME, cell: ({ receivedOn }) => <Instant at={receivedOn} /> },
]

const STATUSES = ['QUARANTINED', 'ASSIGNED', 'DISMISSED', 'DUPLICATE', 'IGNORED']

const FILTERS: readonly Filter[] = [
  { name: 'q', label: 'Search', kind: 'text', placeholder: 'Id of the notice, or its UTR' },
  {
    name: 'status',
    label: 'Status',
    kind: 'select',
    options: STATUSES.map((value) => ({ value, label: statusLabel(value) })),
  },
]

/** Signed notices of the bank that are no payment by themselves. */
export function Notices() {
  return (
    <ListPage
      title="Bank notices"
      lead="Signed notices of the bank that could not be read, or that contradict or repeat an earlier one."
      name="notices"
      caption="Bank notices"
      load={listAt('/rail-notices')}
      columns={COLUMNS}
      rowKey={({ noticeId }) => noticeId}
      filters={FILTERS}
      sort="-created"
      empty={
        <EmptyState title="No bank notices yet">
          A notice that the service reads is a payment, a refund or money on a card account. One that it
          cannot read waits here.
        </EmptyState>
      }
    />
  )
}
