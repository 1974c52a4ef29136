import type { ErrorCode, ErrorType, FieldError } from './registry.ts'

interface SvcErrorParts {
  readonly error: ErrorCode
  readonly description: string
  readonly status: number
  readonly errorType: ErrorType
  readonly requestId: string
  readonly docs: string
  readonly attempts: number
  readonly retryAfterMs: number | undefined
  readonly errors: readonly FieldError[]
  readonly headers: Headers
  readonly body: string
}

/** A failure that the service returned. Handle it by `error`: that is stable, the description is for people. */
export class SvcError extends Error {
  override readonly name = 'SvcError'
  /** What went wrong, as a stable code, such as `insufficient_funds`. */
  readonly error: ErrorCode
  /** For people: what was wrong, and what would be right. */
  readonly description: string
  /** HTTP status. */
  readonly status: number
  /** The kind of failure. */
  readonly errorType: ErrorType
  /** Quote it when you ask for help: the operator's log has it too. */
  readonly requestId: string
  /** The page of the service's reference about this error code. */
  readonly docs: string
  /** How often the request was sent. */
  readonly attempts: number
  /** How long the service asked to wait, in milliseconds; `undefined` when it did not ask. */
  readonly retryAfterMs: number | undefined
  /** Of `validation_failed`: each field that breaks a rule, such as `{ pointer: '/qrName', rule: 'not_empty', … }`. */
  readonly errors: readonly FieldError[]
  /** Header fields of the response. */
  readonly headers: Headers
  /** The body of the response as it came. */
  readonly body: string

  constructor(parts: SvcErrorParts) {
    super(`${parts.error}: ${parts.description} (${parts.status}, request ${parts.requestId})`)
    this.error = parts.error
    this.description = parts.description
    this.status = parts.status
    this.errorType = parts.errorType
    this.requestId = parts.requestId
    this.docs = parts.docs
    this.attempts = parts.attempts
    this.retryAfterMs = parts.retryAfterMs
    this.errors = parts.errors
    this.headers = parts.headers
    this.body = parts.body
  }

  /**
   * Whether something that was thrown is a failure of the service, and, when codes are given, one of these.
   *
   * @example catch (thrown) { if (SvcError.is(thrown, 'insufficient_funds')) await topUp(); else throw thrown }
   */
  static is<W extends ErrorCode = ErrorCode>(
    thrown: unknown,
    ...codes: readonly W[]
  ): thrown is SvcError & { readonly error: W } {
    return (
      thrown instanceof SvcError &&
      (codes.length === 0 || (codes as readonly ErrorCode[]).includes(thrown.error))
    )
  }
}

/**
 * No whole response came: the connection failed or took too long. Whether the request was carried out is not known; what
 * is safe to send again was sent again before this was thrown. `cause` is what the network said last.
 */
export class ConnectionError extends Error {
  override readonly name = 'ConnectionError'
  /** How often the request was sent. */
  readonly attempts: number

  constructor(what: string, attempts: number, cause: unknown) {
    super(`${what} got no response after ${attempts} ${attempts === 1 ? 'attempt' : 'attempts'}`, { cause })
    this.attempts = attempts
  }
}

/**
 * The response is not the service's, or not in its form: a proxy's page, a redirect, a search that broke off. After a write,
 * whether the request was carried out is not known.
 */
export class UnexpectedResponseError extends Error {
  override readonly name = 'UnexpectedResponseError'
  /** HTTP status. */
  readonly status: number
  /** Header fields of the response. */
  readonly headers: Headers
  /** The body of the response as it came; empty of a stream and of a redirect. */
  readonly body: string
  /** How long the response asked to wait, in milliseconds; `undefined` when it did not ask. */
  readonly retryAfterMs: number | undefined

  constructor(
    { status, headers }: Pick<Response, 'status' | 'headers'>,
    what: string,
    { body = '', ...options }: ErrorOptions & { readonly body?: string } = {},
  ) {
    super(what, options)
    this.status = status
    this.headers = headers
    this.body = body
    this.retryAfterMs = retryAfterMs(headers)
  }
}

/** Whether something that was thrown is a failure of a request, and no error of a hook, of the caller or the signal's. */
export const isFailure = (thrown: unknown): thrown is SvcError | ConnectionError | UnexpectedResponseError =>
  thrown instanceof SvcError || thrown instanceof ConnectionError || thrown instanceof UnexpectedResponseError

/** The media type of failures with their fields (RFC 9457), which a client asks for by `Accept`. */
export const PROBLEM_JSON = 'application/problem+json'

interface Envelope {
  readonly payload: string
  readonly errorResponse: { readonly requestId: unknown; readonly errorType: ErrorType }
}

interface Problem {
  readonly error: unknown
  readonly detail: string
  readonly errorType: ErrorType
  readonly requestId: unknown
  readonly errors?: readonly FieldError[]
}

type FailureParts = Pick<SvcErrorParts, 'error' | 'description' | 'errorType' | 'requestId' | 'errors'>

/**
 * Reads problem details, or the specified envelope of a server that has no others.
 *
 * @throws TypeError or SyntaxError when it is neither, such as the JSON of a gateway
 */
function readFailure(text: string): FailureParts {
  const body = JSON.parse(text) as Partial<Problem> & Envelope
  if (body.detail !== undefined) {
    const { error, detail, errorType, requestId, errors = [] } = body as Problem
    return { ...identified(error, requestId), description: detail, errorType, errors }
  }
  const { error, error_description: description } = JSON.parse(body.payload) as {
    error: unknown
    error_description: string
  }
  const { requestId, errorType } = body.errorResponse
  return { ...identified(error, requestId), description, errorType, errors: [] }
}

/** What every failure of the service has. */
function identified(error: unknown, requestId: unknown): Pick<FailureParts, 'error' | 'requestId'> {
  if (typeof error !== 'string' || typeof requestId !== 'string')
    throw new TypeError('the body has no error code and request id')
  return { error: error as ErrorCode, requestId }
}

/** The failure that a response of 400 or more reports. */
export function failureOf(
  response: Response,
  text: string,
  attempts: number,
  docs: string,
): SvcError | UnexpectedResponseError {
  try {
    const failure = readFailure(text)
    return new SvcError({
      ...failure,
      status: response.status,
      docs: `${docs}#${failure.error}`,
      attempts,
      retryAfterMs: retryAfterMs(response.headers),
      headers: response.headers,
      body: text,
    })
  } catch (cause) {
    return unexpectedBody(response, text, cause)
  }
}

/** Of a response whose body is not what the service sends. */
export const unexpectedBody = (response: Response, body: string, cause?: unknown): UnexpectedResponseError =>
  new UnexpectedResponseError(
    response,
    `${response.url} returned ${response.status}, and not in the service's form: ${body.slice(0, 100)}`,
    { cause, body },
  )

/**
 * The body of a success, once it is known to be the service's.
 *
 * @throws UnexpectedResponseError when it is no JSON, or `isWhole` finds a part of it missing
 */
export async function readJson<T>(
  response: Response,
  isWhole: (body: { readonly [K in keyof T]?: unknown }) => boolean,
): Promise<T> {
  const text = await response.text()
  let body: T | null
  try {
    body = JSON.parse(text) as T | null
  } catch (cause) {
    throw unexpectedBody(response, text, cause)
  }
  // What has no fields has none that are missing, but for `null`.
  if (body === null || !isWhole(body)) throw unexpectedBody(response, text)
  return body
}

/** RFC 9110 section 10.2.3: seconds, or a date. */
export function retryAfterMs(headers: Headers, nowMs = Date.now()): number | undefined {
  const value = headers.get('retry-after')
  if (value === null) return undefined
  const ms = /^\d+$/.test(value) ? Number(value) * 1_000 : Date.parse(value) - nowMs
  return Number.isFinite(ms) ? Math.max(0, ms) : undefined
}
