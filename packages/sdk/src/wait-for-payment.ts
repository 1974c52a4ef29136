import { whenAborted } from './deadline.ts'
import { isFailure } from './errors.ts'
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
  /** Calls `nudge` for each event that may concern the code, until the signal ends it or it fails. */
  readonly follow: (nudge: () => void, options: CallOptions) => Promise<void>
}

/**
 * Looks, and looks again at each event and at least every `pollMs`. Events only make it quicker: where their stream cannot
 * be had, is cut or is held up by a proxy, the looks find the payment all the same.
 *
 * @throws SvcError of a look; the signal's reason; what a hook throws
 */
export async function waitForPayment<Outcome>(
  { look, follow }: Waiting<Outcome>,
  { pollMs = 5_000, ...options }: WaitOptions,
): Promise<Outcome> {
  requireNumber('pollMs', pollMs)
  const ended = new AbortController()
  const { signal } = ended
  const caller = options.signal
  const ignoreCaller = caller && whenAborted(caller, () => ended.abort(caller.reason))
  const bell = new Bell()
  let broken: { readonly error: unknown } | undefined
  const following = follow(() => bell.ring(), { ...options, signal }).catch((error: unknown) => {
    if (isFailure(error) || signal.aborted) return
    broken = { error }
    bell.ring()
  })
  try {
    for (;;) {
      if (broken) throw broken.error
      const outcome = await look({ ...options, signal })
      if (outcome) return outcome
      await bell.heard(pollMs, signal)
    }
  } finally {
    ignoreCaller?.()
    ended.abort()
    await following
  }
}

/** Is heard by one listener, also when it rang before. */
class Bell {
  #rang = false
  #wake: (() => void) | undefined

  ring(): void {
    this.#rang = true
    this.#wake?.()
  }

  /** Resolves once it rang or the time is over; throws the signal's reason. */
  async heard(withinMs: number, signal: AbortSignal): Promise<void> {
    let stopTimer: (() => void) | undefined
    let ignore: (() => void) | undefined
    await new Promise<void>((resolve) => {
      this.#wake = resolve
      stopTimer = callAfter(withinMs, resolve)
      ignore = whenAborted(signal, resolve)
      if (this.#rang) resolve()
    })
    stopTimer?.()
    ignore?.()
    this.#rang = false
    signal.throwIfAborted()
  }
}
