import { useQuery } from '@tanstack/react-query'
import type { ListLoader, Schemas } from '../api.ts'
import { kindOf } from '../objects.ts'
import { sentenceCase } from '../words.ts'
import { type Column, DataTable } from './data-table.tsx'
import { Instant } from './instant.tsx'
import { Money } from './money.tsx'
import { ObjectLink } from './object-link.tsx'
import { Section } from './page.tsx'

type Row = Omit<Schemas['CardTransactionRow'], 'partnerId'>
const SHOWN_MAX = 10
const KINDS = ['load', 'unload'] as const

const CARD: Column<Row> = {
  title: 'Card',
  cell: ({ svcCardId }) => <ObjectLink kind="card" id={svcCardId} />,
}
const COLUMNS: readonly Column<Row>[] = [
  { title: 'When', cell: ({ createdOn }) => <Instant at={createdOn} /> },
  { title: 'What', cell: ({ kind }) => sentenceCase(kind) },
  { title: 'Reference', cell: ({ referenceNumber }) => referenceNumber ?? 'First load' },
  {
    title: 'Amount',
    align: 'right',
    cell: ({ amount, direction }) => <Money amount={direction === 'debit' ? -amount : amount} signed />,
  },
  {
    title: 'Balance of the card',
    align: 'right',
    cell: ({ balance }) => balance !== undefined && <Money amount={balance} />,
  },
]

const byTime = (a: Row, b: Row): number => Date.parse(b.createdOn) - Date.parse(a.createdOn)

async function latest(load: ListLoader<Row>): Promise<Row[]> {
  const found = await Promise.all(KINDS.map((kind) => load({ kind, limit: String(SHOWN_MAX) })))
  return found
    .flatMap(({ data }) => data)
    .sort(byTime)
    .slice(0, SHOWN_MAX)
}

interface CardLoadsProps {
  /** Of a card or of a card account. */
  readonly id: string
  /** The transactions of that. */
  readonly load: ListLoader<Row>
}

/** The latest money from the card account and back to it: of a card, or of all cards of an account. */
export function CardLoads({ id, load }: CardLoadsProps) {
  const { data } = useQuery({ queryKey: ['card-transactions', 'loads', id], queryFn: () => latest(load) })
  if (!data || data.length === 0) return undefined
  return (
    <Section title="Loads and unloads">
      <DataTable
        caption={`The latest ${SHOWN_MAX} loads and unloads`}
        columns={kindOf(id) === 'card' ? COLUMNS : [CARD, ...COLUMNS]}
        rows={data}
        rowKey={({ cardTransactionId }) => cardTransactionId}
      />
    </Section>
  )
}
