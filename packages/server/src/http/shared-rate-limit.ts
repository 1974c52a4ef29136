import type { Secret } from '@svc/kernel/secret'
import { Redis, ReplyError } from 'ioredis'
import { type RateLimiterMemory, RateLimiterRedis, RateLimiterRes } from 'rate-limiter-flexible'

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
/** After a failover the connection may lead to what has become a replica. Redis before version 7 puts more in front. */
const IS_REPLICA = /\bREADONLY\b/
/** No credential has this id. */
const PROBE = 'probe'

function openClient(url: Secret): Redis {
  let reconnectedAtMs = Number.NEGATIVE_INFINITY
  const reconnectOnError = ({ message }: Error) => {
    const nowMs = performance.now()
    if (!IS_REPLICA.test(message) || nowMs - reconnectedAtMs < RECONNECT_MS_MAX) return false
    reconnectedAtMs = nowMs
    return true
  }
  return new Redis(url.reveal(), {
    enableOfflineQueue: false,
    maxRetriesPerRequest: 0,
    connectTimeout: RECONNECT_MS_MAX,
    commandTimeout: STORE_MS,
    // A connection that hangs is closed, so that only the first caller waits for it.
    socketTimeout: STORE_MS,
    retryStrategy: (times) => Math.min(50 * 2 ** times, RECONNECT_MS_MAX),
    reconnectOnError,
  })
}

/**
 * Counts in Redis or Valkey for all processes; while the store is unreachable or rejects commands, each process counts
 * for itself.
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
  const client = openClient(url)
  const limiter = new RateLimiterRedis({
    ...window,
    storeClient: client,
    keyPrefix: 'svc:rate',
    rejectIfRedisNotReady: true,
    // A caller over the limit is refused without another request to the store until the window ends.
    inMemoryBlockOnConsumed: window.points,
  })
  const count = async (key: string, points: number): Promise<RateLimiterRes> => {
    try {
      const left = await limiter.consume(key, points)
      note(true)
      return left
    } catch (error) {
      // Without a connection, the events of the client say why.
      if (error instanceof Error && (error instanceof ReplyError || client.status === 'ready'))
        note(false, error)
      throw error
    }
  }
  // Connected is not writable: a replica, a full store or a login without rights rejects the command.
  client.on('ready', () => void count(PROBE, 0).catch(() => undefined))
  client.on('error', (error: Error) => note(false, error)).on('close', () => note(false))
  return {
    consume: (credential) =>
      count(credential, 1).catch((error: unknown) => {
        if (error instanceof RateLimiterRes) throw error
        return own.consume(credential)
      }),
    close() {
      isClosed = true
      client.disconnect()
    },
  }
}
