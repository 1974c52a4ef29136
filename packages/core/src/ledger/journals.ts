import { invariant } from '@svc/kernel/invariant'
import { calendarDay } from '@svc/kernel/time'
import type { Writes } from '@svc/platform/db/database'
import { statement } from '@svc/platform/db/statement'
import { day, instant, integer, type NewRowOf, nullable, table, text, textOf } from '@svc/platform/db/table'
import { type Account, openAccounts } from './accounts.ts'
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

/** What a journal moves, all legs together. */
export const movedBy = ({ transfers }: Journal): bigint =>
  transfers.reduce((sum, transfer) => sum + amountOf(transfer), 0n)

/** Which of these accounts journals move, that do not exist yet. */
export function accountsToOpen(
  accounts: readonly Account[],
  entered: readonly Journal[],
  exists: (account: Account) => boolean,
): Account[] {
  const moved = new Set(
    entered.flatMap(({ transfers }) => transfers.flatMap((leg) => [leg.debitAccountId, leg.creditAccountId])),
  )
  const opens = accounts.filter((account) => moved.has(account.accountId) && !exists(account))
  return [...new Map(opens.map((account) => [account.accountId, account])).values()]
}

const JOURNALS = journals.insertValues([]).length
// One statement for both tables: each statement of a batch costs as much as several rows. The database makes the balances.
const SAVE = statement(
  'journals_save',
  `with entered as (${journals.insertText(0)}) ${ledgerTransfers.insertText(JOURNALS)}`,
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
  openAccounts(tx, opens)
  tx.write(SAVE, [
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
