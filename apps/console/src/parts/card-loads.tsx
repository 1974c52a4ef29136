import { useQuery } from '@tanstack/react-query'
import { api, responseOf, type Schemas } from '../api.ts'
import { type Column, DataTable } from '../parts/data-table.tsx'
import { Instant } from '../parts/instant.tsx'
import { Money } from '../parts/money.tsx'
import { ObjectLink } from '../parts/object-link.tsx'
import { Section } from '../parts/page.tsx'
import { sentenceCase } from '../words.ts'

type Row = Schemas['CardTransactionRow']
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

type Of = { readonly svcCardId: string } | { readonly cardAccountId: string }

const byTime = (a: Row, b: Row): number => Date.parse(b.createdOn) - Date.parse(a.createdOn)

async function latest(of: Of): Promise<Row[]> {
  const found = await Promise.all(
    KINDS.map((kind) =>
      responseOf(api.GET('/card-transactions', { params: { query: { ...of, kind, limit: SHOWN_MAX } } })),
    ),
  )
  return found
    .flatMap(({ data }) => data)
    .sort(byTime)
    .slice(0, SHOWN_MAX)
}

/** The latest money from the card account and back to it: of a card, or of all cards of an account. */
export function CardLoads(of: Of) {
  const { data } = useQuery({
    queryKey: ['card-transactions', 'loads', of],
    queryFn: () => latest(of),
  })
  if (!data || data.length === 0) return undefined
  return (
    <Section title="Loads and unloads">
      <DataTable
        caption={`The latest ${SHOWN_MAX} loads and unloads`}
        columns={'svcCardId' in of ? COLUMNS : [CARD, ...COLUMNS]}
        rows={data}
        rowKey={({ cardTransactionId }) => cardTransactionId}
      />
    </Section>
  )
}
