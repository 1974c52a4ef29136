import { useQuery } from '@tanstack/react-query'
import { listAt, type Schemas } from '../api.ts'
import type { Column } from '../parts/data-table.tsx'
import { EmptyState } from '../parts/empty-state.tsx'
import type { Filter } from '../parts/filters.tsx'
import { Instant } from '../parts/instant.tsx'
import { Amount } from '../parts/ledger-words.tsx'
import { ListPage } from '../parts/list-page.tsx'
import { IdLink, ObjectLink } from '../parts/object-link.tsx'
import { catalogueQuery } from '../session.ts'

type Account = Schemas['LedgerAccount']

const COLUMNS: readonly Column<Account>[] = [
  {
    title: 'Account',
    cell: ({ accountId, tenantId, title }) => (
      <ObjectLink kind="ledgerAccount" id={accountId}>
        {accountId.endsWith(`:${tenantId}`) ? title : undefined}
      </ObjectLink>
    ),
  },
  {
    title: 'Of',
    cell: ({ tenantId, tenantName }) => (tenantName ? <IdLink id={tenantId} name={tenantName} /> : 'svc'),
  },
  { title: 'What it is for', cell: ({ meaning }) => meaning },
  { title: 'Side', cell: ({ normalSide }) => normalSide },
  { title: 'Balance', align: 'right', cell: ({ balance, unit }) => <Amount amount={balance} unit={unit} /> },
  {
    title: 'Never under',
    align: 'right',
    cell: ({ floor, unit }) => (floor === undefined ? 'no limit' : <Amount amount={floor} unit={unit} />),
  },
  { title: 'Opened', cell: ({ createdOn }) => <Instant at={createdOn} /> },
]

const filtersFor = (kinds: readonly Schemas['AccountKind'][]): readonly Filter[] => [
  { name: 'q', label: 'Search', kind: 'text', placeholder: 'Begin of the account id' },
  {
    name: 'kind',
    label: 'Kind',
    kind: 'select',
    options: kinds.map(({ kind, title }) => ({ value: kind, label: title })),
  },
  { name: 'ownerId', label: 'Owner', kind: 'text', placeholder: 'Id of merchant, partner, card …' },
]

export function Ledger() {
  const catalogue = useQuery(catalogueQuery)
  return (
    <ListPage
      title="Ledger accounts"
      lead="Every amount moves between two of these accounts. All balances of a unit add up to zero."
      name="ledger-accounts"
      caption="Ledger accounts"
      load={listAt('/ledger/accounts')}
      columns={COLUMNS}
      rowKey={({ accountId }) => accountId}
      filters={filtersFor(catalogue.data?.accountKinds ?? [])}
      empty={
        <EmptyState title="No accounts yet">
          Accounts are opened by the first amount that moves: fund a card account, or pay a QR code.
        </EmptyState>
      }
    />
  )
}
