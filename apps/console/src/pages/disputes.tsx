import { listAt, type Schemas } from '../api.ts'
import { BY_TIME, type Column } from '../parts/data-table.tsx'
import { EmptyState } from '../parts/empty-state.tsx'
import { SendingMark } from '../parts/evidence.tsx'
import { AMOUNT_OF_ALL, CREATED_AT, type Filter, MERCHANT } from '../parts/filters.tsx'
import { Instant } from '../parts/instant.tsx'
import type { ListKind } from '../parts/list-of-tenant.tsx'
import { ListPage } from '../parts/list-page.tsx'
import { Money } from '../parts/money.tsx'
import { ObjectLink } from '../parts/object-link.tsx'
import { StatusBadge, statusLabel } from '../parts/status-badge.tsx'
import { useSession } from '../session.ts'
import { CloseDispute } from './close-dispute.tsx'

type Row = Schemas['DisputeRow']

const COLUMNS: readonly Column<Row>[] = [
  {
    title: 'Case',
    cell: ({ caseReference, disputeId }) => (
      <ObjectLink kind="dispute" id={disputeId}>
        {caseReference}
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
  { title: 'Status', cell: ({ status }) => <StatusBadge state={status} /> },
  { title: 'Evidence', cell: (row) => <SendingMark dispute={row} /> },
  { title: 'Amount', align: 'right', cell: ({ amount }) => <Money amount={amount} fw={600} /> },
  { title: 'Evidence until', cell: ({ evidenceDueOn }) => <Instant at={evidenceDueOn} /> },
  { title: 'Notified', sorts: BY_TIME, cell: ({ createdOn }) => <Instant at={createdOn} /> },
]

const DECISION: Column<Row> = { title: 'Decision', cell: (dispute) => <CloseDispute dispute={dispute} /> }

const STATUSES = ['OPEN', 'EVIDENCE_SUBMITTED', 'ACCEPTED', 'WON', 'LOST']

const FILTERS: readonly Filter[] = [
  { name: 'q', label: 'Search', kind: 'text', placeholder: 'Id of dispute or payment, or case' },
  MERCHANT,
  {
    name: 'status',
    label: 'Status',
    kind: 'select',
    options: STATUSES.map((value) => ({ value, label: statusLabel(value) })),
  },
  AMOUNT_OF_ALL,
  ...CREATED_AT,
]

export const DISPUTES: ListKind<Row> = {
  name: 'disputes',
  caption: 'Disputes',
  columns: COLUMNS,
  rowKey: ({ disputeId }) => disputeId,
  filters: FILTERS,
  sort: '-created',
}

export function Disputes() {
  const { can } = useSession()
  return (
    <ListPage
      title="Disputes"
      lead="Payments that their payers dispute. Merchants submit evidence or accept; the network decides."
      {...DISPUTES}
      load={listAt('/disputes')}
      columns={can('finance') ? [...COLUMNS, DECISION] : COLUMNS}
      empty={<EmptyState title="No disputes yet">The bank notifies disputes of its payers.</EmptyState>}
    />
  )
}
