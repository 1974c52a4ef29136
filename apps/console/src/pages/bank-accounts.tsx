import { useQuery } from '@tanstack/react-query'
import { api, responseOf, type Schemas } from '../api.ts'
import { type Column, DataTable } from '../parts/data-table.tsx'
import { Day } from '../parts/instant.tsx'
import { Money } from '../parts/money.tsx'
import { Section } from '../parts/page.tsx'
import { purposeLabel } from '../words.ts'

type Account = Schemas['BankAccount']

export const bankAccountsQuery = {
  queryKey: ['bank-accounts'],
  queryFn: () => responseOf(api.GET('/bank-accounts')),
}

const ACCOUNTS: readonly Column<Account>[] = [
  { title: 'Account', cell: ({ name, accountEnds }) => `${name}, ending in ${accountEnds}` },
  { title: 'For', cell: ({ purpose }) => purposeLabel(purpose) },
  { title: 'Statements until', cell: ({ through }) => (through ? <Day day={through} /> : 'None yet') },
  { title: 'Balance', align: 'right', cell: ({ balance }) => <Money amount={balance} fw={600} /> },
]

/** Our accounts at banks, as the banks say; absent without any. */
export function BankAccounts() {
  const { data } = useQuery(bankAccountsQuery)
  if (!data || data.data.length === 0) return undefined
  return (
    <Section title="Accounts">
      <DataTable
        caption="Bank accounts"
        columns={ACCOUNTS}
        rows={data.data}
        rowKey={({ bankAccountId }) => bankAccountId}
      />
    </Section>
  )
}
