import type { FastifyReply } from 'fastify'
import { RateLimiterMemory, RateLimiterRes } from 'rate-limiter-flexible'
import type { Config } from '../../config.ts'
import { fail } from '../../errors.ts'

/**
 * Requests per credential (decision L1), off in sandbox mode. A window of burst ÷ rate seconds holds the burst: the
 * average and the largest burst are those of a token bucket. Tells what is left as the IETF draft's RateLimit fields.
 */
export function rateLimit(
  config: Config,
): ((credential: string, reply: FastifyReply) => Promise<void>) | undefined {
  const { SVC_MODE, RATE_LIMIT_PER_SECOND: perSecond, RATE_LIMIT_BURST: burst } = config
  if (SVC_MODE === 'sandbox' || perSecond === 0) return undefined
  const duration = Math.max(1, Math.round(burst / perSecond))
  const points = perSecond * duration
  const limiter = new RateLimiterMemory({ points, duration })
  const policy = `"credential";q=${points};w=${duration}`
  const left = (state: RateLimiterRes) => {
    const seconds = Math.ceil(state.msBeforeNext / 1_000)
    return { 'ratelimit-policy': policy, ratelimit: `"credential";r=${state.remainingPoints};t=${seconds}` }
  }
  return async (credential, reply) => {
    try {
      reply.headers(left(await limiter.consume(credential)))
    } catch (refused) {
      if (!(refused instanceof RateLimiterRes)) throw refused
      const retryAfterSeconds = Math.max(1, Math.ceil(refused.msBeforeNext / 1_000))
      fail('rate_limited', { retryAfterSeconds, headers: left(refused) })
    }
  }
}
