import { setTimeout as sleep } from 'node:timers/promises'
import { timeAhead } from '@svc/platform/db/database-time'
import { statement } from '@svc/platform/db/statement'
import { Loop } from '@svc/platform/loop'
import type { CoreServices } from '@svc/platform/services'
import { readEventBacklog } from './event-backlog.ts'

const NUMBER = statement<{ given: number }>(
  'events_number',
  `select number_events($1, ${timeAhead(2)}) as given`,
)

const EVENTS_A_CALL = 2_000
/** With all processes together at most so long from a commit to its number, in milliseconds. */
const POLL_MS = 100

/** Numbers some events, and returns how many; 0 also while another process does. */
async function number({ clock, database }: Pick<CoreServices, 'clock' | 'database'>): Promise<number> {
  const [row] = await database.directory(NUMBER, [EVENTS_A_CALL, clock.offsetMs()])
  return row!.given
}

/** Returns once every event that is committed by now has its number. */
export async function numberAll(services: Pick<CoreServices, 'clock' | 'database'>): Promise<void> {
  for (;;) {
    const given = await number(services)
    if (given > 0 && given < EVENTS_A_CALL) return
    const { unnumberedSeconds } = await readEventBacklog(services.database)
    // Of a tenant whose clock is ahead it is below zero.
    if (unnumberedSeconds === 0) return
    await sleep(POLL_MS / 10)
  }
}

/**
 * Numbers committed events, tenant by tenant, and queues them for the endpoints (decision E1). Every process with jobs runs one;
 * the database lets one at a time number, so any of them may die at any moment.
 */
export class Relay {
  readonly #services: CoreServices
  readonly #onNumbered: () => void
  readonly loop: Loop

  constructor(services: CoreServices, onNumbered: () => void) {
    this.#services = services
    this.#onNumbered = onNumbered
    const work = () => this.#number()
    this.loop = new Loop({ name: 'number_events', everyMs: POLL_MS, work, atStart: true }, services)
  }

  /** Numbers some events. Returns whether there may be more. */
  async #number(): Promise<boolean> {
    const given = await number(this.#services)
    if (given > 0) this.#onNumbered()
    return given === EVENTS_A_CALL
  }
}
