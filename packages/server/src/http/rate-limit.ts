import { fail } from '@svc/contract/errors'
import type { Secret } from '@svc/kernel/secret'
import type { FastifyReply } from 'fastify'
import { RateLimiterMemory, RateLimiterRes } from 'rate-limiter-flexible'
import type { Services } from './operation.ts'
import type { Counter, Window } from './shared-rate-limit.ts'

export interface RateLimit {
  /** Reports what is left as the IETF draft's RateLimit fields; throws `rate_limited`. */
  take(credential: string, reply: FastifyReply): Promise<void>
  close(): void
}

/**
 * Requests per credential (decision L1), off in sandbox mode. A window of burst ÷ rate seconds holds the burst: the
 * average and the largest burst are those of a token bucket.
 */
export function rateLimit(services: Services): RateLimit | undefined {
  const {
    SVC_MODE,
    RATE_LIMIT_PER_SECOND: perSecond,
    RATE_LIMIT_BURST: burst,
    RATE_LIMIT_URL: url,
  } = services.config
  if (SVC_MODE === 'sandbox' || perSecond === 0) return undefined
  const duration = Math.max(1, Math.round(burst / perSecond))
  const window = { points: perSecond * duration, duration }
  const own = new RateLimiterMemory(window)
  const counter = url ? shared(services, url, own, window) : alone(own)
  const policy = `"credential";q=${window.points};w=${duration}`
  const left = (state: RateLimiterRes) => {
    const seconds = Math.ceil(state.msBeforeNext / 1_000)
    return { 'ratelimit-policy': policy, ratelimit: `"credential";r=${state.remainingPoints};t=${seconds}` }
  }
  return {
    async take(credential, reply) {
      try {
        reply.headers(left(await counter.consume(credential)))
      } catch (refused) {
        if (!(refused instanceof RateLimiterRes)) throw refused
        const retryAfterSeconds = Math.max(1, Math.ceil(refused.msBeforeNext / 1_000))
        fail('rate_limited', {
          description: `More than ${window.points} requests in ${window.duration} s with this credential`,
          retryAfterSeconds,
          headers: left(refused),
        })
      }
    },
    close: () => counter.close(),
  }
}

/** Loaded only where RATE_LIMIT_URL is set. A store that cannot be opened costs the sharing, never the process. */
function shared({ log, metrics }: Services, url: Secret, own: RateLimiterMemory, window: Window): Counter {
  const onState = (isShared: boolean, cause?: Error) => {
    metrics.rateLimitShared.set(isShared ? 1 : 0)
    if (isShared) log.info('requests are counted in the store of RATE_LIMIT_URL, for all processes')
    // The message alone: the whole error of a refused password has the password in it.
    else
      log.warn(
        { reason: cause?.message },
        'the store of RATE_LIMIT_URL cannot be used: each process counts for itself',
      )
  }
  const opened: Promise<Counter> = import('./shared-rate-limit.ts')
    .then(({ openSharedCounter }) => openSharedCounter(url, own, window, onState))
    .catch((error: Error) => {
      onState(false, error)
      return alone(own)
    })
  return {
    consume: async (credential) => (await opened).consume(credential),
    close: () => void opened.then((counter) => counter.close()),
  }
}

const alone = (own: RateLimiterMemory): Counter => ({
  consume: (credential) => own.consume(credential),
  close: () => undefined,
})
