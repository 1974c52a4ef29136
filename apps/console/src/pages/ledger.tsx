import { Button } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { listAt, type Schemas } from '../api.ts'
import type { Column } from '../parts/data-table.tsx'
import { EmptyState } from '../parts/empty-state.tsx'
import type { Filter } from '../parts/filters.tsx'
import { Instant } from '../parts/instant.tsx'
import { ListPage } from '../parts/list-page.tsx'
import { ObjectLink } from '../parts/object-link.tsx'
import { Amount, shortAccount } from '../parts/transfer-list.tsx'
import { catalogueQuery } from '../session.ts'

type Account = Schemas['LedgerAccount']

const COLUMNS: readonly Column<Account>[] = [
  {
    title: 'Account',
    cell: ({ accountId }) => (
      <ObjectLink kind="ledgerAccount" id={accountId}>
        {shortAccount(accountId)}
      </ObjectLink>
    ),
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
      title="Ledger"
      lead="Every amount moves between two of these accounts. All balances of a unit add up to zero."
      actions={
        <>
          <Button component={Link} to="/ledger/trial-balance" variant="default">
            Trial balance
          </Button>
          <Button component={Link} to="/ledger/reconciliation" variant="default">
            Reconciliation
          </Button>
        </>
      }
      name="ledger-accounts"
      caption="Ledger accounts"
      load={listAt('/ledger/accounts')}
      columns={COLUMNS}
      rowKey={({ accountId }) => accountId}
      filters={filtersFor(catalogue.data?.accountKinds ?? [])}
      empty={
        <EmptyState title="No accounts yet" command="svc admin reconcile">
          Accounts are opened by the first amount that moves: fund a card account, or pay a QR code.
        </EmptyState>
      }
    />
  )
}
