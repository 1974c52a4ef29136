import type { Failure } from '@svc/contract/errors'
import type { Log } from '@svc/platform/log'

const REFUSED_EVERY_MS = 1_000
/** Without a failure for so long, an outage is over. */
const OUTAGE_ENDS_MS = 10_000
const OUTAGE_EVERY_MS = 60_000

/**
 * Logs requests that fail by no fault of their callers. What all requests meet, an overload or a database that is away, has
 * no line for each: that would cost more than the rejection, and hide what else goes wrong.
 */
export class FailureLog {
  readonly #log: Pick<Log, 'error' | 'warn'>
  #refused = 0
  #refusedAtMs = Number.NEGATIVE_INFINITY
  #failedAtMs = Number.NEGATIVE_INFINITY
  #loggedAtMs = Number.NEGATIVE_INFINITY
  #unlogged = 0

  constructor(log: Pick<Log, 'error' | 'warn'>) {
    this.#log = log
  }

  failed(failure: Failure, operation: string, facts: object): void {
    if (failure.code === 'overloaded') return this.#overloaded(operation)
    if (failure.status < 500 || failure.isOrderly) return
    const entry = { err: failure.cause ?? failure, ...facts, operation, error: failure.code }
    if (failure.code === 'temporarily_unavailable') this.#unavailable(entry)
    else this.#log.error(entry, 'a request failed')
  }

  #overloaded(operation: string): void {
    this.#refused++
    const nowMs = performance.now()
    if (nowMs - this.#refusedAtMs < REFUSED_EVERY_MS) return
    this.#log.warn(
      { refused: this.#refused, operation },
      'requests are refused: more come than are carried out',
    )
    this.#refused = 0
    this.#refusedAtMs = nowMs
  }

  /** The first request of an outage, and once a minute how many more failed since. */
  #unavailable(entry: object): void {
    const nowMs = performance.now()
    const begins = nowMs - this.#failedAtMs > OUTAGE_ENDS_MS
    this.#failedAtMs = nowMs
    if (!begins && nowMs - this.#loggedAtMs < OUTAGE_EVERY_MS) {
      this.#unlogged++
      return
    }
    this.#log.error({ ...entry, moreBefore: this.#unlogged }, 'requests fail: not available')
    this.#loggedAtMs = nowMs
    this.#unlogged = 0
  }
}
