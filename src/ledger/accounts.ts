import type { BatchTx } from '../platform/db/batch.ts'
import type { Writes } from '../platform/db/database.ts'
import { type RowLock, rowLock } from '../platform/db/row-lock.ts'
import { columns, statement } from '../platform/db/statement.ts'

/**
 * What an account is for. Assets: `upi_clearing` (money that the UPI rail owes us), `funding_clearing` (money that
 * partners paid in for cards). Liabilities: `payable` (what we owe the merchant), `upi_refunds` (credits that go back
 * to their payers), `suspense` (credits that fit no code), `card_funding` (of a card account), `card` (what a card can
 * spend), `card_settlement` (what cards spent, owed to the card network). In coins, not money: `coins_issued` (what a
 * partner ever gave), `coins` (of a user), `coins_redeemed`, `coins_expired`.
 */
export type AccountKind =
  | 'upi_clearing'
  | 'payable'
  | 'upi_refunds'
  | 'suspense'
  | 'funding_clearing'
  | 'card_funding'
  | 'card'
  | 'card_settlement'
  | 'coins_issued'
  | 'coins'
  | 'coins_redeemed'
  | 'coins_expired'

/** What is counted: paise of rupees, or coins. No transfer has one on its one side and another on the other. */
export type Unit = 'INR' | 'COIN'

export interface Account {
  readonly accountId: string
  readonly tenantId: string
  readonly kind: AccountKind
  readonly unit: Unit
  /** Least balance in the unit's smallest part; `null` for none. */
  readonly floor: bigint | null
}

/** An account is named by what it is for and by whose it is: a tenant, a card account, a card. */
export const accountId = (kind: AccountKind, ownerId: string): string => `${kind}:${ownerId}`

/** Assets and settlement accounts may go either way; what is owed to someone never falls under nothing. */
const FLOORLESS: ReadonlySet<AccountKind> = new Set([
  'upi_clearing',
  'funding_clearing',
  'card_settlement',
  'coins_issued',
])

const COIN_KINDS: ReadonlySet<AccountKind> = new Set([
  'coins_issued',
  'coins',
  'coins_redeemed',
  'coins_expired',
])

export const account = (kind: AccountKind, tenantId: string, ownerId = tenantId): Account => ({
  accountId: accountId(kind, ownerId),
  tenantId,
  kind,
  unit: COIN_KINDS.has(kind) ? 'COIN' : 'INR',
  floor: FLOORLESS.has(kind) ? null : 0n,
})

const OPEN = statement(
  'ledger_accounts_open',
  `insert into ledger_accounts (account_id, tenant_id, kind, unit, floor, balance, created_at)
   select account_id, tenant_id, kind, unit, floor, balance, clock_timestamp()
   from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::bigint[], $6::bigint[])
     as a (account_id, tenant_id, kind, unit, floor, balance) order by 1`,
)

/** Opens accounts, empty, or with the balances that transfers written in the same transaction give them. */
export function openAccounts(
  tx: Writes,
  accounts: readonly Account[],
  balances: ReadonlyMap<string, bigint> = new Map(),
): void {
  if (accounts.length === 0) return
  tx.write(
    OPEN,
    columns(
      accounts,
      (a) => a.accountId,
      (a) => a.tenantId,
      (a) => a.kind,
      (a) => a.unit,
      (a) => a.floor,
      (a) => balances.get(a.accountId) ?? 0n,
    ),
  )
}

const LOCK: RowLock<{ account_id: string; balance: bigint }> = rowLock('ledger_accounts_lock', {
  select: 'account_id, balance',
  from: 'from ledger_accounts where account_id = any ($1) and tenant_id = any ($2) order by account_id',
  tenant: 'tenant_id',
  id: 'account_id',
  of: 'ledger_accounts',
})

/** Locks accounts in order of id and answers their balances. To be called after codes and cards are locked. */
export async function lockAccounts(tx: BatchTx, accounts: readonly Account[]): Promise<Map<string, bigint>> {
  const ids = [...new Set(accounts.map((a) => a.accountId))].sort()
  const tenants = [...new Set(accounts.map((a) => a.tenantId))]
  if (ids.length === 0) return new Map()
  const rows = await tx.lock(LOCK, [ids, tenants], ids.length)
  return new Map(rows.map((row) => [row.account_id, row.balance]))
}
