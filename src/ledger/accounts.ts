import type { BatchTx } from '../platform/db/batch.ts'
import type { Tx } from '../platform/db/database.ts'
import { type RowLock, rowLock } from '../platform/db/row-lock.ts'
import { columns, statement } from '../platform/db/statement.ts'

/**
 * What an account is for. Assets: `upi_clearing` (money that the UPI rail owes us). Liabilities: `payable` (what we owe
 * the merchant), `upi_refunds` (credits that go back to their payers), `suspense` (credits that fit no code).
 */
export type AccountKind = 'upi_clearing' | 'payable' | 'upi_refunds' | 'suspense'

interface AccountPlan {
  readonly kind: AccountKind
  /** Least balance in the unit's smallest part; `null` for none. */
  readonly floor: bigint | null
}

/** Each tenant has its own clearing account, so that no row is shared by all payments. */
export const MERCHANT_ACCOUNTS: readonly AccountPlan[] = [
  { kind: 'upi_clearing', floor: null },
  { kind: 'payable', floor: 0n },
  { kind: 'upi_refunds', floor: 0n },
]

export const accountId = (kind: AccountKind, tenantId: string): string => `${kind}:${tenantId}`

const OPEN = statement(
  'ledger_accounts_open',
  `insert into ledger_accounts (account_id, tenant_id, kind, unit, floor, created_at)
   select account_id, $1, kind, 'INR', floor, clock_timestamp()
   from unnest($2::text[], $3::text[], $4::bigint[]) as plan (account_id, kind, floor)`,
)

export async function openAccounts(tx: Tx, tenantId: string, plans: readonly AccountPlan[]): Promise<void> {
  await tx.query(OPEN, [tenantId, ...columns(plans, ({ kind }) => accountId(kind, tenantId), ({ kind }) => kind, ({ floor }) => floor)])
}

const LOCK: RowLock<{ account_id: string; balance: bigint }> = rowLock('ledger_accounts_lock', {
  select: 'account_id, balance',
  from: 'from ledger_accounts where account_id = any ($1) and tenant_id = any ($2) order by account_id',
  tenant: 'tenant_id',
  id: 'account_id',
  of: 'ledger_accounts',
})

/** Locks accounts in order of id and answers their balances. To be called after codes and cards are locked. */
export async function lockAccounts(
  tx: BatchTx,
  accounts: readonly { kind: AccountKind; tenantId: string }[],
): Promise<Map<string, bigint>> {
  const ids = [...new Set(accounts.map(({ kind, tenantId }) => accountId(kind, tenantId)))].sort()
  const tenants = [...new Set(accounts.map(({ tenantId }) => tenantId))]
  if (ids.length === 0) return new Map()
  const rows = await tx.lock(LOCK, [ids, tenants], ids.length)
  return new Map(rows.map((row) => [row.account_id, row.balance]))
}
