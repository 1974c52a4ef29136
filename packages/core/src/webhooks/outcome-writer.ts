import { setTimeout as sleep } from 'node:timers/promises'
import { isUnavailable, sqlState } from '@svc/platform/db/database'
import type { Log } from '@svc/platform/log'
import type { DeliveryStore, Outcome } from './delivery-store.ts'

const OUTCOMES_A_WRITE = 500
const PAUSE_MS = 500
/** SQLSTATE of what another transaction caused: rows that it holds, a statement that ran out of time, a deadlock. */
const HELD = new Set(['55P03', '57014', '40P01'])

interface Waiting {
  readonly outcome: Outcome
  readonly done: () => void
}

/** Outcomes that come while a write is under way go together into the next one. */
export class OutcomeWriter {
  readonly #store: DeliveryStore
  readonly #log: Log
  readonly #waiting: Waiting[] = []
  /** Outcomes whose rows another transaction holds. They are written one by one, so that no other waits for them. */
  readonly #held: Waiting[] = []
  #running = false
  #retrying = false
  #closed = false

  constructor(store: DeliveryStore, log: Log) {
    this.#store = store
    this.#log = log
  }

  /** Resolves once it is committed, or will not be any more: then the delivery is repeated, which is allowed. */
  write(outcome: Outcome): Promise<void> {
    return new Promise((done) => {
      this.#waiting.push({ outcome, done })
      void this.#pump()
    })
  }

  /** No more tries with a database that is gone. */
  close(): void {
    this.#closed = true
  }

  async #pump(): Promise<void> {
    if (this.#running) return
    this.#running = true
    while (this.#waiting.length > 0) {
      const taken = this.#waiting.splice(0, OUTCOMES_A_WRITE)
      await this.#write(taken)
    }
    this.#running = false
  }

  async #retryHeld(): Promise<void> {
    if (this.#retrying) return
    this.#retrying = true
    while (this.#held.length > 0) {
      await sleep(PAUSE_MS)
      await this.#write(this.#held.splice(0, 1))
    }
    this.#retrying = false
  }

  async #write(taken: readonly Waiting[]): Promise<void> {
    for (;;) {
      try {
        await this.#store.record(taken.map(({ outcome }) => outcome))
        break
      } catch (error) {
        const unavailable = isUnavailable(error)
        const again = !this.#closed && (unavailable || HELD.has(sqlState(error) ?? ''))
        this.#log.warn({ err: error, outcomes: taken.length, again }, 'outcomes of webhooks were not written')
        // A deadlock with a delete, or one outcome that cannot be written: halves, until the culprit is alone.
        if (!unavailable && taken.length > 1 && !this.#closed) {
          const middle = Math.ceil(taken.length / 2)
          await this.#write(taken.slice(0, middle))
          return this.#write(taken.slice(middle))
        }
        if (!again) break
        if (!unavailable) {
          this.#held.push(...taken)
          return void this.#retryHeld()
        }
        await sleep(PAUSE_MS)
      }
    }
    for (const { done } of taken) done()
  }
}
