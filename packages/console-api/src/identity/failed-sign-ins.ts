import { recordAudit } from '@svc/platform/audit'
import { network } from '@svc/platform/ip-range'
import { Loop } from '@svc/platform/loop'
import type { Services } from '@svc/server/http/operation'
import { RateLimiterMemory } from 'rate-limiter-flexible'
import type { KnownDevice } from './known-devices.ts'
import { findOperator, type OperatorAccount } from './operator-store.ts'

/** Failures that are audited one by one in an hour; `SIGN_IN_FAILURES_PER_MINUTE` bounds those of one address. */
const ENTRIES_PER_HOUR = 100
const SUMMARY_EVERY_MS = 60_000
/** Addresses and names that a summary counts apart, and how many of them it lists. */
const COUNTED_MAX = 1_000
const LISTED_MAX = 5

/** Whom the audit names without a session. */
export const ANONYMOUS = 'anonymous'

/** A failed attempt to prove to be an operator. */
export interface SignInAttempt {
  readonly action: 'operator.sign_in_failed' | 'operator.step_up_failed' | 'operator.password_change_failed'
  readonly actor: string
  readonly address: string
  /** As typed; people type passwords here, so it is audited only where an operator has this name. */
  readonly name: string
  readonly requestId: string
  /** Of a browser in which that operator has signed in before. */
  readonly device?: KnownDevice | undefined
  /** What was wrong where it was not the password. */
  readonly reason?: string
}

class Tally {
  readonly #counts = new Map<string, number>()

  add(what: string, count = 1): void {
    const known = this.#counts.get(what)
    if (known !== undefined || this.#counts.size < COUNTED_MAX) this.#counts.set(what, (known ?? 0) + count)
  }

  addAll(others: Tally): void {
    for (const [what, count] of others.#counts) this.add(what, count)
  }

  get size(): number {
    return this.#counts.size
  }

  /** The most frequent ones. */
  get top(): string {
    return [...this.#counts]
      .sort(([, a], [, b]) => b - a)
      .slice(0, LISTED_MAX)
      .map(([what, count]) => `${what}: ${count}`)
      .join(', ')
  }
}

interface Counts {
  attempts: number
  readonly addresses: Tally
  readonly operators: Tally
}

const newCounts = (): Counts => ({ attempts: 0, addresses: new Tally(), operators: new Tally() })

/**
 * Audits failed sign-ins (decision O3). The audit is kept for good, so a flood of them is bounded: failures beyond the
 * limits are counted, and a summary is entered once a minute and at shutdown.
 */
export class FailedSignIns {
  readonly #services: Pick<Services, 'database' | 'log'>
  readonly #ofAddress: RateLimiterMemory
  readonly #ofAll = new RateLimiterMemory({ points: ENTRIES_PER_HOUR, duration: 3_600 })
  #counted = newCounts()
  /** By attempt that is under way, its address. */
  readonly #underWay = new Map<symbol, string>()
  #isOver = false
  /** Writes the summaries. */
  readonly loop: Loop

  constructor(services: Pick<Services, 'config' | 'database' | 'log' | 'metrics'>) {
    this.#services = services
    const points = services.config.SIGN_IN_FAILURES_PER_MINUTE
    this.#ofAddress = new RateLimiterMemory({ points, duration: 60 })
    const work = () => this.#summarize()
    this.loop = new Loop({ name: 'failed_sign_ins', everyMs: SUMMARY_EVERY_MS, work, atStop: true }, services)
  }

  /** To be called when an attempt comes; what it returns, when it ends. Attempts that the end of the service breaks off are counted. */
  begin(address: string): () => void {
    const attempt = Symbol('attempt')
    this.#underWay.set(attempt, address)
    return () => void this.#underWay.delete(attempt)
  }

  /** To be called for a wrong password, and for what else fails to prove who signs in. */
  async record(attempt: SignInAttempt): Promise<void> {
    if (this.#isOver) return
    const { action, actor, address, name, requestId, reason } = attempt
    const one = await this.#mayEnter(address)
    const entered = this.#services.database.operate(
      async (tx) => {
        const found = await findOperator(tx, name)
        if (one)
          recordAudit(tx, [
            { action, target: found?.operatorId ?? 'unknown', details: detailsOf(address, found, reason) },
          ])
        return found
      },
      'read committed',
      { actor, requestId },
    )
    const operator = await entered.catch((error: unknown) => {
      this.count(address)
      throw error
    })
    if (!one) this.count(address, operator)
  }

  /** For an attempt that was refused before its password was checked. */
  count(address: string, operator?: OperatorAccount): void {
    if (this.#isOver) return
    this.#counted.attempts++
    this.#counted.addresses.add(network(address))
    if (operator) this.#counted.operators.add(operator.name)
  }

  async #mayEnter(address: string): Promise<boolean> {
    try {
      await this.#ofAddress.consume(network(address))
      await this.#ofAll.consume('all')
      return true
    } catch (refused) {
      if (refused instanceof Error) throw refused
      return false
    }
  }

  async #summarize(): Promise<void> {
    if (this.loop.stopping.aborted) {
      for (const address of this.#underWay.values()) this.count(address)
      this.#isOver = true
    }
    const counted = this.#counted
    if (counted.attempts === 0) return
    const { attempts, addresses, operators } = counted
    const details = {
      attempts,
      addresses: addresses.size,
      mostFrom: addresses.top,
      ...(operators.size > 0 && { mostAs: operators.top }),
    }
    this.#counted = newCounts()
    try {
      await this.#services.database.operate(
        async (tx) => recordAudit(tx, [{ action: 'operator.sign_ins_failed', target: 'several', details }]),
        'read committed',
        { actor: 'service' },
      )
    } catch (error) {
      // What no later summary can have is at least in the log.
      if (this.loop.stopping.aborted)
        this.#services.log.error({ details }, 'failed sign-ins could not be audited')
      this.#restore(counted)
      throw error
    }
  }

  /** For the next summary. */
  #restore({ attempts, addresses, operators }: Counts): void {
    this.#counted.attempts += attempts
    this.#counted.addresses.addAll(addresses)
    this.#counted.operators.addAll(operators)
  }
}

const detailsOf = (address: string, operator: OperatorAccount | undefined, reason: string | undefined) => ({
  address,
  reason: reason ?? (operator ? (operator.disabledAt ? 'disabled' : 'wrong_password') : 'unknown_name'),
  ...(operator && { name: operator.name }),
})
