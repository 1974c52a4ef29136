import { ConnectionError } from './errors.ts'
import { callAfter } from './timer.ts'

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
    // A failure that no call waits for any more would end the process.
    shared.catch(() => undefined)
    const { signal } = this
    signal?.throwIfAborted()
    let release: (() => void) | undefined
    let stopTimer: (() => void) | undefined
    const ended = new Promise<never>((_, reject) => {
      if (signal) release = whenAborted(signal, () => reject(signal.reason as Error))
      stopTimer = callAfter(this.remainingMs, () =>
        reject(new ConnectionError(what, attempts, this.timeout())),
      )
    })
    try {
      return await Promise.race([shared, ended])
    } finally {
      stopTimer?.()
      release?.()
    }
  }

  /** Resolves after this time, unless the call ends before; see `wait`. */
  async pause(ms: number, what: string, attempts: number): Promise<void> {
    let stopTimer: (() => void) | undefined
    const over = new Promise<void>((resolve) => {
      stopTimer = callAfter(ms, resolve)
    })
    try {
      await this.wait(over, what, attempts)
    } finally {
      stopTimer?.()
    }
  }
}

/**
 * Ends one attempt of a call, when it takes too long or by the caller's signal. Not with `AbortSignal.any`, which leaves
 * a reference in a long-lived signal for each request (nodejs/node#55351), and lets a signal that nothing else refers to
 * be collected with its timeout (nodejs/node#57736).
 */
export class AttemptLimit {
  readonly #ending = new AbortController()
  /** From now on only the caller's signal, or `end`, ends the attempt. */
  readonly stopTimer: () => void
  readonly #ignoreCaller: (() => void) | undefined

  constructor(deadline: Deadline, timeoutMs: number) {
    const { remainingMs, signal } = deadline
    this.stopTimer = callAfter(Math.min(timeoutMs, remainingMs), () =>
      this.end(remainingMs < timeoutMs ? deadline.timeout() : tooSlow(timeoutMs)),
    )
    if (signal) this.#ignoreCaller = whenAborted(signal, () => this.end(signal.reason))
  }

  get signal(): AbortSignal {
    return this.#ending.signal
  }

  end(reason: unknown): void {
    this.#ending.abort(reason)
  }

  /** From now on nothing ends it. */
  release(): void {
    this.stopTimer()
    this.#ignoreCaller?.()
  }
}

const tooSlow = (timeoutMs: number) => new DOMException(`no response within ${timeoutMs} ms`, 'TimeoutError')

interface Listening {
  readonly ends: Set<() => void>
  readonly listener: () => void
}

/** One listener for all calls that share a signal: Node warns of a leak when there are more than ten. */
const listening = new WeakMap<AbortSignal, Listening>()

/** Calls `end` when the signal is aborted, now if it is; what it returns removes that again. */
export function whenAborted(signal: AbortSignal, end: () => void): () => void {
  if (signal.aborted) {
    end()
    return () => undefined
  }
  const { ends, listener } = listening.get(signal) ?? listen(signal)
  ends.add(end)
  return () => {
    ends.delete(end)
    if (ends.size > 0 || listening.get(signal)?.ends !== ends) return
    listening.delete(signal)
    signal.removeEventListener('abort', listener)
  }
}

function listen(signal: AbortSignal): Listening {
  const ends = new Set<() => void>()
  const listener = () => {
    for (const end of ends) end()
  }
  signal.addEventListener('abort', listener, { once: true })
  listening.set(signal, { ends, listener })
  return { ends, listener }
}
