import { fail } from '@svc/contract/errors'
import { required } from '@svc/kernel/invariant'
import { instantOfDay, parseRfc3339 } from '@svc/kernel/time'
import type { Keyring } from '@svc/platform/crypto/keyring'
import { readSigned, signed } from '@svc/platform/crypto/signed'
import type { Queries } from '@svc/platform/db/client-tx'
import type { Tx } from '@svc/platform/db/database'
import { statement } from '@svc/platform/db/statement'
import { takeTurn } from '@svc/platform/db/turn'
import {
  type ClosingStatement,
  effectiveAsKnown,
  enteredUntil,
  type FirstStatement,
  hashOf,
  type OpenItem,
} from './closing-statement.ts'
import { mayStill, secondPersonProblem } from './second-person.ts'
import { furthestAhead, leastAhead } from './transfers-since.ts'

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

/** On its way, or away and its rows are still here. */
const MOVING = statement<{ tenantId: string; cell: string }>(
  'book_closing_moving',
  `select m.tenant_id as "tenantId", m.cell from tenant_moves m
   where m.state <> 'moved' or exists (select from ledger_accounts a where a.tenant_id = m.tenant_id) limit 1`,
)

/** Held by who closes a period, and by who begins a move between cells. */
export const CLOSING_TURN = 'closing'

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
  await takeTurn(tx, CLOSING_TURN)
  const [latest] = await tx.query(LIST)
  if (latest?.through === through) return latest
  if (latest && latest.through > through) return fail('period_closed')
  const until = endOfPeriod(through, timeZone)
  const { now } = (await tx.query(NOW, [await leastAhead(tx)]))[0]!
  if (until.getTime() + SETTLES_MS > now.getTime()) await notOver(tx)
  await requireAtHome(tx)
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

/** Of a sandbox: tenants of which some are ahead, or none. */
async function notOver(tx: Tx): Promise<never> {
  const isAhead = (await furthestAhead(tx)) > 0
  return fail('period_not_over', {
    ...(isAhead && {
      description:
        'The period is not over for tenants whose test clock is behind: advance the clock of all (house)',
    }),
  })
}

/** A tenant on its way between cells is in the totals of one of them, and no period is closed meanwhile. */
async function requireAtHome(tx: Tx): Promise<void> {
  const [moving] = await tx.query(MOVING)
  if (moving)
    fail('period_not_ready', {
      description: `${moving.tenantId} moves between this cell and ${moving.cell}: close the period once it has arrived`,
    })
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
  const [requested] = await tx.query(REQUESTED, [through])
  // Who may not close periods any more requested nothing.
  const earlier = requested && (await mayStill(tx, requested.requestedBy, 'finance')) ? requested : undefined
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
export const listClosings = (tx: Queries): Promise<Closing[]> => tx.query(LIST)

export type Stated = FirstStatement | ClosingStatement
/** What a closing says; `undefined` where it was not signed here. */
export const statedBy = (keyring: Keyring, closing: Pick<Closing, 'signed'>): Stated | undefined =>
  readSigned(keyring, TYPE, closing.signed) as Stated | undefined

/** An instant of a statement that we signed. */
export const signedInstant = (text: string): Date =>
  required(parseRfc3339(text), 'what we signed has instants')

/** The closing of a day, and until when entries were known to it. */
export async function knownAtClosing(tx: Tx, keyring: Keyring, through: string): Promise<Date | undefined> {
  const closing = (await listClosings(tx)).find((each) => each.through === through)
  const stated = closing && statedBy(keyring, closing)
  return stated && knownTo(stated)
}

/** Until when entries were known to a closing. */
export const knownTo = (stated: Stated): Date =>
  signedInstant(stated.version === undefined ? stated.until : stated.knownUntil)
