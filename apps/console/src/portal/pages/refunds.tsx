import { BY_TIME, type Column } from '../../parts/data-table.tsx'
import { EmptyState } from '../../parts/empty-state.tsx'
import { AMOUNT, CREATED_AT, type Filter } from '../../parts/filters.tsx'
import { Instant } from '../../parts/instant.tsx'
import { ListPage } from '../../parts/list-page.tsx'
import { Money } from '../../parts/money.tsx'
import { ObjectLink } from '../../parts/object-link.tsx'
import { RefundStatus } from '../../parts/refund-status.tsx'
import { statusLabel } from '../../parts/status-badge.tsx'
import { getList, type Schemas } from '../api.ts'

type Row = Schemas['Refund']

const COLUMNS: readonly Column<Row>[] = [
  {
    title: 'Your reference',
    cell: ({ paymentId, referenceNumber }) => (
      <ObjectLink kind="payment" id={paymentId}>
        {referenceNumber}
      </ObjectLink>
    ),
  },
  {
    title: 'Status',
    cell: (refund) => <RefundStatus refund={refund} />,
  },
  { title: 'Reason', cell: ({ reason }) => reason ?? '–' },
  { title: 'UTR', cell: ({ utr }) => utr ?? '–' },
  {
    title: 'Amount',
    align: 'right',
    sum: ({ amount }) => amount,
    cell: ({ amount }) => <Money amount={amount} fw={600} />,
  },
  { title: 'Requested', sorts: BY_TIME, cell: ({ createdOn }) => <Instant at={createdOn} /> },
]

const FILTERS: readonly Filter[] = [
  { name: 'referenceNumber', label: 'Your reference', kind: 'text' },
  { name: 'utr', label: 'UTR', kind: 'text' },
  AMOUNT,
  {
    name: 'status',
    label: 'Status',
    kind: 'select',
    options: ['PENDING', 'SENT', 'REFUNDED', 'FAILED'].map((value) => ({ value, label: statusLabel(value) })),
  },
  ...CREATED_AT,
]

export function Refunds() {
  return (
    <ListPage
      title="Refunds"
      lead="What went back to your customers, or is on its way. Refund a payment on its page."
      name="refunds"
      caption="Refunds"
      load={getList<Row>('/refunds')}
      columns={COLUMNS}
      rowKey={({ refundId }) => refundId}
      filters={FILTERS}
      empty={<EmptyState title="No refunds yet">Open a payment to refund it, in part or in full.</EmptyState>}
    />
  )
}
