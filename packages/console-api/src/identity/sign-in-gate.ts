import { setTimeout as sleep } from 'node:timers/promises'
import { fail } from '@svc/contract/errors'
import { FailedAttempts } from '@svc/core/tenants/failed-attempts'
import { network } from '@svc/platform/ip-range'
import { RateLimiterMemory } from 'rate-limiter-flexible'
import type { KnownDevice } from './known-devices.ts'

/** Pace of the attempts of one address once it, or the name that it tries, has failed too often. */
const PACE_MS = 1_000
/** Attempts of one address that may wait for their turn. */
const WAITING_MAX = 5

/** A sign-in that comes. */
export interface Arrival {
  readonly address: string
  readonly name: string
  /** Of a browser in which the person of this name has signed in before. */
  readonly device?: KnownDevice | undefined
}

/** One that may be checked. */
export interface Admitted {
  /** From a known device that has not failed too often: its password is checked before those of others. */
  readonly isKnown: boolean
  /** Whose alone the password may be: the name or the address has failed too often, and the device's own place is used. */
  readonly onlyOf?: readonly string[] | undefined
  /** To be called for an attempt that was right: it counts no more. */
  readonly passed: () => Promise<void>
  /** To be called for a wrong password; throws 429 when there were too many. */
  readonly failed: () => Promise<void>
}

/**
 * Slows guessing of passwords (decision A11): after too many failures of a name or an address, attempts are taken one a
 * second for each address. An attempt counts when it comes, until it has passed: of many at once no more are checked than
 * of many in a row. No account is ever locked: a right password passes when its turn comes, and no address waits for
 * another. A known device has a place of its own, which attempts from elsewhere do not use up.
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
  async enter({ address, device, name }: Arrival): Promise<Admitted> {
    const keys = [`address ${network(address)}`, `name ${name}`]
    const isOver = !(await this.#countAll(keys))
    const place = device && `device ${device.id}`
    const isKnown = place !== undefined && (await this.#countAll([place]))
    if (isOver && !isKnown) await this.#turn(network(address))
    const counted = place === undefined ? keys : [...keys, place]
    return {
      isKnown,
      onlyOf: isOver && isKnown ? device?.of : undefined,
      passed: async () => void (await Promise.all(counted.map((key) => this.#failures.reward(key)))),
      failed: async () => {
        if (!isKnown) await this.#attempts.count(address, name)
      },
    }
  }

  /** Whether none of them had too many. */
  async #countAll(keys: readonly string[]): Promise<boolean> {
    const states = await Promise.all(keys.map((key) => this.#failures.consume(key)))
    return states.every(({ consumedPoints }) => consumedPoints <= this.#perMinute)
  }

  async #turn(from: string): Promise<void> {
    const turn = this.#turns.get(from) ?? { waiting: 0, last: Promise.resolve() }
    if (turn.waiting >= WAITING_MAX) fail('too_many_failed_attempts', { retryAfterSeconds: WAITING_MAX })
    this.#turns.set(from, turn)
    turn.waiting++
    const mine = turn.last.then(() => sleep(PACE_MS))
    turn.last = mine
    await mine
    if (--turn.waiting === 0) this.#turns.delete(from)
  }
}
