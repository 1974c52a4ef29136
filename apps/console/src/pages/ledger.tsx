import { Button } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import { listAt, type Schemas } from '../api.ts'
import type { Column } from '../parts/data-table.tsx'
import { EmptyState } from '../parts/empty-state.tsx'
import type { Filter } from '../parts/filters.tsx'
import { Instant } from '../parts/instant.tsx'
import { ListPage } from '../parts/list-page.tsx'
import { ObjectLink } from '../parts/object-link.tsx'
import { Amount, shortAccount } from '../parts/transfer-list.tsx'

type Account = Schemas['LedgerAccount']

const KINDS: Readonly<Record<Account['kind'], string>> = {
  upi_clearing: 'UPI clearing',
  funding_clearing: 'Funding clearing',
  bank: 'Escrow of merchants',
  ppi_bank: 'Escrow of cards',
  own_funds: 'Own funds',
  settlement_unmatched: 'Settlement lines without a match',
  network_unmatched: 'Network lines without a match',
  bank_exceptions: 'Bank exceptions',
  accrued_fees: 'Accrued fees',
  payable: 'Payable to merchant',
  upi_refunds: 'Refunds to payers',
  suspense: 'Suspense',
  merchant_advances: 'Advances to merchants',
  disputes: 'Disputed payments',
  inter_tenant: 'Between tenants',
  payouts_in_transit: 'Payouts in transit',
  payout_exceptions: 'Payout exceptions',
  refund_exceptions: 'Refund exceptions',
  fee_income: 'Fee income',
  tax_payable: 'Tax payable',
  output_cgst: 'Output CGST',
  output_sgst: 'Output SGST',
  output_igst: 'Output IGST',
  gst_input: 'GST input credit',
  rail_charges: 'Charges of the rail',
  network_charges: 'Charges of the network',
  interchange_income: 'Interchange',
  other_income: 'Other income',
  write_offs: 'Written off',
  card_funding: 'Card account',
  card: 'Card',
  unclaimed: 'Unclaimed',
  card_settlement: 'Card settlement',
  card_exceptions: 'Card exceptions',
  coins_issued: 'Coins issued',
  coins: 'Coins of a user',
  coins_pending: 'Pending coins of a user',
  coins_redeemed: 'Coins redeemed',
  coins_expired: 'Coins expired',
}

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

const FILTERS: readonly Filter[] = [
  { name: 'q', label: 'Search', kind: 'text', placeholder: 'Begin of the account id' },
  {
    name: 'kind',
    label: 'Kind',
    kind: 'select',
    options: Object.entries(KINDS).map(([value, label]) => ({ value, label })),
  },
  { name: 'ownerId', label: 'Owner', kind: 'text', placeholder: 'Id of merchant, partner, card …' },
]

export function Ledger() {
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
      filters={FILTERS}
      empty={
        <EmptyState title="No accounts yet" command="svc admin reconcile">
          Accounts are opened by the first amount that moves: fund a card account, or pay a QR code.
        </EmptyState>
      }
    />
  )
}
