import { setImmediate as immediate, setTimeout as sleep } from 'node:timers/promises'
import { Failure } from '../../errors.ts'
import { groupBy } from '../../kernel/group-by.ts'
import type { Clock } from '../../kernel/time.ts'
import type { Log } from '../log.ts'
import type { Metrics } from '../metrics.ts'
import {
  type BatchResult,
  type BatchRun,
  type Command,
  type CommandSpec,
  type Entry,
  type LockMode,
  newBatchId,
  type Outcome,
  runBatch,
  UnknownOutcome,
} from './batch.ts'
import { type Database, isUnavailable, LOCK_TIMEOUT, sqlState } from './database.ts'
import type { Answer, AnswerKey, StoredAnswers } from './stored-answers.ts'
import { TenantQueues } from './tenant-queues.ts'

export interface LaneServices {
  readonly database: Database
  readonly answers: StoredAnswers
  readonly clock: Clock
  readonly log: Log
  readonly metrics: Metrics
  readonly limits: { readonly commandTimeoutMs: number; readonly tenantQueueMax: number }
  /** Every lane of the process, for draining. */
  readonly open: Set<{ drain(): Promise<void>; readonly held: number }>
}

const BATCH_COMMANDS_MAX = 256
/** Serialization failures, deadlocks and unique races that one batch may meet before it is split. */
const RACES_MAX = 4
/** A tenant whose rows others hold is tried again this often, passing over rows that are still held. */
const HELD_PAUSE_MS = 25
/** Longest time that an answer waits for the next batch, whose rows may be held. */
const ANSWER_WAIT_MS = 20

const RACE = new Set(['40001', '40P01', '23505'])
const batchCommitted = (error: unknown): boolean =>
  sqlState(error) === '23505' && (error as { constraint?: string }).constraint === 'batches_pkey'

/**
 * The write path of one kind of command. Commands that arrive while a transaction is under way wait for it and go
 * together into the next one; a command on an idle lane goes at once, alone.
 */
export class Lane<C extends Command, S, D> {
  readonly #spec: CommandSpec<C, S, D>
  readonly #services: LaneServices
  readonly #queues: TenantQueues<C>
  #running = false
  readonly #untold: [Entry<C>, Outcome][] = []
  #wake: NodeJS.Timeout | undefined
  #idle: (() => void)[] = []

  constructor(spec: CommandSpec<C, S, D>, services: LaneServices) {
    this.#spec = spec
    this.#services = services
    this.#queues = new TenantQueues(services.limits.tenantQueueMax)
  }

  /** Resolves once the command is committed; rejects with a `Failure` that the caller is told. */
  submit(command: C, retry?: AnswerKey): Promise<Answer> {
    return new Promise((resolve, reject) => {
      const entry: Entry<C> = {
        command,
        tenantId: command.tenantId,
        retry,
        deadlineMs: performance.now() + this.#services.limits.commandTimeoutMs,
        settle: (outcome) => ('answer' in outcome ? resolve(outcome.answer) : reject(outcome.failure)),
      }
      if (!this.#queues.add(entry)) reject(new Failure('overloaded', { retryAfterSeconds: 1 }))
      else this.#pump()
    })
  }

  /** Commands that wait for rows which others hold. */
  get held(): number {
    return this.#queues.held
  }

  /** Resolves when every accepted command has been answered. */
  drain(): Promise<void> {
    return new Promise((resolve) => {
      this.#idle.push(resolve)
      this.#tellDrained()
    })
  }

  #tellDrained(): void {
    if (this.#running || this.#queues.size > 0) return
    // Behind the answers of the last batch.
    const idle = this.#idle.splice(0)
    setImmediate(() => {
      for (const resolve of idle) resolve()
    })
  }

  #pump(): void {
    if (this.#running) return
    const entries = this.#queues.take(BATCH_COMMANDS_MAX, performance.now())
    this.#services.metrics.queued.set({ lane: this.#spec.name }, this.#queues.size)
    if (entries.length === 0) {
      this.#waitForHeld()
      return
    }
    this.#running = true
    const mode: LockMode = entries.some((entry) => this.#queues.isHeld(entry.tenantId)) ? 'skip' : 'wait'
    void this.#carryOut(entries, mode).then(async (held) => {
      this.#requeue(held)
      // Requests that have arrived go along, instead of being read while the next batch waits for its locks.
      await immediate()
      this.#running = false
      this.#pump()
      if (!this.#running) this.#tell()
      this.#tellDrained()
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
    this.#services.metrics.batchTroubles.inc({ lane: this.#spec.name, trouble })
  }

  /** Brings a batch to its end, whatever happens on the way; answers those entries, in order, whose rows are held. */
  async #carryOut(batch: Entry<C>[], firstMode: LockMode): Promise<Entry<C>[]> {
    const batchId = newBatchId()
    let entries = batch
    let mode = firstMode
    let unknown: BatchResult<C> | undefined
    for (let races = 0, pauses = 0; entries.length > 0; ) {
      try {
        const notCommitted = unknown && (() => (unknown = undefined))
        return this.#ended(
          entries,
          await this.#attempt({ batchId, entries, mode, notCommitted, sent: this.#tell }),
        )
      } catch (error) {
        this.#services.database.noteFailure(error)
        if (unknown && batchCommitted(error)) {
          this.#trouble('settled')
          return this.#ended(entries, unknown)
        }
        const state = sqlState(error)
        // The same entries go again under the same id until the database says what became of them.
        const pause = error instanceof UnknownOutcome || isUnavailable(error) || unknown !== undefined
        if (error instanceof UnknownOutcome) unknown = error.result as BatchResult<C>
        if (pause) {
          this.#trouble('retried')
          entries = this.#refuseLate(entries, error)
          await sleep(Math.min(500, 20 * 2 ** pauses++) * (0.5 + Math.random() / 2))
        } else if (state === LOCK_TIMEOUT && mode === 'wait') mode = 'skip'
        else if (state === LOCK_TIMEOUT && new Set(entries.map((e) => e.tenantId)).size === 1) return entries
        else if (RACE.has(state ?? '') && races++ < RACES_MAX) this.#trouble('retried')
        else return this.#split(entries, mode, error)
      }
    }
    return []
  }

  async #attempt(run: BatchRun<C>): Promise<BatchResult<C>> {
    const { database, answers, clock, metrics } = this.#services
    const lane = this.#spec.name
    const end = metrics.batchSeconds.startTimer({ lane })
    metrics.batchCommands.observe({ lane }, run.entries.length)
    try {
      return await runBatch(database, answers, clock, this.#spec, run)
    } finally {
      end()
    }
  }

  /** Has what was decided told; gives back the entries of held tenants. */
  #ended(entries: readonly Entry<C>[], { outcomes, heldTenants }: BatchResult<C>): Entry<C>[] {
    for (const { tenantId } of outcomes.keys()) this.#queues.release(tenantId)
    this.#untold.push(...outcomes)
    setTimeout(this.#tell, ANSWER_WAIT_MS)
    return entries.filter((entry) => heldTenants.has(entry.tenantId))
  }

  /**
   * Answers the batches that have ended. Called when the next one is sent: while the database carries it out, this
   * process has the time to write answers and to read the requests that they bring. Before that, the database waits.
   */
  readonly #tell = (): void => {
    for (const [entry, outcome] of this.#untold.splice(0)) entry.settle(outcome)
  }

  /** Puts entries of held tenants back to the front of their queues. */
  #requeue(entries: readonly Entry<C>[]): void {
    if (entries.length === 0) return
    this.#trouble('held')
    const kept = this.#refuseLate(entries, new Error('rows of this tenant are held'))
    this.#queues.hold(kept, performance.now() + HELD_PAUSE_MS)
  }

  #refuseLate(entries: readonly Entry<C>[], cause: unknown): Entry<C>[] {
    const now = performance.now()
    const late = entries.filter((entry) => entry.deadlineMs <= now)
    for (const entry of late)
      entry.settle({ failure: new Failure('temporarily_unavailable', { retryAfterSeconds: 1, cause }) })
    return entries.filter((entry) => entry.deadlineMs > now)
  }

  /** A batch that fails for a reason of its own: by tenant first, then by halves, so that the culprit fails alone. */
  async #split(entries: Entry<C>[], mode: LockMode, cause: unknown): Promise<Entry<C>[]> {
    if (entries.length === 1) {
      entries[0]!.settle({ failure: cause as Error })
      return []
    }
    this.#trouble('split')
    const byTenant = groupBy(entries, (entry) => entry.tenantId)
    const middle = Math.ceil(entries.length / 2)
    const parts =
      byTenant.size > 1 ? [...byTenant.values()] : [entries.slice(0, middle), entries.slice(middle)]
    const held: Entry<C>[] = []
    for (const part of parts) {
      // The second half of a tenant must not overtake its first half.
      const overtakes = byTenant.size === 1 && held.length > 0
      held.push(...(overtakes ? part : await this.#carryOut(part, mode)))
    }
    return held
  }
}
