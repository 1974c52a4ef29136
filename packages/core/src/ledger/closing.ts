import { fail } from '@svc/contract/errors'
import { canonicalJson } from '@svc/kernel/canonical-json'
import { required } from '@svc/kernel/invariant'
import { instantOfDay, parseRfc3339 } from '@svc/kernel/time'
import type { Keyring } from '@svc/platform/crypto/keyring'
import { readSigned, signed } from '@svc/platform/crypto/signed'
import type { Tx } from '@svc/platform/db/database'
import { statement } from '@svc/platform/db/statement'
import { trialBalance } from './books.ts'
import {
  type ClosedTotal,
  type ClosingStatement,
  effectiveAsKnown,
  enteredUntil,
  type FirstStatement,
  hashOf,
  type OpenItem,
} from './closing-statement.ts'
import { priorPeriodMoved } from './prior-period.ts'
import { secondPersonProblem } from './second-person.ts'
import { furthestAhead } from './transfers-since.ts'

const TYPE = 'svc-closing'
const DAY_MINUTES = 1_440
/** So long after its end a period may be closed: what was decided in it is committed by then. */
const SETTLES_MS = 3_600_000
/** No journal takes that long from its decision to its commit: what is older is known. */
const COMMITTED_MS = 600_000

export interface Closing {
  /** Last business day of the period, `YYYY-MM-DD`. */
  readonly through: string
  /** Last millisecond of it. */
  readonly until: Date
  readonly closedAt: Date
  readonly closedBy: string
  /** Why it was closed although something was open. */
  readonly despite: string | null
  /** Who wanted that first, where two people have to. */
  readonly requestedBy: string | null
  /** Compact JWS of the statement. */
  readonly signed: string
}

const COLUMNS = `through::text as through, until, closed_at as "closedAt", closed_by as "closedBy", despite,
  requested_by as "requestedBy", signed`
const NOW = statement<{ now: Date }>(
  'book_closing_now',
  `select clock_timestamp() + $1 * interval '1 millisecond' as now`,
)
const LIST = statement<Closing>('book_closings', `select ${COLUMNS} from book_closings order by through desc`)
const INSERT = statement<Closing>(
  'book_closing_insert',
  `insert into book_closings (through, until, closed_at, closed_by, despite, requested_by, signed)
   values ($1, $2, $3, $4, $5, $6, $7) returning ${COLUMNS}`,
)
const IS_LIMITED = statement(
  'book_closing_needs_two',
  'select from approval_limit where above_paise is not null',
)
const REQUESTED = statement<{ requestedBy: string; despite: string }>(
  'closing_request_find',
  `select requested_by as "requestedBy", despite from closing_requests where through = $1`,
)
const REQUEST = statement(
  'closing_request_store',
  `insert into closing_requests (through, open_items, despite, requested_by) values ($1, $2, $3, $4)
   on conflict (through) do update set open_items = excluded.open_items, despite = excluded.despite,
     requested_by = excluded.requested_by, requested_at = clock_timestamp()`,
)

export interface ClosePeriod {
  /** `YYYY-MM-DD`. */
  readonly through: string
  readonly by: string
  readonly timeZone: string
  /** Names of checks that do not hold, and why the period is closed nevertheless. */
  readonly open?: readonly string[]
  readonly despite?: string | undefined
  /** What of the period is not done yet. */
  readonly openItems?: (tx: Tx, through: string, until: Date) => Promise<readonly OpenItem[]>
}

/** A closing that a second person has to repeat. */
export interface ClosingRequested {
  readonly through: string
  readonly requestedBy: string
  readonly isRequested: true
}

/** The last millisecond of a period. */
export const endOfPeriod = (through: string, timeZone: string): Date =>
  new Date(instantOfDay(through, DAY_MINUTES, timeZone).getTime() - 1)

/**
 * Closes all days up to this one: from then on nothing is entered in them (decision R12). A repeat returns the closing.
 * What is open needs a reason and, where postings need two people, a second one who gives the same (decision R23).
 * Nothing is entered any more in what it reads, so it needs no snapshot, which the audit of others would break at COMMIT.
 */
export async function closePeriod(
  tx: Tx,
  keyring: Keyring,
  { through, by, timeZone, open = [], despite, openItems = async () => [] }: ClosePeriod,
): Promise<Closing | ClosingRequested> {
  const [latest] = await tx.query(LIST)
  if (latest?.through === through) return latest
  if (latest && latest.through > through) return fail('period_closed')
  const until = endOfPeriod(through, timeZone)
  const { now } = (await tx.query(NOW, [await furthestAhead(tx)]))[0]!
  if (until.getTime() + SETTLES_MS > now.getTime()) fail('period_not_over')
  if (open.length > 0 && despite === undefined)
    fail('period_not_ready', { description: `Not in order: ${open.join(', ')}` })
  const reason = open.length > 0 ? despite! : null
  const second = reason === null ? 'none' : await secondPersonFor(tx, { through, by, reason, open })
  if (second === 'requested') return { through, requestedBy: by, isRequested: true }
  const knownUntil = new Date(now.getTime() - COMMITTED_MS)
  const stated: ClosingStatement = {
    version: 2,
    through,
    until: until.toISOString(),
    knownUntil: knownUntil.toISOString(),
    ...(await enteredUntil(tx, until)),
    effective: await effectiveAsKnown(tx, through, knownUntil),
    openItems: await openItems(tx, through, until),
    despite: reason,
    previous: latest ? hashOf(latest.signed) : null,
  }
  const requestedBy = second === 'none' ? null : second.requestedBy
  const values = [through, until, now, by, reason, requestedBy, signed(keyring, TYPE, stated)]
  const [closing] = await tx.query(INSERT, values)
  return closing!
}

interface Despite {
  readonly through: string
  readonly by: string
  readonly reason: string
  readonly open: readonly string[]
}

/** Who wanted to close it for the same reason; `requested`: this person is the first. */
async function secondPersonFor(
  tx: Tx,
  { through, by, reason, open }: Despite,
): Promise<'none' | 'requested' | { readonly requestedBy: string }> {
  if ((await tx.query(IS_LIMITED)).length === 0) return 'none'
  const [earlier] = await tx.query(REQUESTED, [through])
  const isOther = earlier !== undefined && earlier.requestedBy !== by
  if (!isOther || earlier.despite !== reason) {
    if (isOther)
      fail('period_not_ready', {
        description: `${earlier.requestedBy} gave another reason: "${earlier.despite}"`,
      })
    await tx.query(REQUEST, [through, open, reason, by])
    return 'requested'
  }
  const problem = await secondPersonProblem(tx, [earlier.requestedBy], by)
  if (problem) fail('approval_same_person', { description: problem.description })
  return earlier
}

/** Newest first. */
export const listClosings = (tx: Tx): Promise<Closing[]> => tx.query(LIST)

type Stated = FirstStatement | ClosingStatement
/** What a closing says; `undefined` where it was not signed here. */
export const statedBy = (keyring: Keyring, closing: Pick<Closing, 'signed'>): Stated | undefined =>
  readSigned(keyring, TYPE, closing.signed) as Stated | undefined

/** An instant of a statement that we signed. */
const signedInstant = (text: string): Date => required(parseRfc3339(text), 'what we signed has instants')

/** The closing of a day, and until when entries were known to it. */
export async function knownAtClosing(tx: Tx, keyring: Keyring, through: string): Promise<Date | undefined> {
  const closing = (await listClosings(tx)).find((each) => each.through === through)
  const stated = closing && statedBy(keyring, closing)
  if (!closing || !stated) return undefined
  return stated.version === undefined ? closing.until : signedInstant(stated.knownUntil)
}

export interface VerifiedClosing extends Closing {
  /** What is wrong, in words; `null` when the books of then are what was signed. */
  readonly problem: string | null
}

/** Compares what was signed with what the ledger says today about each closed period. */
export async function verifyClosings(tx: Tx, keyring: Keyring): Promise<VerifiedClosing[]> {
  const closings = await listClosings(tx)
  const verified: VerifiedClosing[] = []
  for (const [i, closing] of closings.entries()) {
    const stated = statedBy(keyring, closing)
    const problem =
      (await enteredProblem(tx, closing, stated)) ??
      (stated?.version === 2 ? await effectiveProblem(tx, stated, closings[i + 1]) : null)
    verified.push({ ...closing, problem })
  }
  return verified
}

async function enteredProblem(
  tx: Tx,
  { through, until }: Closing,
  stated: Stated | undefined,
): Promise<string | null> {
  if (!stated) return 'the signature is not one of this installation'
  const now = await enteredUntil(tx, until)
  if (now.entries !== stated.entries)
    return `${stated.entries} entries were signed, and there are ${now.entries}`
  const totals = stated.version === undefined ? stated.totals : stated.entered
  const other = otherTotal(totals, now.entered)
  if (other) return `the total of ${other} is another one`
  return through === stated.through && until.toISOString() === stated.until
    ? null
    : 'it was signed for another day'
}

/** The first kind of account whose total is not the one that was signed. */
const otherTotal = (stated: readonly ClosedTotal[], now: readonly ClosedTotal[]): string | undefined =>
  stated.find((total) => {
    const today = now.find(({ kind, unit }) => kind === total.kind && unit === total.unit)
    return canonicalJson(today) !== canonicalJson(total)
  })?.kind

/**
 * By effective date: what was known then is what was signed, and together with what was entered later it is what the books
 * say of the period today, reckoned back from today's balances.
 */
async function effectiveProblem(
  tx: Tx,
  { through, knownUntil, effective, previous }: ClosingStatement,
  before: Closing | undefined,
): Promise<string | null> {
  if (previous !== (before ? hashOf(before.signed) : null)) return 'the closing before it is another one'
  const known = signedInstant(knownUntil)
  const other = otherTotal(effective, await effectiveAsKnown(tx, through, known))
  if (other) return `by effective date the total of ${other} is another one`
  const moved = new Map<string, bigint>()
  const add = (kind: string, unit: string, amount: bigint) =>
    moved.set(`${kind} ${unit}`, (moved.get(`${kind} ${unit}`) ?? 0n) + amount)
  for (const { kind, unit, debit, credit } of effective) add(kind, unit, BigInt(credit) - BigInt(debit))
  for (const { kind, unit, amount } of await priorPeriodMoved(tx, through, known)) add(kind, unit, amount)
  for (const { kind, unit, debit, credit } of await trialBalance(tx, { effectiveThrough: through }))
    add(kind, unit, debit - credit)
  const unequal = [...moved].find(([, amount]) => amount !== 0n)
  return unequal
    ? `by effective date ${unequal[0].split(' ')[0]} is not what was signed with the later entries`
    : null
}
