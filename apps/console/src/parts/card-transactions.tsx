import { Text } from '@mantine/core'
import { listAt, type Schemas } from '../api.ts'
import { BY_TIME, type Column } from '../parts/data-table.tsx'
import { AMOUNT, type Filter } from '../parts/filters.tsx'
import { Instant } from '../parts/instant.tsx'
import { List } from '../parts/list-page.tsx'
import { Money } from '../parts/money.tsx'
import { StatusBadge, statusLabel } from '../parts/status-badge.tsx'
import { sentenceCase } from '../words.ts'

type Row = Schemas['CardTransactionRow']

const COLUMNS: readonly Column<Row>[] = [
  { title: 'When', sorts: BY_TIME, cell: ({ createdOn }) => <Instant at={createdOn} /> },
  { title: 'What', cell: ({ kind }) => sentenceCase(kind) },
  {
    title: 'Status',
    cell: ({ status, reason }) => (
      <>
        <StatusBadge state={status} />
        {reason && (
          <Text size="xs" c="dimmed">
            {sentenceCase(reason)}
          </Text>
        )}
      </>
    ),
  },
  {
    title: 'Merchant',
    cell: ({ merchantName, merchantPlace }) => [merchantName, merchantPlace].filter(Boolean).join(', '),
  },
  {
    title: 'Amount',
    align: 'right',
    cell: ({ amount, direction }) => (
      <Money amount={direction === 'debit' ? -amount : amount} signed={direction !== undefined} />
    ),
  },
  {
    title: 'Balance',
    align: 'right',
    cell: ({ balance }) => balance !== undefined && <Money amount={balance} />,
  },
]

const KINDS = [
  'authorization',
  'capture',
  'refund',
  'load',
  'unload',
  'replacement',
  'unclaimed',
  'return_to_source',
]
const STATUSES = ['pending', 'partly_captured', 'captured', 'voided', 'expired', 'declined', 'completed']
const select = (name: string, label: string, values: readonly string[]): Filter => ({
  name,
  label,
  kind: 'select',
  options: values.map((value) => ({ value, label: statusLabel(value) })),
})

const FILTERS: readonly Filter[] = [
  select('kind', 'What', KINDS),
  select('status', 'Status', STATUSES),
  { name: 'merchantName', label: 'Merchant', kind: 'text', placeholder: 'Whole name' },
  AMOUNT,
]

/** What happened on a card, for a holder who asks. */
export function CardTransactions({ svcCardId }: { readonly svcCardId: string }) {
  return (
    <List
      name="card-transactions"
      id={svcCardId}
      caption="Transactions"
      load={listAt('/card-transactions', {}, { svcCardId })}
      columns={COLUMNS}
      rowKey={({ cardTransactionId }) => cardTransactionId}
      filters={FILTERS}
      sort="-created"
      empty={<Text c="dimmed">Nothing has happened yet.</Text>}
    />
  )
}
