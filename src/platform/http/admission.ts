import { fail } from '../../errors.ts'
import type { Services } from './operation.ts'

/**
 * How many requests a process carries out at the same time. More would wait for each other, and all be late; so whoever
 * has more than a fair share of them is refused at the door, before anything is read or checked, which costs little.
 */
export class Admission {
  readonly #services: Services
  #total = 0
  /** Of each caller that has any. */
  readonly #underWay = new Map<string, number>()

  constructor(services: Services) {
    this.#services = services
  }

  get isFull(): boolean {
    return this.#total >= this.#services.config.REQUESTS_MAX
  }

  /** Of a full process: throws `overloaded` when this caller, if it is known, has its share. */
  admit(caller: string | undefined): void {
    const most = this.#services.config.REQUESTS_MAX
    if (caller === undefined) return
    if ((this.#underWay.get(caller) ?? 0) * this.#underWay.size < most) return
    // The bank sends for all merchants: those whose rows are held must not fill the house for the others.
    let held = 0
    for (const lane of this.#services.lanes.open) held += lane.held
    if (this.#total - held >= most) fail('overloaded', { retryAfterSeconds: 1 })
  }

  /** Counts a request whose caller is known and whose body is there, until `leave` is called once it is carried out. */
  enter(caller: string): void {
    this.#total++
    this.#underWay.set(caller, (this.#underWay.get(caller) ?? 0) + 1)
  }

  leave(caller: string): void {
    this.#total--
    const left = this.#underWay.get(caller)! - 1
    if (left === 0) this.#underWay.delete(caller)
    else this.#underWay.set(caller, left)
  }
}
