import { Text } from '@mantine/core'
import { listAt, type Schemas } from '../api.ts'
import type { Column } from '../parts/data-table.tsx'
import { EmptyState } from '../parts/empty-state.tsx'
import { ageOf, Instant } from '../parts/instant.tsx'
import { ListPage } from '../parts/list-page.tsx'
import { Money } from '../parts/money.tsx'
import { IdLink, ObjectLink } from '../parts/object-link.tsx'
import { StatusBadge } from '../parts/status-badge.tsx'
import { sentenceCase } from '../words.ts'

type Line = Schemas['TransferLine']

/** What the line is of: linked by its reference, where it is known. */
function Document({ line: { documentId, reference } }: { readonly line: Line }) {
  if (documentId === '') return <>{reference || '–'}</>
  if (documentId.startsWith('pay_'))
    return (
      <ObjectLink kind="payment" id={documentId}>
        {reference}
      </ObjectLink>
    )
  if (documentId.startsWith('rfd_'))
    return (
      <ObjectLink kind="refund" id={documentId}>
        {reference}
      </ObjectLink>
    )
  return reference ? <>{reference}</> : <IdLink id={documentId} />
}

function Whose({ line: { tenantId, tenantName } }: { readonly line: Line }) {
  if (!tenantName)
    return (
      <Text span inherit c="dimmed">
        –
      </Text>
    )
  return (
    <ObjectLink kind={tenantId.startsWith('mer_') ? 'merchant' : 'partner'} id={tenantId}>
      {tenantName}
    </ObjectLink>
  )
}

export const LINE_COLUMNS: readonly Column<Line>[] = [
  { title: 'Bank’s reference', cell: (line) => <Document line={line} /> },
  { title: 'Kind', cell: ({ kind }) => sentenceCase(kind) },
  { title: 'Of', cell: (line) => <Whose line={line} /> },
  { title: 'Status', cell: ({ status }) => <StatusBadge state={LINE_STATES[status] ?? status} /> },
  { title: 'Amount', align: 'right', cell: ({ amount }) => <Money amount={amount} signed fw={600} /> },
]

/** `POSTED` is a charge, which needs no match; a transfer with the same word waits for its statement. */
const LINE_STATES: Readonly<Partial<Record<Line['status'], string>>> = {
  POSTED: 'BOOKED',
  UNKNOWN: 'UNMATCHED',
}

const OPEN_COLUMNS: readonly Column<Line>[] = [
  {
    title: 'Transfer',
    cell: ({ batchId, batchUtr }) => (
      <ObjectLink kind="settlement" id={batchId}>
        {batchUtr}
      </ObjectLink>
    ),
  },
  ...LINE_COLUMNS,
  { title: 'Age', cell: ({ recordedOn }) => ageOf(recordedOn) },
  { title: 'Came', cell: ({ recordedOn }) => <Instant at={recordedOn} /> },
]

/** Lines of all transfers that fit nothing, or something of another amount. */
export function OpenSettlementLines() {
  return (
    <ListPage
      title="Lines that do not fit"
      lead="Their money is in our books and waits: it moves to its merchant when the notice, refund or correction comes."
      name="open-settlement-lines"
      caption="Lines that do not fit"
      load={listAt('/open-settlement-lines')}
      columns={OPEN_COLUMNS}
      rowKey={({ batchId, kind, reference, recordedOn }) => `${batchId} ${kind} ${reference} ${recordedOn}`}
      filters={[{ name: 'reference', label: 'Search', kind: 'text', placeholder: 'The bank’s reference' }]}
      empty={<EmptyState title="Every line fits">Each line of each transfer has what it is of.</EmptyState>}
    />
  )
}
