import { setTimeout as sleep } from 'node:timers/promises'
import { isUnavailable } from '@svc/platform/db/database'
import type { Log } from '@svc/platform/log'
import type { DeliveryStore, Outcome } from './delivery-store.ts'

const OUTCOMES_A_WRITE = 500
const PAUSE_MS = 500

interface Waiting {
  readonly outcome: Outcome
  readonly done: () => void
}

/** Outcomes that come while a write is under way go together into the next one. */
export class OutcomeWriter {
  readonly #store: DeliveryStore
  readonly #log: Log
  readonly #waiting: Waiting[] = []
  #running = false
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
      await this.#write(taken.map(({ outcome }) => outcome))
      for (const { done } of taken) done()
    }
    this.#running = false
  }

  async #write(outcomes: readonly Outcome[]): Promise<void> {
    for (;;) {
      try {
        return await this.#store.record(outcomes)
      } catch (error) {
        const again = isUnavailable(error) && !this.#closed
        this.#log.warn(
          { err: error, outcomes: outcomes.length, again },
          'outcomes of webhooks were not written',
        )
        // A deadlock with a delete, or one outcome that cannot be written: halves, until the culprit is alone.
        if (!again && outcomes.length > 1 && !this.#closed) {
          const middle = Math.ceil(outcomes.length / 2)
          await this.#write(outcomes.slice(0, middle))
          return this.#write(outcomes.slice(middle))
        }
        if (!again) return
        await sleep(PAUSE_MS)
      }
    }
  }
}
