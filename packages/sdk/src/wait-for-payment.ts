import { whenAborted } from './deadline.ts'
import type { Waiter } from './payment-stream.ts'
import { requireNumber } from './required.ts'
import { callAfter } from './timer.ts'
import type { CallOptions } from './transport.ts'

/** Options of waiting for a payment. */
export interface WaitOptions extends CallOptions {
  /** How long at most until the code is looked at again where no event says so, in milliseconds; 5,000 by default. */
  readonly pollMs?: number
}

interface Waiting<Outcome> {
  /** What became of the code so far. */
  readonly look: (options: CallOptions) => Promise<Outcome | undefined>
  /** Rings for each event that may concern the code, until the returned function is called. */
  readonly join: (waiter: Waiter) => () => void
}

/**
 * Looks, and looks again at each event and at least every `pollMs`. Events only make it quicker: where their stream cannot
 * be had, is cut or is held up by a proxy, the looks find the payment all the same.
 *
 * @throws SvcError, ConnectionError or UnexpectedResponseError of a look; the signal's reason; what a hook throws
 */
export async function waitForPayment<Outcome>(
  { look, join }: Waiting<Outcome>,
  { pollMs = 5_000, ...options }: WaitOptions,
): Promise<Outcome> {
  requireNumber('pollMs', pollMs)
  options.signal?.throwIfAborted()
  const bell = new Bell()
  const leave = join(bell)
  try {
    for (;;) {
      const outcome = await look(options)
      if (outcome) return outcome
      await bell.heard(pollMs, options.signal)
    }
  } finally {
    leave()
  }
}

/** Is heard by one listener, also when it rang before. */
class Bell implements Waiter {
  #rang = false
  #broken: { readonly error: unknown } | undefined
  #wake: (() => void) | undefined

  ring(): void {
    this.#rang = true
    this.#wake?.()
  }

  fail(error: unknown): void {
    this.#broken = { error }
    this.ring()
  }

  /** Resolves once it rang or the time is over; throws the signal's reason, or what it failed with. */
  async heard(withinMs: number, signal: AbortSignal | undefined): Promise<void> {
    let stopTimer: (() => void) | undefined
    let ignore: (() => void) | undefined
    await new Promise<void>((resolve) => {
      this.#wake = resolve
      stopTimer = callAfter(withinMs, resolve)
      ignore = signal && whenAborted(signal, resolve)
      if (this.#rang) resolve()
    })
    stopTimer?.()
    ignore?.()
    this.#rang = false
    signal?.throwIfAborted()
    if (this.#broken) throw this.#broken.error
  }
}
