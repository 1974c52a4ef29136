import { fail } from '@svc/contract/errors'
import type { Services } from './operation.ts'

/**
 * How many requests a process carries out at the same time, counted from their headers on. More would wait for each
 * other, and all be late; so a caller who has more than a fair share is refused before anything is read or checked.
 * One counts requests of tenants, another unauthenticated ones by address, however many of which cost tenants nothing.
 */
export class Admission {
  readonly #services: Services
  #total = 0
  /** Requests of each caller that has any. */
  readonly #inProgress = new Map<string, number>()

  constructor(services: Services) {
    this.#services = services
  }

  /** Counts a request of this caller. Throws `overloaded` when the process is full and the caller has its share. */
  admit(caller: string): void {
    if (this.#total >= this.#services.config.REQUESTS_MAX) this.#refuseBeyondShare(caller)
    this.#total++
    this.#inProgress.set(caller, (this.#inProgress.get(caller) ?? 0) + 1)
  }

  release(caller: string): void {
    this.#total--
    const left = this.#inProgress.get(caller)! - 1
    if (left === 0) this.#inProgress.delete(caller)
    else this.#inProgress.set(caller, left)
  }

  #refuseBeyondShare(caller: string): void {
    const most = this.#services.config.REQUESTS_MAX
    if ((this.#inProgress.get(caller) ?? 0) * this.#inProgress.size < most) return
    // The bank sends for all merchants: those whose rows are held must leave room for the others.
    let held = 0
    for (const queue of this.#services.queues.open) held += queue.held
    if (this.#total - held >= most) fail('overloaded', { retryAfterSeconds: 1 })
  }
}

/** A request in progress: counted as its caller's until `leave`. */
export class Admitted {
  #admission: Admission
  #caller: string | undefined

  constructor(admission: Admission, caller: string) {
    admission.admit(caller)
    this.#admission = admission
    this.#caller = caller
  }

  /** From now on it counts as a request of this caller, unless it has left. */
  move(admission: Admission, caller: string): void {
    if (this.#caller === undefined || this.#admission === admission) return
    this.leave()
    admission.admit(caller)
    this.#admission = admission
    this.#caller = caller
  }

  /** The request is done, however it ended; again has no effect. */
  leave(): void {
    if (this.#caller !== undefined) this.#admission.release(this.#caller)
    this.#caller = undefined
  }
}
