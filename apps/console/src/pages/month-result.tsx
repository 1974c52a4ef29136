import { useQuery } from '@tanstack/react-query'
import { api, responseOf, type Schemas } from '../api.ts'
import { type Column, DataTable } from '../parts/data-table.tsx'
import { Loaded } from '../parts/loaded.tsx'
import { Money, negated, sumOf } from '../parts/money.tsx'
import { Section } from '../parts/page.tsx'
import { monthName } from '../words.ts'

/** What a month earned and cost, in words; the year end empties these accounts. */
const EARNED: Readonly<Record<string, string>> = {
  fee_income: 'Fees before GST',
  interchange_income: 'Interchange',
  other_income: 'Other income',
  rail_charges: 'Charges of the bank',
  network_charges: 'Charges of the network',
  write_offs: 'Written off',
}

interface Row {
  readonly what: string
  readonly amount: string
  readonly isSum?: boolean
}

const COLUMNS: readonly Column<Row>[] = [
  { title: 'What', cell: ({ isSum, what }) => (isSum ? <b>{what}</b> : what) },
  {
    title: 'Amount',
    align: 'right',
    cell: ({ amount, isSum = false }) => <Money amount={amount} {...(isSum && { fw: 700 })} />,
  },
]

const through = async (day: string) =>
  responseOf(api.GET('/ledger/trial-balance', { params: { query: { effectiveThrough: day } } }))

const balanceOf = ({ lines }: Schemas['TrialBalance'], kind: string): string => {
  const line = lines.find((each) => each.kind === kind && each.unit === 'INR')
  return line ? sumOf([line.credit, negated(line.debit)]) : '0.00'
}

const dayBefore = (day: string): string =>
  new Date(Date.parse(`${day}T00:00:00Z`) - 86_400_000).toISOString().slice(0, 10)

/** What the month came to: its end less its beginning, by effective day. */
export function MonthResult({ until }: { readonly until: string }) {
  const query = useQuery({
    queryKey: ['book-months', until, 'result'],
    queryFn: async () => {
      const [end, begin] = await Promise.all([through(until), through(dayBefore(`${until.slice(0, 8)}01`))])
      return Object.entries(EARNED).map(([kind, what]) => ({
        what,
        amount: sumOf([balanceOf(end, kind), negated(balanceOf(begin, kind))]),
      }))
    },
  })
  return (
    <Section title={`Result of ${monthName(until)}`}>
      <Loaded query={query}>
        {(rows) => (
          <DataTable<Row>
            caption="Result"
            columns={COLUMNS}
            rows={[
              ...rows.filter(({ amount }) => amount !== '0.00'),
              { what: 'Result', amount: sumOf(rows.map(({ amount }) => amount)), isSum: true },
            ]}
            rowKey={({ what }) => what}
          />
        )}
      </Loaded>
    </Section>
  )
}
