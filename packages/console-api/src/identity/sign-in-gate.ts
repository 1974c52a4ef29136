import { setTimeout as sleep } from 'node:timers/promises'
import { fail } from '@svc/contract/errors'
import { FailedAttempts } from '@svc/core/tenants/failed-attempts'
import { network } from '@svc/platform/ip-range'
import { RateLimiterMemory } from 'rate-limiter-flexible'

/** Pace of the attempts of one address once it, or the name that it tries, has failed too often. */
const PACE_MS = 1_000
/** Attempts of one address that may wait for their turn. */
const WAITING_MAX = 5

/**
 * Slows guessing of passwords (decision A11): after too many failures of a name or an address, attempts are taken one a
 * second for each address. An attempt counts when it comes, until it has passed: of many at once no more are checked than
 * of many in a row. No account is ever locked: a right password passes when its turn comes, and no address waits for
 * another.
 */
export class SignInGate {
  readonly #failures: RateLimiterMemory
  readonly #attempts: FailedAttempts
  readonly #turns = new Map<string, { waiting: number; last: Promise<void> }>()
  readonly #perMinute: number

  constructor(perMinute: number) {
    this.#perMinute = perMinute
    this.#failures = new RateLimiterMemory({ points: Number.MAX_SAFE_INTEGER, duration: 60 })
    this.#attempts = new FailedAttempts(perMinute)
  }

  /** Counts the attempt, and resolves when it may be checked. */
  async enter(address: string, name: string): Promise<void> {
    const from = network(address)
    const states = await Promise.all(keysOf(address, name).map((key) => this.#failures.consume(key)))
    if (states.every(({ consumedPoints }) => consumedPoints <= this.#perMinute)) return
    const turn = this.#turns.get(from) ?? { waiting: 0, last: Promise.resolve() }
    if (turn.waiting >= WAITING_MAX) fail('too_many_failed_attempts', { retryAfterSeconds: WAITING_MAX })
    this.#turns.set(from, turn)
    turn.waiting++
    const mine = turn.last.then(() => sleep(PACE_MS))
    turn.last = mine
    await mine
    if (--turn.waiting === 0) this.#turns.delete(from)
  }

  /** To be called for an attempt that was right: it counts no more. */
  async passed(address: string, name: string): Promise<void> {
    await Promise.all(keysOf(address, name).map((key) => this.#failures.reward(key)))
  }

  /** To be called for a wrong password; throws 429 when there were too many. */
  async failed(address: string, name: string): Promise<void> {
    await this.#attempts.count(address, name)
  }
}

const keysOf = (address: string, name: string) => [`address ${network(address)}`, `name ${name}`]
