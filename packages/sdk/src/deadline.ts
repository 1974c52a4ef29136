import { ConnectionError } from './errors.ts'

/** When one call ends, with all its requests, tokens and waits: at its deadline, or earlier by its caller's signal. */
export class Deadline {
  readonly signal: AbortSignal | undefined
  readonly #deadlineMs: number
  readonly #endsAtMs: number

  constructor(deadlineMs: number, signal: AbortSignal | undefined) {
    this.signal = signal
    this.#deadlineMs = deadlineMs
    this.#endsAtMs = performance.now() + deadlineMs
  }

  get remainingMs(): number {
    return Math.max(0, this.#endsAtMs - performance.now())
  }

  /** What the deadline ends fails with this. */
  timeout(): DOMException {
    return new DOMException(`the call took longer than ${this.#deadlineMs} ms`, 'TimeoutError')
  }

  /**
   * The result of a promise that other calls may share, so it goes on when this call ends.
   *
   * @throws the signal's reason, or ConnectionError at the deadline
   */
  async wait<T>(shared: Promise<T>, what: string, attempts = 0): Promise<T> {
    let timer: ReturnType<typeof setTimeout> | undefined
    const { signal } = this
    signal?.throwIfAborted()
    let abort: (() => void) | undefined
    const ended = new Promise<never>((_, reject) => {
      abort = () => reject(signal!.reason as Error)
      signal?.addEventListener('abort', abort, { once: true })
      timer = setTimeout(() => reject(new ConnectionError(what, attempts, this.timeout())), this.remainingMs)
    })
    try {
      return await Promise.race([shared, ended])
    } finally {
      clearTimeout(timer)
      signal?.removeEventListener('abort', abort!)
    }
  }
  /** Resolves after this time, unless the call ends before; see `wait`. */
  async pause(ms: number, what: string, attempts: number): Promise<void> {
    let timer: ReturnType<typeof setTimeout> | undefined
    const over = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, ms)
    })
    try {
      await this.wait(over, what, attempts)
    } finally {
      clearTimeout(timer)
    }
  }
}
