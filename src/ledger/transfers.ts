import { invariant } from '../kernel/invariant.ts'
import { type Account, openAccounts } from './accounts.ts'
import type { Tx } from '../platform/db/database.ts'
import { columns, statement } from '../platform/db/statement.ts'

/** One immutable movement: the debit account loses what the credit account gains. Corrected by a reverse transfer only. */
export interface Transfer {
  readonly transferId: string
  readonly tenantId: string
  /** Why money moved, such as `upi_credit`. */
  readonly kind: string
  readonly debitAccountId: string
  readonly creditAccountId: string
  readonly amountPaise: bigint
  /** The payment or card that it belongs to. */
  readonly objectId: string
  readonly createdAt: Date
}

const INSERT = statement(
  'ledger_transfers_insert',
  `insert into ledger_transfers
     (transfer_id, tenant_id, kind, debit_account_id, credit_account_id, amount, unit, object_id, created_at)
   select transfer_id, tenant_id, kind, debit, credit, amount, 'INR', object_id, created_at
   from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::bigint[], $7::text[], $8::timestamptz[])
     as t (transfer_id, tenant_id, kind, debit, credit, amount, object_id, created_at)
   order by transfer_id`,
)
const UPDATE_BALANCES = statement<{ account_id: string }>(
  'ledger_balances_update',
  `update ledger_accounts a set balance = a.balance + change.amount
   from unnest($1::text[], $2::bigint[]) as change (account_id, amount)
   where a.account_id = change.account_id and a.tenant_id = any ($3)
   returning a.account_id`,
)

/**
 * Writes transfers and the balances that they make. The accounts must be locked (`lockAccounts`) in this transaction,
 * but for those that it opens.
 */
export async function saveTransfers(tx: Tx, transfers: readonly Transfer[], opens: readonly Account[] = []): Promise<void> {
  if (transfers.length === 0) return
  const changes = new Map<string, bigint>()
  for (const { debitAccountId, creditAccountId, amountPaise } of transfers) {
    changes.set(debitAccountId, (changes.get(debitAccountId) ?? 0n) - amountPaise)
    changes.set(creditAccountId, (changes.get(creditAccountId) ?? 0n) + amountPaise)
  }
  await openAccounts(tx, opens, changes)
  for (const { accountId } of opens) changes.delete(accountId)
  const ids = [...changes.keys()].sort()
  const tenants = [...new Set(transfers.map((transfer) => transfer.tenantId))]
  const updated = await tx.query(UPDATE_BALANCES, [ids, ids.map((id) => changes.get(id)), tenants])
  invariant(updated.length === ids.length, 'a transfer names an account that does not exist')
  await tx.query(
    INSERT,
    columns(
      transfers,
      (t) => t.transferId,
      (t) => t.tenantId,
      (t) => t.kind,
      (t) => t.debitAccountId,
      (t) => t.creditAccountId,
      (t) => t.amountPaise,
      (t) => t.objectId,
      (t) => t.createdAt,
    ),
  )
}
