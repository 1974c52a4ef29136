import { randomBytes } from 'node:crypto'
import { Failure, fail } from '@svc/contract/errors'
import { type ByTenant, idsByTenant } from '@svc/kernel/by-tenant'
import { sortableId } from '@svc/kernel/ids'
import { invariant } from '@svc/kernel/invariant'
import type { Clock } from '@svc/kernel/time'
import type pg from 'pg'
import { type CommandAct, type CommandAudit, recordActs } from '../audit.ts'
import {
  ClientTx,
  type Database,
  isReadOnly,
  isUnavailable,
  sqlState,
  type Tx,
  tenantSet,
  type Writes,
} from './database.ts'
import type { HttpResponse, IdempotencyStore, KnownResponses, ResponseKey } from './idempotency-store.ts'
import type { RowLock } from './row-lock.ts'
import { type Statement, statement } from './statement.ts'

/** A command that is ready for its batch: it carries its ids and random values, so that deciding needs none. */
export interface PreparedCommand {
  readonly tenantId: string
  /** Whose rows it writes besides, such as a notice that belonged to the platform until now. */
  readonly otherTenantId?: string | undefined
  /** Put on record in the same transaction, if the command is carried out. */
  readonly audit?: CommandAudit
}

/**
 * How one kind of command is carried out: lock → decide → save, for many commands at once. `S` is what is locked for
 * one tenant: the rules of a command see no other tenant's rows, whatever else is in the batch.
 */
export interface CommandSpec<C extends PreparedCommand, S, D> {
  readonly name: string
  /** Reads and locks every row that the commands need, set-based and in order of id. */
  lock(tx: BatchTx, commands: readonly C[]): Promise<ByTenant<S>>
  /** Pure. Throws a `Failure` when the command cannot be taken. `now` is the database's time after locking. */
  decide(state: S, command: C, now: Date): D
  /** Folds a decision into the state, so that later commands of the same batch see it. */
  apply(state: S, decision: D): void
  /** Writes all decisions with a handful of set-based statements, at once: COMMIT travels with them. */
  save(tx: Writes, decisions: readonly D[]): void
  /** What is kept of final failures of `decide`, in the same transaction: of requests that count as used by them. */
  readonly refusals?: {
    isFinal(state: S, command: C, failure: Failure): boolean
    save(tx: Writes, refusals: readonly Refusal<C>[]): void
  }
}

/** A command that failed for good. */
export interface Refusal<C extends PreparedCommand> {
  readonly command: C
  readonly failure: Failure
  readonly now: Date
}

/** One command with what its caller waits for. */
export interface Entry<C extends PreparedCommand = PreparedCommand> {
  readonly command: C
  readonly tenantId: string
  /** Under which its result, then a response, is kept for repeats. */
  readonly retry: ResponseKey | undefined
  /** What its caller gets for the decision on it; computed before COMMIT. */
  readonly resultOf: (decision: never) => unknown
  /** When its caller gets a response, whatever becomes of the command; in `performance.now()` time. */
  readonly deadlineMs: number
  /** Its caller has a response. A command that has not been decided by then is not carried out. */
  readonly isSettled: boolean
  readonly settle: (outcome: Outcome) => void
}

export type Outcome = { readonly result: unknown } | { readonly failure: Error }

/** `wait` for locked rows a moment, or `skip` them and leave their tenants to a later batch. */
export type LockMode = 'wait' | 'skip'

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

/** A transaction that locks rows in its batch's mode and remembers the tenants whose rows were held. */
export class BatchTx extends ClientTx {
  readonly heldTenants = new Set<string>()
  readonly #mode: LockMode
  #asked = 0
  #closed = false

  constructor(client: pg.PoolClient, mode: LockMode) {
    super(client)
    this.#mode = mode
  }

  override query<Row>(statement: Statement<Row>, values?: readonly unknown[]): Promise<Row[]> {
    invariant(!this.#closed, 'a statement came after COMMIT')
    this.#asked++
    return super.query(statement, values)
  }

  /** What `work` returns, and the database's time once every statement of it is done. */
  async timed<T>(work: () => Promise<T>): Promise<[result: T, time: Time]> {
    const working = work()
    const asked = this.#asked + 1
    // Most ask for all that they need at once; then the time travels with it.
    const asking = this.query(NOW)
    asking.catch(() => undefined)
    const result = await working
    const [time] = await (this.#asked === asked ? asking : this.query(NOW))
    return [result, time!]
  }

  /** COMMIT follows: no other statement may. */
  close(): void {
    this.#closed = true
  }

  /** Locks and reads rows; `wanted` is how many distinct rows the parameters name at most. */
  async lock<Row>(lock: RowLock<Row>, values: readonly unknown[], wanted: number): Promise<Row[]> {
    if (this.#mode === 'wait') return this.query(lock.wait, values)
    const rows = await this.query(lock.skip, values)
    if (rows.length < wanted) {
      const got = idsByTenant(
        rows,
        (row) => row.lock_tenant,
        (row) => row.lock_id,
      )
      for (const row of await this.query(lock.present, values))
        if (!got.of(row.lock_tenant).has(row.lock_id)) this.heldTenants.add(row.lock_tenant)
    }
    return rows
  }
}

interface Time {
  readonly now: Date
  readonly epoch: string
}

const NOW = statement<Time>('batch_now', 'select clock_timestamp() as now, epoch from installation')

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
  const { client, release } = await database.lease(entries.some(({ command }) => command.audit !== undefined))
  // The wait for an abandoned transaction ends before the connection does.
  const settleMs = Math.min(SETTLE_WAIT_MS, Math.ceil(database.requestMs / 2))
  const tx = new BatchTx(client, mode)
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
    const [state, time] = await tx.timed(() =>
      spec.lock(
        tx,
        entries.map((entry) => entry.command),
      ),
    )
    const known = await finding
    await begun
    requireEpoch(time.epoch, responses.epoch)
    const now = new Date(time.now.getTime() + clock.offsetMs())
    const { outcomes, decisions, refusals, keep, audits } = decideAll(
      spec,
      state,
      entries,
      known,
      tx.heldTenants,
      now,
    )
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
    if (decisions.length > 0) spec.save(tx, decisions)
    if (refusals.length > 0) spec.refusals?.save(tx, refusals)
    if (keep.length > 0) responses.save(tx, keep, now)
    recordActs(tx, audits)
    inDoubt = result
    await commit(client, tx, sent)
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
      const result = since.repeat(key)
      if (result) outcomes.set(entry, { result })
    } catch (error) {
      outcomes.set(entry, { failure: error as Error })
    }
  }
}

/** The batch's id goes first: only one transaction with it can ever commit. */
function beginText(batchId: string, entries: readonly Entry[], lockWaitMs: number): string {
  // A retry key may be another tenant's than the rows: a bank's notice is kept by the house.
  const tenants = tenantSet(
    entries.flatMap(({ tenantId, retry, command: { otherTenantId } }) =>
      [tenantId, retry?.tenantId, otherTenantId].filter((id) => id !== undefined),
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
async function commit(client: pg.PoolClient, tx: BatchTx, sent: () => void): Promise<void> {
  const committing = client.query('commit')
  committing.catch(() => undefined)
  tx.close()
  sent()
  await tx.written()
  // PostgreSQL reports ROLLBACK, without an error, when the transaction had failed before.
  const { command } = await committing
  invariant(command === 'COMMIT', 'a batch that failed was to be committed')
}

interface Decided<C extends PreparedCommand, D> {
  readonly outcomes: Map<Entry<C>, Outcome>
  readonly decisions: D[]
  readonly refusals: Refusal<C>[]
  readonly keep: { key: ResponseKey; response: HttpResponse }[]
  readonly audits: CommandAct[]
}

function decideAll<C extends PreparedCommand, S, D>(
  spec: CommandSpec<C, S, D>,
  state: ByTenant<S>,
  entries: readonly Entry<C>[],
  known: KnownResponses,
  heldTenants: ReadonlySet<string>,
  now: Date,
): Decided<C, D> {
  const result: Decided<C, D> = {
    outcomes: new Map(),
    decisions: [],
    refusals: [],
    keep: [],
    audits: [],
  }
  for (const entry of entries) {
    const { command, retry, isSettled } = entry
    // Its caller got the response that nothing happened.
    if (isSettled) continue
    try {
      const first = retry && known.repeat(retry)
      if (first) {
        result.outcomes.set(entry, { result: first })
        continue
      }
      if (heldTenants.has(entry.tenantId)) continue
      const slice = state.of(command.tenantId)
      const decision = decideOne(spec, slice, command, now, result.refusals)
      const made = (entry.resultOf as (decision: D) => unknown)(decision)
      spec.apply(slice, decision)
      result.decisions.push(decision)
      result.outcomes.set(entry, { result: made })
      const { audit } = command
      if (audit) {
        const target = typeof audit.target === 'string' ? audit.target : audit.target(decision as never)
        result.audits.push({ ...audit, target })
      }
      if (retry) {
        const response = made as HttpResponse
        known.add({ key: retry, response })
        result.keep.push({ key: retry, response })
      }
    } catch (error) {
      result.outcomes.set(entry, { failure: error as Error })
    }
  }
  return result
}

/** Decides on a command; a failure that is final is kept. */
function decideOne<C extends PreparedCommand, S, D>(
  spec: CommandSpec<C, S, D>,
  state: S,
  command: C,
  now: Date,
  refusals: Refusal<C>[],
): D {
  try {
    return spec.decide(state, command, now)
  } catch (error) {
    if (error instanceof Failure && spec.refusals?.isFinal(state, command, error))
      refusals.push({ command, failure: error, now })
    throw error
  }
}
