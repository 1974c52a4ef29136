import { randomBytes } from 'node:crypto'
import { fail } from '@svc/contract/errors'
import { sortableId } from '@svc/kernel/ids'
import { invariant } from '@svc/kernel/invariant'
import type { Clock } from '@svc/kernel/time'
import { recordActs } from '../audit.ts'
import { BatchTx, type LockMode } from './batch-tx.ts'
import type { CommandSpec, Entry, Outcome, PreparedCommand } from './command-spec.ts'
import { type Database, isReadOnly, isUnavailable, sqlState, type Tx, tenantSet } from './database.ts'
import { type Decided, decideAll } from './decide-batch.ts'
import type { IdempotencyStore, KnownResponses } from './idempotency-store.ts'

export type { BatchTx, LockMode } from './batch-tx.ts'
export type { CommandSpec, Entry, Outcome, PreparedCommand } from './command-spec.ts'

/** What came of one transaction: outcomes to report, and the tenants whose rows other transactions hold. */
export interface BatchResult<C extends PreparedCommand> {
  readonly outcomes: ReadonlyMap<Entry<C>, Outcome>
  readonly heldTenants: ReadonlySet<string>
}

/** The connection broke around COMMIT: these outcomes are true if the batch's id is found in the database. */
export class UnknownOutcome<C extends PreparedCommand> extends Error {
  override name = 'UnknownOutcome'
  readonly result: BatchResult<C>

  constructor(result: BatchResult<C>, cause: unknown) {
    super('the connection was lost around COMMIT', { cause })
    this.result = result
  }
}

/** Longest wait for a row in `wait` mode: above what batches of several processes take, below what others notice. */
const LOCK_WAIT_MS = 150
const SETTLE_WAIT_MS = 2_000

export const newBatchId = (): string => `bat_${sortableId(Date.now(), randomBytes)}`

export interface BatchRun<C extends PreparedCommand> {
  readonly batchId: string
  readonly entries: readonly Entry<C>[]
  readonly mode: LockMode
  /**
   * Given when the same batch was sent before and its COMMIT was not confirmed. Called once the database shows that it
   * did not happen.
   */
  readonly notCommitted: (() => void) | undefined
  /** Called with what was decided: from now on until the batch has ended, its COMMIT may have happened. */
  readonly decided: (result: BatchResult<C>) => void
  /** Called once the transaction's last words are sent: what remains is the database's to do. */
  readonly sent: () => void
}

/** Members are entered by the service's own login; only operators need theirs (decision O3). */
export const isOfOperator = ({ command: { audit } }: { readonly command: PreparedCommand }): boolean =>
  audit !== undefined && audit.member === undefined

/** Commands of operators and messages of the rails are never in one batch (`Commands.open`). */
const loginOf = (isSigned: boolean | undefined, entries: readonly Entry[]) =>
  entries.some(isOfOperator) ? 'operators' : isSigned ? 'rail' : 'service'

/**
 * Carries out one batch in one transaction. Resolves after COMMIT; throws when nothing was committed, or
 * `UnknownOutcome` while that is not known.
 */
export async function runBatch<C extends PreparedCommand, S, D>(
  database: Database,
  responses: IdempotencyStore,
  clock: Clock,
  spec: CommandSpec<C, S, D>,
  { batchId, entries, mode, notCommitted, decided, sent }: BatchRun<C>,
): Promise<BatchResult<C>> {
  const { client, release } = await database.lease(loginOf(spec.isSigned, entries))
  // The wait for an abandoned transaction ends before the connection does.
  const settleMs = Math.min(SETTLE_WAIT_MS, Math.ceil(database.requestMs / 2))
  const tx = new BatchTx(client, mode, database.tracing)
  let broken: Error | undefined
  let beginFailed: Error | undefined
  let inDoubt: BatchResult<C> | undefined
  try {
    const begun = client.query(beginText(batchId, entries, notCommitted ? settleMs : LOCK_WAIT_MS))
    // Awaited at once only when its failure is news; else it travels with the first statement, which then fails.
    if (notCommitted) {
      await begun
      notCommitted()
      if (entries.length === 0) {
        await client.query('rollback')
        return { outcomes: new Map(), heldTenants: tx.heldTenants }
      }
      await client.query(`set local lock_timeout = ${LOCK_WAIT_MS}`)
    } else begun.catch((error: Error) => (beginFailed = error))
    // Repeats lock too what they name: most batches have none, and need not wait to know it.
    const finding = responses.find(
      tx,
      entries.flatMap((entry) => entry.retry ?? []),
    )
    finding.catch(() => undefined)
    const commands = entries.map(({ command }) => command)
    const [state, time] = await tx.timed(() => spec.lock(tx, commands))
    const known = await finding
    await begun
    requireEpoch(time.epoch, responses.epoch)
    const now = new Date(time.now.getTime() + clock.offsetMs())
    const all = decideAll(spec, state, entries, known, tx, { clock, now })
    const { outcomes, decisions, refusals, keep, audits } = all
    const result = { outcomes, heldTenants: tx.heldTenants }
    decided(result)
    await replayRepeats(tx, responses, known, outcomes)
    if (decisions.length + refusals.length === 0) {
      // Repeats, refusals and held rows leave nothing to write, so there is no disk to wait for.
      const leaving = client.query('rollback').catch((failed: Error) => (broken = failed))
      sent()
      await leaving
      return result
    }
    saveDecisions(tx, spec, all)
    if (keep.length > 0) responses.save(tx, keep, now)
    recordActs(tx, audits)
    inDoubt = result
    await commit(tx, sent, database)
    return result
  } catch (error) {
    // A statement that the server refused took the COMMIT behind it along: nothing happened, for sure.
    const refused = sqlState(tx.firstFailure) !== undefined
    if (inDoubt && !refused && (sqlState(error) === undefined || isUnavailable(error))) {
      broken = error as Error
      throw new UnknownOutcome(inDoubt, error)
    }
    await client.query('rollback').catch((failed: Error) => (broken = failed))
    const cause = beginFailed ?? tx.firstFailure ?? error
    if (isReadOnly(cause)) broken ??= cause as Error
    throw cause
  } finally {
    release(broken)
  }
}

/** After a restore nothing is written until the process has started again: what it remembers is of other data. */
function requireEpoch(now: string, opened: string): void {
  if (now !== opened)
    fail('temporarily_unavailable', {
      retryAfterSeconds: 1,
      cause: new Error('the data was replaced; the process starts again'),
    })
}

/**
 * While this batch waited for its locks, another process may have carried out the same requests: what they are refused
 * for now is then what they did themselves. They are repeats, and get the first responses.
 */
async function replayRepeats<C extends PreparedCommand>(
  tx: Tx,
  responses: IdempotencyStore,
  known: KnownResponses,
  outcomes: Map<Entry<C>, Outcome>,
): Promise<void> {
  const refused = [...outcomes].flatMap(([entry, outcome]) =>
    entry.retry && 'failure' in outcome && !known.has(entry.retry) ? [{ entry, key: entry.retry }] : [],
  )
  if (refused.length === 0) return
  const since = await responses.find(
    tx,
    refused.map(({ key }) => key),
  )
  for (const { entry, key } of refused) {
    try {
      const first = since.repeat(key)
      if (first) outcomes.set(entry, { result: first.response })
    } catch (error) {
      outcomes.set(entry, { failure: error as Error })
    }
  }
}

/** The batch's id goes first: only one transaction with it can ever commit. */
function beginText(batchId: string, entries: readonly Entry[], lockWaitMs: number): string {
  // A retry key may be another tenant's than the rows: a bank's notice is stored under the platform.
  const tenants = tenantSet(
    entries.flatMap(({ tenantId, retry, command: { otherTenantId } }) =>
      [tenantId, retry?.tenantId, otherTenantId].flat().filter((id) => id !== undefined),
    ),
  )
  return (
    `begin; set local lock_timeout = ${lockWaitMs}; set local svc.tenants = '${tenants}'; ` +
    `insert into batches values ('${batchId}')`
  )
}

/**
 * Sends COMMIT behind the writes, in one packet. Never cancels it: when the limit of the connection ends the wait, the
 * outcome is unknown, and the batch settles by its id.
 */
async function commit(tx: BatchTx, sent: () => void, { commits }: Database): Promise<void> {
  const committing = tx.commit()
  committing.catch(() => undefined)
  tx.close()
  sent()
  await tx.written()
  // PostgreSQL reports ROLLBACK, without an error, when the transaction had failed before.
  const { command } = await committing
  invariant(command === 'COMMIT', 'a batch that failed was to be committed')
  commits.saw()
}

/** Writes what was decided, and final failures. */
function saveDecisions<C extends PreparedCommand, S, D>(
  tx: BatchTx,
  spec: CommandSpec<C, S, D>,
  { decisions, refusals }: Decided<C, D>,
): void {
  if (decisions.length > 0) spec.save(tx, decisions)
  if (refusals.length > 0) spec.refusals?.save(tx, refusals)
}
