import { ByTenant } from '@svc/kernel/by-tenant'
import { invariant } from '@svc/kernel/invariant'
import { calendarDay } from '@svc/kernel/time'
import type { Writes } from '@svc/platform/db/database'
import { columns, statement } from '@svc/platform/db/statement'
import { day, instant, integer, type NewRowOf, nullable, table, text, textOf } from '@svc/platform/db/table'
import { type Account, openAccounts } from './accounts.ts'
import type { Unit } from './chart-of-accounts.ts'
import type { JournalKind } from './posting-rules.ts'
import { type AnyTransfer, amountOf, ledgerTransfers, unitOf } from './transfers.ts'

export const journals = table('journals', 'j', ['tenantId', 'journalId'], {
  tenantId: text,
  journalId: text,
  /** What happened, such as `upi_credit`. */
  kind: textOf<JournalKind>(),
  /** The business day that it belongs to in the books. */
  effectiveDate: day,
  /** What the outside calls it: names one journal of its kind and tenant. */
  reference: nullable(text),
  /** The journal that it takes back, which is reversed once at most. */
  reverses: nullable(text),
  reason: nullable(text),
  legs: integer,
  at: instant,
})

/** One business fact with all its transfers, immutable (decision X22). */
export interface Journal extends Omit<NewRowOf<typeof journals>, 'effectiveDate' | 'legs'> {
  /** By default the business day of `at`. */
  readonly effectiveDate?: string
  readonly transfers: readonly AnyTransfer[]
}

/** The journal of a fact that moves money once, of its kind; its id is the transfer's under another prefix. */
export const journalOf = (transfer: AnyTransfer, reference: string | null = null): Journal => ({
  tenantId: transfer.tenantId,
  journalId: `jrn_${transfer.transferId.slice(transfer.transferId.indexOf('_') + 1)}`,
  kind: transfer.kind as JournalKind,
  reference,
  reverses: null,
  reason: null,
  at: transfer.createdAt,
  transfers: [transfer],
})

const CHANGES = 4
const JOURNALS = journals.insertValues([]).length
// One statement for the three tables: each statement of a batch costs as much as several rows.
const SAVE = statement(
  'journals_save',
  `with updated as (
     update ledger_accounts a set balance = a.balance + change.amount
     from unnest($1::text[], $2::text[], $3::text[], $4::bigint[]) as change (tenant_id, account_id, unit, amount)
     where a.account_id = change.account_id and a.tenant_id = change.tenant_id and a.unit = change.unit
     returning 1),
   entered as (${journals.insertText(CHANGES)}),
   moved as (${ledgerTransfers.insertText(CHANGES + JOURNALS)})
   select require_count(count(*), cardinality($1),
     'a transfer names an account that does not exist or has another unit or tenant')
   from updated`,
)

/**
 * Writes journals and the balances that they make. The accounts must be locked (`lockAccounts`) in this transaction, but
 * for those that it opens.
 */
export function saveJournals(
  tx: Writes,
  timeZone: string,
  entered: readonly Journal[],
  opens: readonly Account[] = [],
): void {
  if (entered.length === 0) return
  const { changes, changeOf } = changesOf(entered.flatMap(({ transfers }) => transfers))
  for (const account of opens)
    invariant(
      (changeOf(account)?.unit ?? account.unit) === account.unit,
      'a transfer has a side of another unit',
    )
  openAccounts(tx, opens, (account) => changeOf(account)?.amount ?? 0n)
  const opened = new Set(opens.map(changeOf))
  const moved = changes.filter((change) => !opened.has(change))
  tx.write(SAVE, [
    ...columns(
      moved.sort((a, b) => (a.accountId < b.accountId ? -1 : 1)),
      (change) => change.tenantId,
      (change) => change.accountId,
      (change) => change.unit,
      (change) => change.amount,
    ),
    ...journals.insertValues(entered.map((journal) => journalRow(journal, timeZone))),
    ...ledgerTransfers.insertValues(entered.flatMap(legsOf)),
  ])
}

const journalRow = (journal: Journal, timeZone: string): NewRowOf<typeof journals> => ({
  ...journal,
  effectiveDate: journal.effectiveDate ?? calendarDay(journal.at, timeZone),
  legs: journal.transfers.length,
})

const legsOf = ({ journalId, tenantId, transfers }: Journal): NewRowOf<typeof ledgerTransfers>[] =>
  transfers.map((transfer, i) => {
    invariant(transfer.tenantId === tenantId, 'a journal has a transfer of another tenant')
    return { ...transfer, journalId, leg: i + 1, amount: amountOf(transfer), unit: unitOf(transfer) }
  })

interface Change {
  readonly tenantId: string
  readonly accountId: string
  readonly unit: Unit
  amount: bigint
}

/** What the transfers add to each account, and in which unit. */
function changesOf(transfers: readonly AnyTransfer[]) {
  const known = new ByTenant(() => new Map<string, Change>())
  const changes: Change[] = []
  const add = ({ tenantId }: AnyTransfer, accountId: string, unit: Unit, amount: bigint) => {
    const ofTenant = known.of(tenantId)
    const change = ofTenant.get(accountId)
    if (change) {
      invariant(change.unit === unit, 'an account is moved in two units')
      change.amount += amount
    } else {
      const first = { tenantId, accountId, unit, amount }
      ofTenant.set(accountId, first)
      changes.push(first)
    }
  }
  for (const transfer of transfers) {
    const [unit, amount] = [unitOf(transfer), amountOf(transfer)]
    add(transfer, transfer.debitAccountId, unit, -amount)
    add(transfer, transfer.creditAccountId, unit, amount)
  }
  const changeOf = ({ tenantId, accountId }: Account) => known.of(tenantId).get(accountId)
  return { changes, changeOf }
}
