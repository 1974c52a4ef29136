import { Button } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import { listAt, type Schemas } from '../api.ts'
import type { Column } from '../parts/data-table.tsx'
import { EmptyState } from '../parts/empty-state.tsx'
import type { Filter } from '../parts/filters.tsx'
import { Instant } from '../parts/instant.tsx'
import { ListPage } from '../parts/list-page.tsx'
import { ThingLink } from '../parts/thing-link.tsx'
import { Amount, shortAccount } from '../parts/transfer-list.tsx'
import { wordy } from '../words.ts'

/** What each kind of account is for, as the ledger itself says. */
export const KINDS = {
  upi_clearing: 'What the UPI rail owes us',
  payable: 'What we owe a merchant',
  upi_refunds: 'Credits on their way back to their payers',
  suspense: 'Credits that fit no code',
  funding_clearing: 'What partners paid in for cards',
  card_funding: 'Money of a card account',
  card: 'What a card can spend',
  card_settlement: 'What cards spent, owed to the network',
  coins_issued: 'Coins that a partner ever gave',
  coins: 'Coins of a user',
  coins_redeemed: 'Coins that were redeemed',
  coins_expired: 'Coins that expired',
} as const

const COLUMNS: readonly Column<Schemas['LedgerAccount']>[] = [
  {
    title: 'Account',
    cell: ({ accountId }) => (
      <ThingLink kind="ledgerAccount" id={accountId}>
        {shortAccount(accountId)}
      </ThingLink>
    ),
  },
  {
    title: 'What it is for',
    cell: ({ kind }) => (Object.hasOwn(KINDS, kind) ? KINDS[kind as keyof typeof KINDS] : kind),
  },
  { title: 'Balance', align: 'right', cell: ({ balance, unit }) => <Amount amount={balance} unit={unit} /> },
  {
    title: 'Never under',
    align: 'right',
    cell: ({ floor, unit }) => (floor === undefined ? 'no limit' : <Amount amount={floor} unit={unit} />),
  },
  { title: 'Opened', cell: ({ createdOn }) => <Instant at={createdOn} /> },
]

const FILTERS: readonly Filter[] = [
  { name: 'q', label: 'Search', kind: 'text', placeholder: 'Begin of the account id' },
  {
    name: 'kind',
    label: 'Kind',
    kind: 'select',
    options: Object.keys(KINDS).map((value) => ({ value, label: wordy(value) })),
  },
  { name: 'ownerId', label: 'Owner', kind: 'text', placeholder: 'Id of merchant, partner, card …' },
]

export function Ledger() {
  return (
    <ListPage
      title="Ledger"
      lead="Every amount moves between two of these accounts. All balances of a unit add up to zero."
      actions={
        <Button component={Link} to="/ledger/reconciliation" variant="default">
          Reconciliation
        </Button>
      }
      name="ledger-accounts"
      caption="Ledger accounts"
      load={listAt('/ledger/accounts')}
      columns={COLUMNS}
      rowKey={({ accountId }) => accountId}
      filters={FILTERS}
      empty={
        <EmptyState title="No accounts yet" command="svc reconcile">
          Accounts are opened by the first amount that moves: fund a card account, or pay a QR code.
        </EmptyState>
      }
    />
  )
}
