import type { Column } from '../../parts/data-table.tsx'
import { EmptyState } from '../../parts/empty-state.tsx'
import { SendingMark } from '../../parts/evidence.tsx'
import { Instant } from '../../parts/instant.tsx'
import { ListPage } from '../../parts/list-page.tsx'
import { Money } from '../../parts/money.tsx'
import { ObjectLink } from '../../parts/object-link.tsx'
import { StatusBadge } from '../../parts/status-badge.tsx'
import { getList, type Schemas } from '../api.ts'

type Row = Schemas['Dispute']

const COLUMNS: readonly Column<Row>[] = [
  {
    title: 'Case',
    cell: ({ disputeId, caseReference }) => (
      <ObjectLink kind="dispute" id={disputeId}>
        {caseReference}
      </ObjectLink>
    ),
  },
  { title: 'Status', cell: ({ status }) => <StatusBadge state={status} /> },
  { title: 'Evidence', cell: (row) => <SendingMark dispute={row} /> },
  { title: 'Reason', cell: ({ reason }) => reason ?? '–' },
  { title: 'Amount', align: 'right', cell: ({ amount }) => <Money amount={amount} fw={600} /> },
  { title: 'Evidence due', cell: ({ evidenceDueOn }) => <Instant at={evidenceDueOn} /> },
]

export function Disputes() {
  return (
    <ListPage
      title="Disputes"
      lead="Payments that their payers want back. Open one to contest it: without evidence in time they go back."
      name="disputes"
      caption="Disputes"
      load={getList<Row>('/disputes')}
      columns={COLUMNS}
      rowKey={({ disputeId }) => disputeId}
      filters={[]}
      empty={<EmptyState title="No disputes">No payer disputes a payment.</EmptyState>}
    />
  )
}
