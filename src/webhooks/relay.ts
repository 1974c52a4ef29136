import { statement } from '../platform/db/statement.ts'
import type { Services } from '../platform/http/operation.ts'

const NUMBER = statement<{ given: number }>('events_number', 'select number_events($1, $2) as given')

const EVENTS_A_CALL = 2_000
/** With all processes together at most so long from a commit to its number, in milliseconds. */
const POLL_MS = 100
const PAUSE_AFTER_FAILURE_MS = 1_000

/**
 * Numbers committed events, tenant by tenant, and queues them for the endpoints (decision E1). Every process runs one;
 * the database lets one at a time number, so any of them may die at any moment.
 */
export class Relay {
  readonly #services: Services
  readonly #onNumbered: () => void
  #timer: NodeJS.Timeout | undefined
  #running: Promise<void> | undefined
  #closed = false

  constructor(services: Services, onNumbered: () => void) {
    this.#services = services
    this.#onNumbered = onNumbered
  }

  start(): void {
    this.#running = this.#run()
  }

  async close(): Promise<void> {
    this.#closed = true
    clearTimeout(this.#timer)
    await this.#running
  }

  async #run(): Promise<void> {
    const { clock, database, log } = this.#services
    let pause = POLL_MS
    try {
      for (let given = EVENTS_A_CALL; given === EVENTS_A_CALL && !this.#closed; ) {
        given = (await database.directory(NUMBER, [EVENTS_A_CALL, new Date(clock.now())]))[0]!.given
        if (given > 0) this.#onNumbered()
      }
    } catch (error) {
      log.warn({ err: error }, 'events were not numbered; the next try will')
      pause = PAUSE_AFTER_FAILURE_MS
    }
    if (!this.#closed) this.#timer = setTimeout(() => this.start(), pause)
  }
}
