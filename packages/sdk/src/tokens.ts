/** A token as it was issued. */
export interface Issued {
  readonly token: string
  readonly lifetimeMs: number
  /** The session cookie that belongs to this token, of partners. */
  readonly cookie: string | undefined
}

interface Held extends Issued {
  readonly renewAtMs: number
  readonly endsAtMs: number
}

/** Renewed in the last fifth of its life, but never more than five minutes early. */
const EARLY_SHARE = 0.2
const EARLY_MS_MAX = 300_000

/**
 * Caches one token for all calls, and renews it. One renewal is under way at a time. Time is counted from when the token came,
 * on the monotonic clock, so that a wrong wall clock does no harm.
 */
export class TokenCache {
  readonly #issue: () => Promise<Issued>
  #held: Held | undefined
  #renewal: Promise<Held> | undefined

  constructor(issue: () => Promise<Issued>) {
    this.#issue = issue
  }

  /** A token that is good now. While it is, no call waits for its renewal, and a failed renewal costs nothing. */
  get(): Promise<Issued> {
    const held = this.#held
    const nowMs = performance.now()
    if (!held || nowMs >= held.endsAtMs) return this.#renew()
    if (nowMs >= held.renewAtMs) this.#renew().catch(() => undefined)
    return Promise.resolve(held)
  }

  /** Another token than this one, which the service refused. */
  replace(refused: Issued): Promise<Issued> {
    if (this.#held === refused) this.#held = undefined
    return this.get()
  }

  #renew(): Promise<Held> {
    this.#renewal ??= this.#request().finally(() => {
      this.#renewal = undefined
    })
    return this.#renewal
  }

  async #request(): Promise<Held> {
    const requestedAtMs = performance.now()
    const issued = await this.#issue()
    const endsAtMs = requestedAtMs + issued.lifetimeMs
    const renewAtMs = endsAtMs - Math.min(EARLY_MS_MAX, issued.lifetimeMs * EARLY_SHARE)
    this.#held = { ...issued, endsAtMs, renewAtMs }
    return this.#held
  }
}
