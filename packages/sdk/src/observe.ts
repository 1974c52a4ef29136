/** Where a client says what it does, such as `console`. Bodies, header fields, keys and tokens are never given to it. */
export interface Logger {
  debug(message: string): void
  warn(message: string): void
}

/** A request that is about to be sent. */
export interface RequestInfo {
  readonly method: string
  readonly url: string
  /** 1 for the first time. */
  readonly attempt: number
}

/** How many requests may be sent in a window. */
export interface RateLimit {
  /** How many in the whole window; `undefined` where the service does not say. */
  readonly limit: number | undefined
  readonly remaining: number
  readonly resetSeconds: number
}

/** What came back besides the record. */
export interface ResponseInfo extends RequestInfo {
  /** HTTP status. */
  readonly status: number
  /** Quote it when you ask for help: the operator's log has it too. */
  readonly requestId: string | undefined
  /** `undefined` where the service has no rate limit. */
  readonly rateLimit: RateLimit | undefined
  readonly headers: Headers
  /** From sending to the end of the response; of a stream, to its beginning. */
  readonly durationMs: number
}

/** A request that is sent again. */
export interface RetryInfo extends RequestInfo {
  /** Why, and how long the client waits before. */
  readonly failure: Error
  readonly waitMs: number
}

/** What a client reports; what these throw ends the call. */
export interface Hooks {
  readonly onRequest?: (request: RequestInfo) => void
  /** Each response of the service, also those that report an error. */
  readonly onResponse?: (response: ResponseInfo) => void
  readonly onRetry?: (retry: RetryInfo) => void
}

/** RFC 9110 has no rate limits; these are the fields of the IETF draft, such as `"credential";r=998;t=1`. */
function rateLimitOf(headers: Headers): RateLimit | undefined {
  const [, remaining, reset] = /;r=(\d{1,15});t=(\d{1,15})/.exec(headers.get('ratelimit') ?? '') ?? []
  const [, limit] = /;q=(\d{1,15})/.exec(headers.get('ratelimit-policy') ?? '') ?? []
  if (remaining === undefined || reset === undefined) return undefined
  return {
    limit: limit === undefined ? undefined : Number(limit),
    remaining: Number(remaining),
    resetSeconds: Number(reset),
  }
}

export const responseInfo = (
  request: RequestInfo,
  { status, headers }: Response,
  durationMs: number,
): ResponseInfo => ({
  ...request,
  status,
  requestId: headers.get('x-request-id') ?? undefined,
  rateLimit: rateLimitOf(headers),
  headers,
  durationMs,
})

/** The hooks of a client, and what its logger is given of the same. */
export class Observer {
  readonly #hooks: Hooks
  readonly #logger: Logger | undefined

  constructor(hooks: Hooks, logger: Logger | undefined) {
    this.#hooks = hooks
    this.#logger = logger
  }

  request(request: RequestInfo): void {
    this.#hooks.onRequest?.(request)
  }

  response(response: ResponseInfo): void {
    const { method, url, status, requestId = 'without an id', durationMs } = response
    this.#logger?.debug(`${method} ${url} ${status} ${requestId} ${Math.round(durationMs)} ms`)
    this.#hooks.onResponse?.(response)
  }

  retry(retry: RetryInfo): void {
    const { method, url, attempt, waitMs, failure } = retry
    this.#logger?.warn(
      `${method} ${url} is sent again in ${Math.round(waitMs)} ms, attempt ${attempt}: ${failure.message}`,
    )
    this.#hooks.onRetry?.(retry)
  }
}
