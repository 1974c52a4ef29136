import { invariant } from '../kernel/invariant.ts'
import type { Writes } from '../platform/db/database.ts'
import { columns, statement } from '../platform/db/statement.ts'
import { type Account, openAccounts, type Unit } from './accounts.ts'

interface Movement {
  readonly transferId: string
  readonly tenantId: string
  /** Why money or coins moved, such as `upi_credit`. */
  readonly kind: string
  readonly debitAccountId: string
  readonly creditAccountId: string
  /** The payment, card or lot of coins that it belongs to. */
  readonly objectId: string
  readonly createdAt: Date
}

/** One immutable movement: the debit account loses what the credit account gains. Corrected by a reverse transfer only. */
export interface Transfer extends Movement {
  readonly amountPaise: bigint
}

/** The same of coins, between accounts of coins. */
export interface CoinTransfer extends Movement {
  readonly amountCoins: bigint
}

const amountOf = (transfer: Transfer | CoinTransfer): bigint =>
  'amountCoins' in transfer ? transfer.amountCoins : transfer.amountPaise
const unitOf = (transfer: Transfer | CoinTransfer): Unit => ('amountCoins' in transfer ? 'COIN' : 'INR')

const INSERT = statement(
  'ledger_transfers_insert',
  `insert into ledger_transfers
     (transfer_id, tenant_id, kind, debit_account_id, credit_account_id, amount, unit, object_id, created_at)
   select * from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::bigint[], $7::text[], $8::text[],
       $9::timestamptz[]) as t (transfer_id, tenant_id, kind, debit, credit, amount, unit, object_id, created_at)
   order by transfer_id`,
)
const UPDATE_BALANCES = statement(
  'ledger_balances_update',
  `with updated as (
     update ledger_accounts a set balance = a.balance + change.amount
     from unnest($1::text[], $2::text[], $3::bigint[]) as change (account_id, unit, amount)
     where a.account_id = change.account_id and a.unit = change.unit and a.tenant_id = any ($4)
     returning 1)
   select require_count(count(*), cardinality($1), 'a transfer names an account that does not exist or has another unit')
   from updated`,
)

/**
 * Writes transfers and the balances that they make. The accounts must be locked (`lockAccounts`) in this transaction,
 * but for those that it opens.
 */
export function saveTransfers(
  tx: Writes,
  transfers: readonly (Transfer | CoinTransfer)[],
  opens: readonly Account[] = [],
): void {
  if (transfers.length === 0) return
  const { changes, units } = changesOf(transfers)
  for (const { accountId, unit } of opens)
    invariant((units.get(accountId) ?? unit) === unit, 'a transfer has a side of another unit')
  openAccounts(tx, opens, new Map(changes))
  for (const { accountId } of opens) changes.delete(accountId)
  const ids = [...changes.keys()].sort()
  const tenants = [...new Set(transfers.map((transfer) => transfer.tenantId))]
  tx.write(UPDATE_BALANCES, [ids, ids.map((id) => units.get(id)), ids.map((id) => changes.get(id)), tenants])
  tx.write(
    INSERT,
    columns(
      transfers,
      (t) => t.transferId,
      (t) => t.tenantId,
      (t) => t.kind,
      (t) => t.debitAccountId,
      (t) => t.creditAccountId,
      amountOf,
      unitOf,
      (t) => t.objectId,
      (t) => t.createdAt,
    ),
  )
}

/** What the transfers add to each account, and in which unit. */
function changesOf(transfers: readonly (Transfer | CoinTransfer)[]) {
  const changes = new Map<string, bigint>()
  const units = new Map<string, Unit>()
  for (const transfer of transfers) {
    const { debitAccountId, creditAccountId } = transfer
    const unit = unitOf(transfer)
    for (const id of [debitAccountId, creditAccountId]) {
      invariant((units.get(id) ?? unit) === unit, 'an account is moved in two units')
      units.set(id, unit)
    }
    changes.set(debitAccountId, (changes.get(debitAccountId) ?? 0n) - amountOf(transfer))
    changes.set(creditAccountId, (changes.get(creditAccountId) ?? 0n) + amountOf(transfer))
  }
  return { changes, units }
}
