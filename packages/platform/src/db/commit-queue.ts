import { setImmediate as immediate, setTimeout as sleep } from 'node:timers/promises'
import { Failure } from '@svc/contract/errors'
import { groupBy } from '@svc/kernel/group-by'
import { invariant } from '@svc/kernel/invariant'
import type { Clock } from '@svc/kernel/time'
import { Deadlines } from '../deadlines.ts'
import type { Log } from '../log.ts'
import type { Metrics } from '../metrics.ts'
import { afterFailure, batchFailureOf } from './after-failure.ts'
import {
  type BatchResult,
  type BatchRun,
  type CommandSpec,
  type Entry,
  type LockMode,
  newBatchId,
  type Outcome,
  type PreparedCommand,
  runBatch,
  UnknownOutcome,
} from './batch.ts'
import { commandSpan, withBatchSpan } from './batch-span.ts'
import { unsettled } from './command-spec.ts'
import type { OpenCommitQueue } from './commit-queue-state.ts'
import type { Database } from './database.ts'
import type { HttpResponse, IdempotencyStore, ResponseKey } from './idempotency-store.ts'
import { TenantQueues } from './tenant-queues.ts'

export interface CommitQueueServices {
  readonly database: Database
  readonly responses: IdempotencyStore
  readonly clock: Clock
  readonly log: Log
  readonly metrics: Metrics
  readonly limits: { readonly commandTimeoutMs: number; readonly tenantQueueMax: number }
  /** Every lane of the process, for draining, probes and metrics. */
  readonly open: Set<OpenCommitQueue>
}

const BATCH_COMMANDS_MAX = 256
/** A tenant whose rows others hold is tried again this often, passing over rows that are still held. */
const HELD_PAUSE_MS = 25
/** Longest time that a response waits for the next batch, whose rows may be held. */
const RESPONSE_WAIT_MS = 20
/** So few responses are written before the next batch begins: they would wait longer for it than it waits for them. */
const AT_ONCE_MAX = 16

/**
 * The write path of one kind of command. Commands that arrive while a transaction is under way wait for it and go
 * together into the next one; a command on an idle lane goes at once, alone.
 */
export class CommitQueue<C extends PreparedCommand, S, D> {
  readonly #spec: CommandSpec<C, S, D>
  readonly #services: CommitQueueServices
  readonly #queues: TenantQueues<C>
  /** Commands whose callers have no response yet. */
  readonly #open = new Deadlines<Entry<C>>((late) => this.#refuseLate(late))
  #running = false
  #inFlight = 0
  #batchSinceMs = 0
  /** Outcomes of the batch under way whose COMMIT may have happened. */
  #inDoubt: BatchResult<C>['outcomes'] | undefined
  /** What last broke the batch under way. */
  #broken: unknown
  readonly #unsettled: [Entry<C>, Outcome][] = []
  #wake: NodeJS.Timeout | undefined
  #idle: (() => void)[] = []

  constructor(spec: CommandSpec<C, S, D>, services: CommitQueueServices) {
    this.#spec = spec
    this.#services = services
    this.#queues = new TenantQueues(services.limits.tenantQueueMax)
    // Metrics are labelled by name: a second queue of the same one would overwrite its gauge.
    invariant(![...services.open].some(({ name }) => name === spec.name), `a second queue ${spec.name}`)
    services.open.add(this)
  }

  /**
   * Resolves with the decision once it is committed; rejects with a `Failure` for the caller, at the deadline at the
   * latest (decision R8).
   */
  submit(command: C, deadlineMs?: number): Promise<D> {
    return this.#enter(command, undefined, (decision: D) => decision, deadlineMs)
  }

  /** The same, with the response that `reply` makes of the decision; it is kept for repeats under `retry`. */
  respond(
    command: C,
    reply: (decision: D) => HttpResponse,
    retry: ResponseKey | undefined,
    deadlineMs?: number,
  ): Promise<HttpResponse> {
    return this.#enter(command, retry, reply, deadlineMs)
  }

  #enter<R>(
    command: C,
    retry: ResponseKey | undefined,
    resultOf: (decision: D) => R,
    deadlineMs = performance.now() + this.#services.limits.commandTimeoutMs,
  ): Promise<R> {
    return new Promise((resolve, reject) => {
      const { tenantId } = command
      const span = commandSpan(this.#services.database.tracing, this.name, tenantId)
      const entry = {
        span,
        command,
        tenantId,
        retry,
        resultOf,
        deadlineMs,
        isSettled: false,
        settle: (outcome: Outcome) => {
          entry.isSettled = true
          this.#open.delete(entry)
          span?.end('failure' in outcome ? outcome.failure : undefined)
          if ('result' in outcome) resolve(outcome.result as R)
          else reject(outcome.failure)
        },
      }
      if (!this.#queues.add(entry))
        return entry.settle({ failure: new Failure('overloaded', { retryAfterSeconds: 1 }) })
      this.#open.add(entry)
      this.#pump()
    })
  }

  get name(): string {
    return this.#spec.name
  }

  get queued(): number {
    return this.#queues.size
  }

  get held(): number {
    return this.#queues.held
  }

  get inFlight(): number {
    return this.#inFlight
  }

  get batchAgeMs(): number {
    return this.#running ? performance.now() - this.#batchSinceMs : 0
  }

  /** Resolves when every accepted command has its response. */
  drain(): Promise<void> {
    return new Promise((resolve) => {
      this.#idle.push(resolve)
      this.#resolveDrained()
    })
  }

  #resolveDrained(): void {
    if (this.#running || this.#queues.size > 0) return
    // Behind the responses of the last batch.
    for (const resolve of this.#idle.splice(0)) setImmediate(resolve)
  }

  #pump(): void {
    if (this.#running) return
    const entries = this.#queues.take(BATCH_COMMANDS_MAX, performance.now())
    if (entries.length === 0) {
      this.#waitForHeld()
      return
    }
    this.#running = true
    this.#inFlight = entries.length
    const mode: LockMode = entries.some((entry) => this.#queues.isHeld(entry.tenantId)) ? 'skip' : 'wait'
    void this.#carryOut(entries, mode).then(async (held) => {
      this.#requeue(held)
      // Requests that have arrived go along, instead of being read while the next batch waits for its locks.
      await immediate()
      this.#running = false
      this.#inFlight = 0
      this.#pump()
      if (!this.#running) this.#report()
      this.#resolveDrained()
    })
  }

  #waitForHeld(): void {
    if (this.#queues.size === 0 || this.#wake) return
    this.#wake = setTimeout(() => {
      this.#wake = undefined
      this.#pump()
    }, HELD_PAUSE_MS)
  }

  #trouble(trouble: 'held' | 'split' | 'retried' | 'settled'): void {
    this.#services.metrics.batchTroubles.inc({ queue: this.#spec.name, trouble })
  }

  /** Brings a batch to its end, whatever happens on the way; returns those entries, in order, whose rows are held. */
  async #carryOut(batch: readonly Entry<C>[], firstMode: LockMode): Promise<Entry<C>[]> {
    this.#batchSinceMs = performance.now()
    let batchId = newBatchId()
    let mode = firstMode
    let unknown: BatchResult<C> | undefined
    let entries = unsettled(batch)
    for (let races = 0, pauses = 0; unknown || entries.length > 0; entries = unsettled(batch)) {
      try {
        const notCommitted = unknown && (() => (this.#inDoubt = unknown = undefined))
        return this.#ended(
          entries,
          await this.#attempt({ batchId, entries, mode, notCommitted, ...this.#watching }),
        )
      } catch (error) {
        this.#broken = error
        this.#services.database.noteFailure(error)
        if (error instanceof UnknownOutcome) unknown = error.result as BatchResult<C>
        this.#inDoubt = unknown?.outcomes
        const tenants = new Set(entries.map((entry) => entry.tenantId)).size
        const state = { inDoubt: unknown !== undefined, mode, tenants, races }
        const next = afterFailure(batchFailureOf(error), state)
        if (next === 'settled') {
          this.#trouble('settled')
          return this.#ended(batch, unknown!)
        }
        if (next === 'give back') return entries
        if (next === 'split') return this.#split(entries, mode, error)
        if (next === 'skip') mode = 'skip'
        else this.#trouble('retried')
        if (next === 'again') races++
        else if (next !== 'skip') await sleep(Math.min(500, 20 * 2 ** pauses++) * (0.5 + Math.random() / 2))
        // What is not in doubt did not happen; under a new id it waits for no transaction of its own that was abandoned.
        if (next !== 'settle') batchId = newBatchId()
      }
    }
    return []
  }

  readonly #watching = {
    decided: ({ outcomes }: BatchResult<C>): void => void (this.#inDoubt = outcomes),
    sent: (): void => this.#report(),
  }

  async #attempt(run: BatchRun<C>): Promise<BatchResult<C>> {
    const { database, responses: replies, clock, metrics } = this.#services
    const queue = this.#spec.name
    const end = metrics.batchSeconds.startTimer({ queue })
    metrics.batchCommands.observe({ queue }, run.entries.length)
    const work = () => runBatch(database, replies, clock, this.#spec, run)
    try {
      return await (database.tracing ? withBatchSpan(database.tracing, { queue, ...run }, work) : work())
    } finally {
      end()
    }
  }

  /** Sends the responses to what was decided; returns the entries of held tenants. */
  #ended(entries: readonly Entry<C>[], { outcomes, heldTenants }: BatchResult<C>): Entry<C>[] {
    this.#inDoubt = this.#broken = undefined
    for (const { tenantId } of outcomes.keys()) this.#queues.release(tenantId)
    this.#unsettled.push(...outcomes)
    if (this.#unsettled.length <= AT_ONCE_MAX) this.#report()
    else setTimeout(this.#report, RESPONSE_WAIT_MS)
    return entries.filter((entry) => heldTenants.has(entry.tenantId))
  }

  /**
   * Sends the responses of batches that have ended. Many wait until the next batch is sent: while the database carries it
   * out, this process has the time to write responses and to read the requests that they bring.
   */
  readonly #report = (): void => {
    for (const [entry, outcome] of this.#unsettled.splice(0)) if (!entry.isSettled) entry.settle(outcome)
  }

  /** Puts entries of held tenants back to the front of their queues. */
  #requeue(entries: readonly Entry<C>[]): void {
    if (entries.length === 0) return
    this.#trouble('held')
    this.#queues.hold(unsettled(entries), performance.now() + HELD_PAUSE_MS)
  }

  /** At their deadline callers get a response, while what they asked for may still be under way (decision R8). */
  #refuseLate(late: readonly Entry<C>[]): void {
    this.#report()
    const batchIsLate = this.#broken ?? new Error('the batch under way has had no response')
    for (const entry of unsettled(late)) {
      const outcome = this.#inDoubt?.get(entry)
      const isHeld = this.#queues.isHeld(entry.tenantId)
      const cause = isHeld ? new Error('rows of this tenant are held') : batchIsLate
      const word = outcome && 'result' in outcome ? 'outcome_unknown' : 'temporarily_unavailable'
      entry.settle({ failure: new Failure(word, { retryAfterSeconds: 1, cause }) })
    }
    this.#queues.dropSettled()
    this.#resolveDrained()
  }

  /** A batch that fails for a reason of its own: by tenant first, then by halves, so that the culprit fails alone. */
  async #split(entries: readonly Entry<C>[], mode: LockMode, cause: unknown): Promise<Entry<C>[]> {
    if (entries.length === 1) {
      if (!entries[0]!.isSettled) entries[0]!.settle({ failure: cause as Error })
      return []
    }
    this.#trouble('split')
    const byTenant = groupBy(entries, (entry) => entry.tenantId)
    const middle = Math.ceil(entries.length / 2)
    const halves = [entries.slice(0, middle), entries.slice(middle)]
    const parts = byTenant.size > 1 ? [...byTenant.values()] : halves
    const held: Entry<C>[] = []
    for (const part of parts) {
      // The second half of a tenant must not overtake its first half.
      const overtakes = byTenant.size === 1 && held.length > 0
      held.push(...(overtakes ? part : await this.#carryOut(part, mode)))
    }
    return held
  }
}
