import { useQuery } from '@tanstack/react-query'
import { api, responseOf, type Schemas } from '../api.ts'
import { type Column, DataTable } from '../parts/data-table.tsx'
import { FundingInstructions } from '../parts/funding-instructions.tsx'
import { Instant } from '../parts/instant.tsx'
import { Money } from '../parts/money.tsx'
import { ObjectLink } from '../parts/object-link.tsx'
import { Section } from '../parts/page.tsx'
import { StatusBadge } from '../parts/status-badge.tsx'

interface OfAccount {
  readonly cardAccountId: string
}

/** Absent where the operator has set no bank. */
export function Instructions({ cardAccountId }: OfAccount) {
  const { data } = useQuery({
    queryKey: ['card-accounts', cardAccountId, 'instructions'],
    queryFn: () =>
      responseOf(
        api.GET('/card-accounts/{cardAccountId}/funding-instructions', {
          params: { path: { cardAccountId } },
        }),
      ),
    retry: false,
  })
  return data && <FundingInstructions of={data} />
}

type Row = Schemas['BankCreditRecord']
const SHOWN_MAX = 10

const COLUMNS: readonly Column<Row>[] = [
  { title: 'Received', cell: ({ createdOn }) => <Instant at={createdOn} /> },
  { title: 'UTR', cell: ({ utr }) => utr },
  {
    title: 'From',
    cell: ({ remitterName, remitterAccount }) => `${remitterName ?? '–'} ${remitterAccount ?? ''}`,
  },
  { title: 'By', cell: ({ mode }) => mode ?? '–' },
  { title: 'Status', cell: ({ status }) => <StatusBadge state={status} /> },
  { title: 'Journal', cell: ({ journalId }) => <ObjectLink kind="journal" id={journalId} /> },
  { title: 'Amount', align: 'right', cell: ({ amount }) => <Money amount={amount} fw={600} /> },
]

/** The latest transfers that the bank notified. */
export function BankCredits({ cardAccountId }: OfAccount) {
  const { data } = useQuery({
    queryKey: ['bank-credits', cardAccountId],
    queryFn: () =>
      responseOf(api.GET('/bank-credits', { params: { query: { cardAccountId, limit: SHOWN_MAX } } })),
  })
  if (!data || data.data.length === 0) return undefined
  return (
    <Section title="Bank transfers">
      <DataTable
        caption="Bank transfers to this account"
        columns={COLUMNS}
        rows={data.data}
        rowKey={({ creditId }) => creditId}
      />
    </Section>
  )
}
