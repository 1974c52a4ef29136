import type { Log } from '@svc/platform/log'

const LOG_EVERY_MS = 1_000

/** Logs rejected requests once a second: a line for each would cost more than the rejection. */
export class OverloadLog {
  readonly #log: Pick<Log, 'warn'>
  #refused = 0
  #loggedAtMs = Number.NEGATIVE_INFINITY

  constructor(log: Pick<Log, 'warn'>) {
    this.#log = log
  }

  rejected(operation: string): void {
    this.#refused++
    const nowMs = performance.now()
    if (nowMs - this.#loggedAtMs < LOG_EVERY_MS) return
    this.#log.warn(
      { refused: this.#refused, operation },
      'requests are refused: more come than are carried out',
    )
    this.#refused = 0
    this.#loggedAtMs = nowMs
  }
}
