import { fail } from '@svc/contract/errors'
import { network } from '@svc/platform/ip-range'
import { LRUCache } from 'lru-cache'
import { RateLimiterMemory, RateLimiterRes } from 'rate-limiter-flexible'
import type { Services } from './operation.ts'

const ADDRESSES_MAX = 10_000

/**
 * Failed requests a second of one address without an authenticated caller. Over it, a request of that address with
 * neither a token that we signed nor a session that this process knows is refused without a query, and whatever else
 * proves wrong is refused with 429; what proves right is accepted (decision A11).
 */
export interface FailedRequestLimit {
  isOver(address: string): boolean
  /** Throws `rate_limited` while the address is over the limit. */
  check(address: string): void
  /** Counts a failed request without an authenticated caller. */
  count(address: string): void
}

/** Off in sandbox mode, as the rate limit is. */
export function failedRequestLimit({ config }: Services): FailedRequestLimit | undefined {
  const points = config.FAILED_REQUESTS_PER_SECOND
  if (config.SVC_MODE === 'sandbox' || points === 0) return undefined
  const limiter = new RateLimiterMemory({ points, duration: 1 })
  // The limiter returns promises; this is read for every request, and says until when, in milliseconds since 1970.
  const refusedUntil = new LRUCache<string, number>({ max: ADDRESSES_MAX })
  const isOver = (address: string) => (refusedUntil.get(network(address)) ?? 0) > Date.now()
  return {
    isOver,
    check(address) {
      if (isOver(address)) fail('rate_limited', { retryAfterSeconds: 1 })
    },
    count(address) {
      const subject = network(address)
      limiter.consume(subject).catch((over: unknown) => {
        if (over instanceof RateLimiterRes) refusedUntil.set(subject, Date.now() + over.msBeforeNext)
      })
    },
  }
}
