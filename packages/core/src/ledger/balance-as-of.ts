import type { Clock } from '@svc/kernel/time'
import type { Tx } from '@svc/platform/db/database'
import { statement } from '@svc/platform/db/statement'
import { aheadOf, transfersSince } from './transfers-since.ts'

const sumSince = (side: 'credit' | 'debit') =>
  `coalesce((select sum(t.amount) from ledger_transfers t
     where t.${side}_account_id = $2 and t.tenant_id = $1 and t.transfer_id > $4 and t.created_at > $3), 0)`
const BALANCE = statement<{ balance: bigint }>(
  'ledger_balance_as_of',
  `select (a.balance - ${sumSince('credit')} + ${sumSince('debit')})::bigint as balance
   from ledger_accounts a where a.account_id = $2 and a.tenant_id = $1`,
)

interface BalanceQuery {
  readonly tenantId: string
  readonly accountId: string
  /** By the tenant's clock. */
  readonly at: Date
}

/**
 * An account's balance at the end of an instant, credits less debits, in its unit: what it is now less what moved since,
 * so that an instant of the recent past reads little of a long ledger. 0 where there is no such account.
 */
export async function balanceAsOf(
  tx: Tx,
  { tenantId, accountId, at }: BalanceQuery,
  clock: Clock,
): Promise<bigint> {
  const since = transfersSince(at, aheadOf(clock, tenantId))
  const [row] = await tx.query(BALANCE, [tenantId, accountId, at, since])
  return row?.balance ?? 0n
}
