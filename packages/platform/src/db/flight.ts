import { setTimeout as sleep } from 'node:timers/promises'
import { groupBy } from '@svc/kernel/group-by'
import type { Clock } from '@svc/kernel/time'
import type { Metrics } from '../metrics.ts'
import { afterFailure, batchFailureOf } from './after-failure.ts'
import {
  type BatchResult,
  type BatchRun,
  type CommandSpec,
  type Entry,
  type LockMode,
  newBatchId,
  type PreparedCommand,
  runBatch,
  UnknownOutcome,
} from './batch.ts'
import { withBatchSpan } from './batch-span.ts'
import { isHeld, unsettled } from './command-spec.ts'
import type { Database } from './database.ts'
import { causeAtHome } from './home.ts'
import type { IdempotencyStore } from './idempotency-store.ts'

export interface FlightServices {
  readonly database: Database
  readonly responses: IdempotencyStore
  readonly clock: Clock
  readonly metrics: Metrics
}

export interface FlightWork<C extends PreparedCommand, S, D> {
  readonly spec: CommandSpec<C, S, D>
  readonly services: FlightServices
  /** Takes what was decided and committed. */
  readonly ended: (result: BatchResult<C>) => void
  /** Called once the last words of a transaction are sent: what remains is the database's to do. */
  readonly sent: () => void
}

/** Commands that left their queue together: one transaction, or several when that one cannot be carried out whole. */
export class Flight<C extends PreparedCommand, S, D> {
  readonly entries: readonly Entry<C>[]
  readonly #work: FlightWork<C, S, D>
  readonly #sinceMs = performance.now()
  /** Outcomes of the batch under way whose COMMIT may have happened. */
  #inDoubt: BatchResult<C>['outcomes'] | undefined
  /** What last broke the batch under way. */
  #broken: unknown

  constructor(entries: readonly Entry<C>[], work: FlightWork<C, S, D>) {
    this.entries = entries
    this.#work = work
  }

  get ageMs(): number {
    return performance.now() - this.#sinceMs
  }

  /** Whether the command may have been carried out, though no outcome is known yet. */
  isInDoubt(entry: Entry<C>): boolean {
    const outcome = this.#inDoubt?.get(entry)
    return outcome !== undefined && 'result' in outcome
  }

  get broken(): unknown {
    return this.#broken
  }

  /** Brings the commands to their end, whatever happens on the way; returns those, in order, whose rows are held. */
  carryOut(mode: LockMode): Promise<Entry<C>[]> {
    return this.#carryOut(this.entries, mode)
  }

  async #carryOut(batch: readonly Entry<C>[], firstMode: LockMode): Promise<Entry<C>[]> {
    const { database } = this.#work.services
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
        database.noteFailure(error)
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
    sent: (): void => this.#work.sent(),
  }

  async #attempt(run: BatchRun<C>): Promise<BatchResult<C>> {
    const { spec, services } = this.#work
    const { database, responses, clock, metrics } = services
    const queue = spec.name
    const end = metrics.batchSeconds.startTimer({ queue })
    metrics.batchCommands.observe({ queue }, run.entries.length)
    const work = () => runBatch(database, responses, clock, spec, run)
    try {
      return await (database.tracing ? withBatchSpan(database.tracing, { queue, ...run }, work) : work())
    } finally {
      end()
    }
  }

  /** Hands over what was decided; returns the entries of held tenants. */
  #ended(entries: readonly Entry<C>[], result: BatchResult<C>): Entry<C>[] {
    this.#inDoubt = this.#broken = undefined
    this.#work.ended(result)
    return entries.filter((entry) => isHeld(entry, result.heldTenants))
  }

  #trouble(trouble: 'split' | 'retried' | 'settled'): void {
    this.#work.services.metrics.batchTroubles.inc({ queue: this.#work.spec.name, trouble })
  }

  /** A batch that fails for a reason of its own: by tenant first, then by halves, so that the culprit fails alone. */
  async #split(entries: readonly Entry<C>[], mode: LockMode, cause: unknown): Promise<Entry<C>[]> {
    if (entries.length === 1) {
      const [{ tenantId }] = entries as [Entry<C>]
      const failure = await causeAtHome(this.#work.services.database, tenantId, cause)
      if (!entries[0]!.isSettled) entries[0]!.settle({ failure })
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
