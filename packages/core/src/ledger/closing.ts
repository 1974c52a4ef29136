import { fail } from '@svc/contract/errors'
import { canonicalJson } from '@svc/kernel/canonical-json'
import { instantOfDay } from '@svc/kernel/time'
import type { Keyring } from '@svc/platform/crypto/keyring'
import { readSigned, signed } from '@svc/platform/crypto/signed'
import type { Tx } from '@svc/platform/db/database'
import { statement } from '@svc/platform/db/statement'
import type { AccountKind, Unit } from './chart-of-accounts.ts'

const TYPE = 'svc-closing'
const DAY_MINUTES = 1_440
/** So long after its end a period may be closed: what was decided in it is committed by then. */
const SETTLES_MS = 3_600_000

/** What was on the accounts of one kind; amounts in the unit's smallest part, as text. */
export interface ClosedTotal {
  readonly kind: AccountKind
  readonly unit: Unit
  readonly debit: string
  readonly credit: string
}

/** What the signature of a closing says. */
export interface ClosingStatement {
  readonly through: string
  readonly until: string
  readonly totals: readonly ClosedTotal[]
  /** Entries of the ledger until then. */
  readonly entries: string
}

export interface Closing {
  /** Last business day of the period, `YYYY-MM-DD`. */
  readonly through: string
  /** Last millisecond of it. */
  readonly until: Date
  readonly closedAt: Date
  readonly closedBy: string
  /** Compact JWS of the statement. */
  readonly signed: string
}

const COLUMNS = `through::text as through, until, closed_at as "closedAt", closed_by as "closedBy", signed`
const NOW = statement<{ now: Date }>('book_closing_now', 'select clock_timestamp() as now')
const LIST = statement<Closing>('book_closings', `select ${COLUMNS} from book_closings order by through desc`)
// From the entries themselves, not back from today's balances: who changes an old entry is found out.
const TOTALS = statement<ClosedTotal>(
  'book_closing_totals',
  `with moved as (
     select account_id, sum(amount) as balance from (
       select credit_account_id as account_id, amount from ledger_transfers where created_at <= $1
       union all
       select debit_account_id, -amount from ledger_transfers where created_at <= $1) sides
     group by account_id)
   select a.kind, a.unit, coalesce(sum(-m.balance) filter (where m.balance < 0), 0)::text as debit,
     coalesce(sum(m.balance) filter (where m.balance > 0), 0)::text as credit
   from moved m join ledger_accounts a using (account_id) group by a.kind, a.unit order by a.kind, a.unit`,
)
const ENTRIES = statement<{ entries: bigint }>(
  'book_closing_entries',
  'select count(*) as entries from ledger_transfers where created_at <= $1',
)
const INSERT = statement<Closing>(
  'book_closing_insert',
  `insert into book_closings (through, until, closed_at, closed_by, signed) values ($1, $2, $3, $4, $5)
   returning ${COLUMNS}`,
)

/** What the books were at an instant. */
async function statementOf(tx: Tx, through: string, until: Date): Promise<ClosingStatement> {
  const [totals, [row]] = await Promise.all([tx.query(TOTALS, [until]), tx.query(ENTRIES, [until])])
  return { through, until: until.toISOString(), totals, entries: String(row!.entries) }
}

interface ClosePeriod {
  /** `YYYY-MM-DD`. */
  readonly through: string
  readonly by: string
  readonly timeZone: string
}

/**
 * Closes all days up to this one: from then on nothing is entered in them (decision R12). A repeat returns the closing.
 * Nothing is entered any more in what it reads, so it needs no snapshot, which the audit of others would break at COMMIT.
 */
export async function closePeriod(
  tx: Tx,
  keyring: Keyring,
  { through, by, timeZone }: ClosePeriod,
): Promise<Closing> {
  const [latest] = await tx.query(LIST)
  if (latest?.through === through) return latest
  if (latest && latest.through > through) return fail('period_closed')
  const until = new Date(instantOfDay(through, DAY_MINUTES, timeZone).getTime() - 1)
  const { now } = (await tx.query(NOW))[0]!
  if (until.getTime() + SETTLES_MS > now.getTime()) fail('period_not_over')
  const text = signed(keyring, TYPE, await statementOf(tx, through, until))
  const [closing] = await tx.query(INSERT, [through, until, now, by, text])
  return closing!
}

/** Newest first. */
export const listClosings = (tx: Tx): Promise<Closing[]> => tx.query(LIST)

export interface VerifiedClosing extends Closing {
  /** What is wrong, in words; `null` when the books of then are what was signed. */
  readonly problem: string | null
}

/** Compares what was signed with what the ledger says today about each closed period. */
export async function verifyClosings(tx: Tx, keyring: Keyring): Promise<VerifiedClosing[]> {
  const verified: VerifiedClosing[] = []
  for (const closing of await listClosings(tx)) {
    const stated = readSigned(keyring, TYPE, closing.signed) as ClosingStatement | undefined
    verified.push({ ...closing, problem: await problemOf(tx, closing, stated) })
  }
  return verified
}

async function problemOf(
  tx: Tx,
  { through, until }: Closing,
  stated: ClosingStatement | undefined,
): Promise<string | null> {
  if (!stated) return 'the signature is not one of this installation'
  const now = await statementOf(tx, through, until)
  if (now.entries !== stated.entries)
    return `${stated.entries} entries were signed, and there are ${now.entries}`
  for (const total of stated.totals) {
    const today = now.totals.find(({ kind, unit }) => kind === total.kind && unit === total.unit)
    if (canonicalJson(today) !== canonicalJson(total)) return `the total of ${total.kind} is another one`
  }
  return now.through === stated.through && now.until === stated.until ? null : 'it was signed for another day'
}
