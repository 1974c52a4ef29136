import { Deadline } from './deadline.ts'
import { isFailure } from './errors.ts'
import type { Events } from './events.ts'

/** How long after a stream that the service refused the next one is tried. */
const REOPEN_MS = 60_000

/** Waits for a payment of one code. */
export interface Waiter {
  /** A payment of the code may have come. */
  notify(): void
  /** No stream can follow, because of what a hook threw. */
  fail(error: unknown): void
}

/**
 * One stream of accepted payments for all waits of a client: a tenant may have five streams. It is open while there is a
 * waiter.
 */
export class PaymentStream {
  readonly #events: Events
  /** Each with its code. */
  readonly #waiters = new Map<Waiter, string>()
  #open: AbortController | undefined

  constructor(events: Events) {
    this.#events = events
  }

  /**
   * Notifies of each payment of the code from now on, and whenever one may have been missed: a waiter that reads the code
   * after it has subscribed, and at each notification, misses none. The returned function ends it.
   */
  subscribe(qrCodeId: string, waiter: Waiter): () => void {
    this.#waiters.set(waiter, qrCodeId)
    this.#open ??= this.#start()
    return () => {
      this.#waiters.delete(waiter)
      if (this.#waiters.size > 0) return
      this.#open?.abort()
      this.#open = undefined
    }
  }

  #start(): AbortController {
    const ending = new AbortController()
    this.#run(ending.signal).catch((error: unknown) => {
      if (ending.signal.aborted) return
      this.#open = undefined
      for (const waiter of this.#waiters.keys()) waiter.fail(error)
    })
    return ending
  }

  /** Until the signal ends it. Throws its reason, or what a hook threw. */
  async #run(signal: AbortSignal): Promise<never> {
    for (;;) {
      try {
        await this.#follow(signal)
      } catch (error) {
        if (!isFailure(error)) throw error
      }
      // Refused: the waiters read their codes from time to time.
      await new Deadline(Number.POSITIVE_INFINITY, signal).pause(REOPEN_MS, 'The stream of payments', 1)
    }
  }

  async #follow(signal: AbortSignal): Promise<void> {
    const after = await this.#events.latest({ signal })
    // Payments up to this position are not in the stream.
    this.#notify()
    const following = { after, type: 'qr_code.credited', maxReconnects: Number.POSITIVE_INFINITY } as const
    for await (const { data } of this.#events.follow({ ...following, signal })) this.#notify(data.qrCodeId)
  }

  #notify(paid?: string): void {
    for (const [waiter, qrCodeId] of this.#waiters)
      if (paid === undefined || paid === qrCodeId) waiter.notify()
  }
}
