import { Text } from '@mantine/core'
import type { ListLoader, Schemas } from '../api.ts'
import { sentenceCase } from '../words.ts'
import { BY_TIME, type Column, unsorted } from './data-table.tsx'
import { AMOUNT, type Filter } from './filters.tsx'
import { Instant } from './instant.tsx'
import { List } from './list-page.tsx'
import { Money } from './money.tsx'
import { StatusBadge, statusLabel } from './status-badge.tsx'

type Row = Omit<Schemas['CardTransactionRow'], 'partnerId'>

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
    cell: ({ merchantName, merchantPlace }) =>
      [merchantName, merchantPlace].filter(Boolean).join(', ') || '–',
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

interface CardTransactionsProps {
  readonly svcCardId: string
  readonly load: ListLoader<Row>
  /** The order by default, where the list knows others. */
  readonly sort?: string
}

/** What happened on a card, for a holder who asks. */
export function CardTransactions({ svcCardId, load, sort }: CardTransactionsProps) {
  return (
    <List
      name="card-transactions"
      id={svcCardId}
      caption="Transactions"
      load={load}
      columns={sort ? COLUMNS : unsorted(COLUMNS)}
      rowKey={({ cardTransactionId }) => cardTransactionId}
      filters={FILTERS}
      {...(sort && { sort })}
      empty={<Text c="dimmed">Nothing has happened yet.</Text>}
    />
  )
}
