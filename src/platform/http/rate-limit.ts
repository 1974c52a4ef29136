import type { FastifyReply } from 'fastify'
import { RateLimiterMemory, RateLimiterRedis, RateLimiterRes } from 'rate-limiter-flexible'
import { fail } from '../../errors.ts'
import type { Secret } from '../../kernel/secret.ts'
import type { Services } from './operation.ts'

/** Counts one request of a credential; rejects with what is left when it is one too many. */
interface Counter {
  consume(credential: string): Promise<RateLimiterRes>
  close(): void
}

export interface RateLimit {
  /** Tells what is left as the IETF draft's RateLimit fields; throws `rate_limited`. */
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
  const counter = url
    ? shared(services, url, own, window)
    : { consume: (credential: string) => own.consume(credential), close: () => undefined }
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
        fail('rate_limited', { retryAfterSeconds, headers: left(refused) })
      }
    },
    close: () => counter.close(),
  }
}

/** Longer than a store on the same network takes, and short for a caller who waits. */
const STORE_MS = 250
const RECONNECT_MS_MAX = 2_000

/** Counts in Redis or Valkey for all processes; while it does not answer, each process counts for itself. */
function shared(
  { log, metrics }: Services,
  url: Secret,
  own: RateLimiterMemory,
  window: { readonly points: number; readonly duration: number },
): Counter {
  let isClosed = false
  let reached: boolean | undefined
  const tell = (isReached: boolean, cause?: Error) => {
    metrics.rateLimitShared.set(isReached ? 1 : 0)
    if (isClosed || reached === isReached) return
    reached = isReached
    if (isReached) log.info('requests are counted in the store of RATE_LIMIT_URL, for all processes')
    // The whole error of a refused password holds the password.
    else
      log.warn(
        { reason: cause?.message },
        'the store of RATE_LIMIT_URL does not answer: each process counts for itself',
      )
  }
  // Loaded by those alone who have one.
  const opened = import('ioredis').then(({ Redis }) => {
    const client = new Redis(url.reveal(), {
      enableOfflineQueue: false,
      maxRetriesPerRequest: 0,
      connectTimeout: RECONNECT_MS_MAX,
      commandTimeout: STORE_MS,
      // One that hangs is hung up on, so that no caller after the first waits for it.
      socketTimeout: STORE_MS,
      retryStrategy: (times) => Math.min(50 * 2 ** times, RECONNECT_MS_MAX),
    })
    client.on('ready', () => tell(true)).on('error', (error: Error) => tell(false, error))
    client.on('close', () => tell(false))
    const limiter = new RateLimiterRedis({
      ...window,
      storeClient: client,
      keyPrefix: 'svc:rate',
      rejectIfRedisNotReady: true,
      // Whoever is over the limit is refused without asking again until the window ends.
      inMemoryBlockOnConsumed: window.points,
      insuranceLimiter: own,
    })
    return { client, limiter }
  })
  return {
    consume: async (credential) => (await opened).limiter.consume(credential),
    close() {
      isClosed = true
      void opened.then(({ client }) => client.disconnect())
    },
  }
}
