import { listAt, type Schemas } from '../api.ts'
import { BY_TIME, type Column } from '../parts/data-table.tsx'
import { EmptyState } from '../parts/empty-state.tsx'
import { CREATED_AT, type Filter, MERCHANT } from '../parts/filters.tsx'
import { Instant } from '../parts/instant.tsx'
import { ListPage } from '../parts/list-page.tsx'
import { Money } from '../parts/money.tsx'
import { NamedObject, ObjectLink } from '../parts/object-link.tsx'
import { StatusBadge, statusLabel } from '../parts/status-badge.tsx'

type Row = Schemas['RefundRow']

const COLUMNS: readonly Column<Row>[] = [
  {
    title: 'Refund',
    cell: ({ refund }) => <NamedObject kind="refund" id={refund.refundId} name={refund.referenceNumber} />,
  },
  {
    title: 'Merchant',
    cell: ({ merchantId, merchantName }) => (
      <ObjectLink kind="merchant" id={merchantId}>
        {merchantName}
      </ObjectLink>
    ),
  },
  { title: 'Payment', cell: ({ refund }) => <ObjectLink kind="payment" id={refund.paymentId} /> },
  { title: 'Status', cell: ({ refund }) => <StatusBadge state={refund.status} /> },
  { title: 'Amount', align: 'right', cell: ({ refund }) => <Money amount={refund.amount} fw={600} /> },
  { title: 'Requested', sorts: BY_TIME, cell: ({ refund }) => <Instant at={refund.createdOn} /> },
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
  { name: 'referenceNumber', label: 'Reference', kind: 'text', placeholder: 'With a merchant' },
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
      rowKey={({ refund }) => refund.refundId}
      filters={FILTERS}
      sort="-created"
      empty={
        <EmptyState
          title="No refunds yet"
          command={`curl -s ${window.location.origin}/api/v0/payments/<paymentId>/refunds -H 'Authorization: Bearer <token>' -H 'Content-Type: application/json' -d '{"amount":100,"referenceNumber":"refund-1"}'`}
        >
          A merchant refunds an accepted payment with its token, in part or in full.
        </EmptyState>
      }
    />
  )
}
