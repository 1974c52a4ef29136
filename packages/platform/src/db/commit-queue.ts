import { setImmediate as immediate } from 'node:timers/promises'
import { Failure } from '@svc/contract/errors'
import { invariant } from '@svc/kernel/invariant'
import { Deadlines } from '../deadlines.ts'
import type { Log } from '../log.ts'
import type { BatchResult, CommandSpec, Entry, LockMode, Outcome, PreparedCommand } from './batch.ts'
import { commandSpan } from './batch-span.ts'
import { unsettled } from './command-spec.ts'
import type { OpenCommitQueue } from './commit-queue-state.ts'
import { Flight, type FlightServices, type FlightWork } from './flight.ts'
import type { HttpResponse, ResponseKey } from './idempotency-store.ts'
import { TenantQueues } from './tenant-queues.ts'

export interface CommitQueueServices extends FlightServices {
  readonly log: Log
  readonly limits: { readonly commandTimeoutMs: number; readonly tenantQueueMax: number }
  /** Every commit queue of the process, for draining, probes and metrics. */
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
 * together into the next one; a command on an idle queue goes at once, alone.
 */
export class CommitQueue<C extends PreparedCommand, S, D> {
  readonly #spec: CommandSpec<C, S, D>
  readonly #services: CommitQueueServices
  readonly #queues: TenantQueues<C>
  readonly #flightWork: FlightWork<C, S, D>
  /** Commands whose callers have no response yet. */
  readonly #open = new Deadlines<Entry<C>>((late) => this.#refuseLate(late))
  #flight: Flight<C, S, D> | undefined
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
    const [ended, sent] = [(result: BatchResult<C>) => this.#ended(result), () => this.#report()]
    this.#flightWork = { spec, services, ended, sent }
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
    return this.#flight?.entries.length ?? 0
  }

  get batchAgeMs(): number {
    return this.#flight?.ageMs ?? 0
  }

  /** Resolves when every accepted command has its response. */
  drain(): Promise<void> {
    return new Promise((resolve) => {
      this.#idle.push(resolve)
      this.#resolveDrained()
    })
  }

  #resolveDrained(): void {
    if (this.#flight || this.#queues.size > 0) return
    // Behind the responses of the last batch.
    for (const resolve of this.#idle.splice(0)) setImmediate(resolve)
  }

  #pump(): void {
    if (this.#flight) return
    const entries = this.#queues.take(this.#spec.batchMax ?? BATCH_COMMANDS_MAX, performance.now())
    if (entries.length === 0) {
      this.#waitForHeld()
      return
    }
    const flight = new Flight(entries, this.#flightWork)
    this.#flight = flight
    const mode: LockMode = entries.some((entry) => this.#queues.isHeld(entry.tenantId)) ? 'skip' : 'wait'
    void flight.carryOut(mode).then(async (held) => {
      this.#requeue(held)
      // Requests that have arrived go along, instead of being read while the next batch waits for its locks.
      await immediate()
      this.#flight = undefined
      this.#pump()
      if (!this.#flight) this.#report()
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

  /** Sends the responses to what was decided. */
  #ended({ outcomes }: BatchResult<C>): void {
    for (const { tenantId } of outcomes.keys()) this.#queues.release(tenantId)
    this.#unsettled.push(...outcomes)
    if (this.#unsettled.length <= AT_ONCE_MAX) this.#report()
    else setTimeout(this.#report, RESPONSE_WAIT_MS)
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
    this.#services.metrics.batchTroubles.inc({ queue: this.#spec.name, trouble: 'held' })
    this.#queues.hold(unsettled(entries), performance.now() + HELD_PAUSE_MS)
  }

  /** At their deadline callers get a response, while their command may still be under way (decision R8). */
  #refuseLate(late: readonly Entry<C>[]): void {
    this.#report()
    const batchIsLate = this.#flight?.broken ?? new Error('the batch under way has had no response')
    for (const entry of unsettled(late)) {
      const isHeld = this.#queues.isHeld(entry.tenantId)
      const cause = isHeld ? new Error('rows of this tenant are held') : batchIsLate
      const code = this.#flight?.isInDoubt(entry) ? 'outcome_unknown' : 'temporarily_unavailable'
      entry.settle({ failure: new Failure(code, { retryAfterSeconds: 1, cause }) })
    }
    this.#queues.dropSettled()
    this.#resolveDrained()
  }
}
