import { createHash } from 'node:crypto'
import type { Queries } from '@svc/platform/db/client-tx'
import { statement } from '@svc/platform/db/statement'
import type { AccountKind, Unit } from './chart-of-accounts.ts'

/** What was on the accounts of one kind; amounts in the unit's smallest part, as text. */
export interface ClosedTotal {
  readonly kind: AccountKind
  readonly unit: Unit
  readonly debit: string
  readonly credit: string
}

/** What was not done yet when a period was closed. */
export interface OpenItem {
  readonly item: string
  readonly count: string
  /** In paise, as text. */
  readonly amount: string
}

/** What the signature of a closing says, until decision R23. */
export interface FirstStatement {
  readonly version?: undefined
  readonly through: string
  readonly until: string
  readonly totals: readonly ClosedTotal[]
  /** Entries of the ledger until then. */
  readonly entries: string
}

/** What the signature of a closing says. */
export interface ClosingStatement {
  readonly version: 2
  readonly through: string
  readonly until: string
  /** The instant until which entries were known. */
  readonly knownUntil: string
  /** Everything that was entered until `until`. */
  readonly entered: readonly ClosedTotal[]
  /** Entries of the ledger until `until`. */
  readonly entries: string
  /** What is effective until the last day of the period, as far as it was known. */
  readonly effective: readonly ClosedTotal[]
  readonly openItems: readonly OpenItem[]
  /** What did not hold, and why the period was closed nevertheless. */
  readonly despite: string | null
  /** SHA-256 of the signed text of the closing before, in hexadecimal. */
  readonly previous: string | null
}

const sidesOf = (from: string, where: string) =>
  `select account_id, sum(amount) as balance from (
     select t.credit_account_id as account_id, t.amount from ${from} where ${where}
     union all
     select t.debit_account_id, -t.amount from ${from} where ${where}) sides
   group by account_id`
const totals = (moved: string) =>
  `with moved as (${moved})
   select a.kind, a.unit, coalesce(sum(-m.balance) filter (where m.balance < 0), 0)::text as debit,
     coalesce(sum(m.balance) filter (where m.balance > 0), 0)::text as credit
   from moved m join ledger_accounts a using (account_id) group by a.kind, a.unit order by a.kind, a.unit`
const JOINED = 'journals j join ledger_transfers t using (tenant_id, journal_id)'

/** Of all tenants, or of these. */
export const among = (parameter: string) =>
  `(${parameter}::text[] is null or t.tenant_id = any (${parameter}))`

// From the entries themselves, not back from today's balances: who changes an old entry is found out.
const ENTERED = statement<ClosedTotal>(
  'book_closing_totals',
  totals(sidesOf('ledger_transfers t', `t.created_at <= $1 and ${among('$2')}`)),
)
const EFFECTIVE = statement<ClosedTotal>(
  'book_closing_effective',
  totals(sidesOf(JOINED, `j.effective_date <= $1::date and t.created_at <= $2 and ${among('$3')}`)),
)
const ENTRIES = statement<{ entries: bigint }>(
  'book_closing_entries',
  `select count(*) as entries from ledger_transfers t where t.created_at <= $1 and ${among('$2')}`,
)

export type Entered = Pick<ClosingStatement, 'entered' | 'entries'>

/** Everything that was entered until an instant, of all tenants or of these. */
export async function enteredUntil(tx: Queries, until: Date, tenants?: readonly string[]): Promise<Entered> {
  const values = [until, tenants ?? null]
  const [entered, [row]] = await Promise.all([tx.query(ENTERED, values), tx.query(ENTRIES, values)])
  return { entered, entries: String(row!.entries) }
}

/** What is effective until a day, as far as it was entered until an instant, of all tenants or of these. */
export const effectiveAsKnown = (
  tx: Queries,
  through: string,
  knownUntil: Date,
  tenants?: readonly string[],
): Promise<ClosedTotal[]> => tx.query(EFFECTIVE, [through, knownUntil, tenants ?? null])

/** The totals with others (`1`) or without them (`-1`). */
export function combined(
  totals: readonly ClosedTotal[],
  others: readonly ClosedTotal[],
  sign: 1n | -1n,
): ClosedTotal[] {
  const sums = new Map(totals.map((total) => [`${total.kind} ${total.unit}`, total]))
  for (const { kind, unit, debit, credit } of others) {
    const known = sums.get(`${kind} ${unit}`) ?? { debit: '0', credit: '0' }
    const add = (side: 'debit' | 'credit', amount: string) =>
      String(BigInt(known[side]) + sign * BigInt(amount))
    sums.set(`${kind} ${unit}`, { kind, unit, debit: add('debit', debit), credit: add('credit', credit) })
  }
  return [...sums.values()]
}

export const hashOf = (signed: string): string => createHash('sha256').update(signed).digest('hex')
