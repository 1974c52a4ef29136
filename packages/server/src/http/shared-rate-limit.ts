import type { Secret } from '@svc/kernel/secret'
import { Redis } from 'ioredis'
import { type RateLimiterMemory, RateLimiterRedis, type RateLimiterRes } from 'rate-limiter-flexible'

/** Counts one request of a credential; rejects with what is left when it is one too many. */
export interface Counter {
  consume(credential: string): Promise<RateLimiterRes>
  close(): void
}

/** So many points in so many seconds. */
export interface Window {
  readonly points: number
  readonly duration: number
}

/** Longer than a store on the same network takes, and short for a caller who waits. */
const STORE_MS = 250
const RECONNECT_MS_MAX = 2_000

/**
 * Counts in Redis or Valkey for all processes; while the store is unreachable, each process counts for itself.
 *
 * @param onState called on each change, with the cause where the store was lost
 */
export function openSharedCounter(
  url: Secret,
  own: RateLimiterMemory,
  window: Window,
  onState: (isShared: boolean, cause?: Error) => void,
): Counter {
  let isClosed = false
  let reached: boolean | undefined
  const note = (isReached: boolean, cause?: Error) => {
    if (isClosed || reached === isReached) return
    reached = isReached
    onState(isReached, cause)
  }
  const client = new Redis(url.reveal(), {
    enableOfflineQueue: false,
    maxRetriesPerRequest: 0,
    connectTimeout: RECONNECT_MS_MAX,
    commandTimeout: STORE_MS,
    // A connection that hangs is closed, so that only the first caller waits for it.
    socketTimeout: STORE_MS,
    retryStrategy: (times) => Math.min(50 * 2 ** times, RECONNECT_MS_MAX),
  })
  client.on('ready', () => note(true)).on('error', (error: Error) => note(false, error))
  client.on('close', () => note(false))
  const limiter = new RateLimiterRedis({
    ...window,
    storeClient: client,
    keyPrefix: 'svc:rate',
    rejectIfRedisNotReady: true,
    // A caller over the limit is refused without another request to the store until the window ends.
    inMemoryBlockOnConsumed: window.points,
    insuranceLimiter: own,
  })
  return {
    consume: (credential) => limiter.consume(credential),
    close() {
      isClosed = true
      client.disconnect()
    },
  }
}
