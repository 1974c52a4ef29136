import { whenAborted } from './deadline.ts'
import type { Waiter } from './payment-stream.ts'
import { requireNumber } from './required.ts'
import { callAfter } from './timer.ts'
import type { CallOptions } from './transport.ts'

/** Options of waiting for a payment. */
export interface WaitOptions extends CallOptions {
  /** The longest time until the code is read again without an event, in milliseconds; 5,000 by default. */
  readonly pollMs?: number
}

interface Waiting<Outcome> {
  /** Reads the outcome of the code, if it has one yet. */
  readonly poll: (options: CallOptions) => Promise<Outcome | undefined>
  /** Notifies of each event that may concern the code, until the returned function is called. */
  readonly subscribe: (waiter: Waiter) => () => void
}

/**
 * Polls at each event and at least every `pollMs`. Events only make it quicker: where their stream is refused, cut or
 * delayed by a proxy, polling finds the payment all the same.
 *
 * @throws SvcError, ConnectionError or UnexpectedResponseError of a poll; the signal's reason; what a hook throws
 */
export async function waitForPayment<Outcome>(
  { poll, subscribe }: Waiting<Outcome>,
  { pollMs = 5_000, ...options }: WaitOptions,
): Promise<Outcome> {
  requireNumber('pollMs', pollMs)
  options.signal?.throwIfAborted()
  const paymentSignal = new PaymentSignal()
  const unsubscribe = subscribe(paymentSignal)
  try {
    for (;;) {
      const outcome = await poll(options)
      if (outcome) return outcome
      await paymentSignal.wait(pollMs, options.signal)
    }
  } finally {
    unsubscribe()
  }
}

/** Wakes its one listener, also when it was notified before the listener waits. */
class PaymentSignal implements Waiter {
  #notified = false
  #broken: { readonly error: unknown } | undefined
  #wake: (() => void) | undefined

  notify(): void {
    this.#notified = true
    this.#wake?.()
  }

  fail(error: unknown): void {
    this.#broken = { error }
    this.notify()
  }

  /** Resolves once notified or the time is over; throws the signal's reason, or what it failed with. */
  async wait(withinMs: number, signal: AbortSignal | undefined): Promise<void> {
    let stopTimer: (() => void) | undefined
    let ignore: (() => void) | undefined
    await new Promise<void>((resolve) => {
      this.#wake = resolve
      stopTimer = callAfter(withinMs, resolve)
      ignore = signal && whenAborted(signal, resolve)
      if (this.#notified) resolve()
    })
    stopTimer?.()
    ignore?.()
    this.#notified = false
    signal?.throwIfAborted()
    if (this.#broken) throw this.#broken.error
  }
}
