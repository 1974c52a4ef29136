import { fail } from '@svc/contract/errors'
import { network } from '@svc/platform/ip-range'
import { RateLimiterMemory, RateLimiterRes } from 'rate-limiter-flexible'

/**
 * Counts wrong secrets, by address and by credential prefix (decision A11). Only failures count and only failures are
 * refused: a valid secret passes whatever others did, so no caller can lock out another.
 */
export class FailedAttempts {
  readonly #limiter: RateLimiterMemory

  constructor(perMinute: number) {
    this.#limiter = new RateLimiterMemory({ points: perMinute, duration: 60 })
  }

  /** To be called for a wrong secret; throws 429 when there were too many. */
  async count(address: string, prefix: string): Promise<void> {
    for (const subject of [`address ${network(address)}`, `prefix ${prefix}`]) {
      try {
        await this.#limiter.consume(subject)
      } catch (refused) {
        if (!(refused instanceof RateLimiterRes)) throw refused
        fail('too_many_failed_attempts', {
          retryAfterSeconds: Math.max(1, Math.ceil(refused.msBeforeNext / 1_000)),
        })
      }
    }
  }
}
