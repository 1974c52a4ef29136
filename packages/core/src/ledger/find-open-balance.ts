import { fail } from '@svc/contract/errors'
import type { Tx } from '@svc/platform/db/database'
import { statement } from '@svc/platform/db/statement'
import type { AccountKind } from './chart-of-accounts.ts'
import { isSettledKind, type OpenBalance, openOf, type SettledKind } from './settlement.ts'

const FIND = statement<{ tenantId: string; kind: AccountKind; balance: bigint }>(
  'open_balance_find',
  'select tenant_id as "tenantId", kind, balance from ledger_accounts where account_id = $1',
)

interface Found extends OpenBalance {
  readonly tenantId: string
  readonly kind: SettledKind
}

/**
 * For operators: what is open of an account that ends outside, before it is locked; the command decides it again. Throws
 * for an account of another kind. `undefined`: there is no such account.
 */
export async function findOpenBalance(tx: Tx, accountId: string): Promise<Found | undefined> {
  const [found] = await tx.query(FIND, [accountId])
  if (!found) return undefined
  const { balance, kind, tenantId } = found
  return isSettledKind(kind) ? { tenantId, kind, ...openOf(kind, balance) } : fail('account_not_settled')
}
