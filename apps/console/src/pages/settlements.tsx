import { Button } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import { listAt, type Schemas } from '../api.ts'
import type { Column } from '../parts/data-table.tsx'
import { EmptyState } from '../parts/empty-state.tsx'
import { choicesBy, type Filter } from '../parts/filters.tsx'
import { Day } from '../parts/instant.tsx'
import { ListPage } from '../parts/list-page.tsx'
import { count, Money } from '../parts/money.tsx'
import { ObjectLink } from '../parts/object-link.tsx'
import { StatusBadge, statusLabel } from '../parts/status-badge.tsx'
import { useSession } from '../session.ts'
import { railLabel } from '../words.ts'

type Row = Schemas['Settlement']

const COLUMNS: readonly Column<Row>[] = [
  {
    title: 'Transfer',
    cell: ({ batchId, batchUtr }) => (
      <ObjectLink kind="settlement" id={batchId}>
        {batchUtr}
      </ObjectLink>
    ),
  },
  { title: 'Value date', sorts: ['-created', 'created'], cell: ({ valueDate }) => <Day day={valueDate} /> },
  { title: 'From', cell: ({ rail }) => railLabel(rail) },
  { title: 'Status', cell: ({ status }) => <StatusBadge state={status} /> },
  { title: 'Lines', align: 'right', cell: ({ lines }) => count(lines) },
  { title: 'Do not fit', align: 'right', cell: ({ unmatched }) => count(unmatched) },
  { title: 'In no line', align: 'right', cell: ({ remainder }) => <Money amount={remainder} /> },
  {
    title: 'On the statement',
    cell: ({ statementDate }) => (statementDate ? <Day day={statementDate} /> : '–'),
  },
  { title: 'Net amount', align: 'right', cell: ({ netAmount }) => <Money amount={netAmount} fw={600} /> },
]

const FILTERS: readonly Filter[] = [
  { name: 'q', label: 'Search', kind: 'text', placeholder: 'The bank’s reference of the transfer' },
  {
    name: 'status',
    label: 'Status',
    kind: 'select',
    options: choicesBy<Row['status']>(statusLabel, {
      INCOMPLETE: true,
      POSTED: true,
      CONFIRMED: true,
      DIFFERS: true,
      REVERSED: true,
    }),
  },
  {
    name: 'rail',
    label: 'From',
    kind: 'select',
    options: choicesBy<Row['rail']>(railLabel, { upi: true, card: true }),
  },
  { name: 'valueDate', label: 'Value date', kind: 'day' },
]

/** What the bank and the card network have paid us, transfer by transfer. */
export function Settlements() {
  const { can } = useSession()
  const add = can('finance') && (
    <Button component={Link} to="/bank-files">
      Import a file
    </Button>
  )
  return (
    <ListPage
      title="Settlements"
      lead="What the bank and the card network have transferred: net of refunds, disputes and charges."
      actions={add}
      name="settlements"
      caption="Transfers"
      load={listAt('/settlements')}
      columns={COLUMNS}
      rowKey={({ batchId }) => batchId}
      filters={FILTERS}
      sort="-created"
      empty={
        <EmptyState title="No transfers yet" action={add}>
          A transfer comes with the settlement file of the bank, or with its signed message.
        </EmptyState>
      }
    />
  )
}
