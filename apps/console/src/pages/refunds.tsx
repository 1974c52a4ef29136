import { listAt, type Schemas } from '../api.ts'
import { BY_TIME, type Column } from '../parts/data-table.tsx'
import { EmptyState } from '../parts/empty-state.tsx'
import { AMOUNT_OF_ALL, CREATED_AT, type Filter, MERCHANT } from '../parts/filters.tsx'
import { Instant } from '../parts/instant.tsx'
import { ListPage } from '../parts/list-page.tsx'
import { Money } from '../parts/money.tsx'
import { ObjectLink } from '../parts/object-link.tsx'
import { StatusBadge, statusLabel } from '../parts/status-badge.tsx'

type Row = Schemas['RefundRow']

const COLUMNS: readonly Column<Row>[] = [
  {
    title: 'Refund',
    cell: ({ refundId, referenceNumber }) => (
      <ObjectLink kind="refund" id={refundId}>
        {referenceNumber}
      </ObjectLink>
    ),
  },
  {
    title: 'Merchant',
    cell: ({ merchantId, merchantName }) => (
      <ObjectLink kind="merchant" id={merchantId}>
        {merchantName}
      </ObjectLink>
    ),
  },
  { title: 'Payment', cell: ({ paymentId }) => <ObjectLink kind="payment" id={paymentId} /> },
  { title: 'Status', cell: ({ status }) => <StatusBadge state={status} /> },
  {
    title: 'Amount',
    align: 'right',
    sum: ({ amount }) => amount,
    cell: ({ amount }) => <Money amount={amount} fw={600} />,
  },
  { title: 'Requested', sorts: BY_TIME, cell: ({ createdOn }) => <Instant at={createdOn} /> },
]

const STATUSES = ['PENDING', 'SENT', 'REFUNDED', 'FAILED']

const FILTERS: readonly Filter[] = [
  { name: 'q', label: 'Search', kind: 'text', placeholder: 'Id of refund or payment, or UTR' },
  MERCHANT,
  {
    name: 'status',
    label: 'Status',
    kind: 'select',
    options: STATUSES.map((value) => ({ value, label: statusLabel(value) })),
  },
  { name: 'referenceNumber', label: 'Reference', kind: 'text' },
  AMOUNT_OF_ALL,
  ...CREATED_AT,
]

export function Refunds() {
  return (
    <ListPage
      title="Refunds"
      lead="Refunds of accepted payments, requested by their merchants."
      name="refunds"
      caption="Refunds"
      load={listAt('/refunds')}
      columns={COLUMNS}
      rowKey={({ refundId }) => refundId}
      filters={FILTERS}
      sort="-created"
      empty={
        <EmptyState title="No refunds yet">
          A merchant refunds an accepted payment with its token, in part or in full.
        </EmptyState>
      }
    />
  )
}
