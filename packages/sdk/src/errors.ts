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

/** A failure that the service returned. Decide by `error`: the word is stable, the description is for people. */
export class SvcError extends Error {
  override readonly name = 'SvcError'
  /** What went wrong, as a stable word, such as `insufficient_funds`. */
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
   * Whether something that was thrown is a failure of the service, and, when words are given, one of these.
   *
   * @example catch (thrown) { if (SvcError.is(thrown, 'insufficient_funds')) await topUp(); else throw thrown }
   */
  static is<W extends ErrorCode = ErrorCode>(
    thrown: unknown,
    ...words: readonly W[]
  ): thrown is SvcError & { readonly error: W } {
    return (
      thrown instanceof SvcError &&
      (words.length === 0 || (words as readonly ErrorCode[]).includes(thrown.error))
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

/** The response is not the service's, or not in its form: a proxy's error page, a stream that broke off. */
export class UnexpectedResponseError extends Error {
  override readonly name = 'UnexpectedResponseError'
  /** HTTP status. */
  readonly status: number
  /** Header fields of the response. */
  readonly headers: Headers
  /** The body of a response of 400 or more as it came, otherwise empty. */
  readonly body: string

  constructor(
    { status, headers }: Pick<Response, 'status' | 'headers'>,
    what: string,
    { body = '', ...options }: ErrorOptions & { readonly body?: string } = {},
  ) {
    super(what, options)
    this.status = status
    this.headers = headers
    this.body = body
  }
}

/** The media type of failures with their fields (RFC 9457), which a client asks for by `Accept`. */
export const PROBLEM_JSON = 'application/problem+json'

interface Envelope {
  readonly payload: string
  readonly errorResponse: { readonly requestId: string; readonly errorType: ErrorType }
}

interface Problem {
  readonly error: ErrorCode
  readonly detail: string
  readonly errorType: ErrorType
  readonly requestId: string
  readonly errors?: readonly FieldError[]
}

type FailureParts = Pick<SvcErrorParts, 'error' | 'description' | 'errorType' | 'requestId' | 'errors'>

/** Reads problem details, or the specified envelope of a server that has no others. */
function readFailure(text: string): FailureParts {
  const body = JSON.parse(text) as Partial<Problem> & Envelope
  if (body.detail !== undefined) {
    const { error, detail, errorType, requestId, errors = [] } = body as Problem
    return { error, description: detail, errorType, requestId, errors }
  }
  const { error, error_description: description } = JSON.parse(body.payload) as {
    error: ErrorCode
    error_description: string
  }
  const { requestId, errorType } = body.errorResponse
  return { error, description, errorType, requestId, errors: [] }
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
    const start = text.slice(0, 100)
    return new UnexpectedResponseError(
      response,
      `${response.url} answered ${response.status}, and not in the service's form: ${start}`,
      { cause, body: text },
    )
  }
}

/** RFC 9110 section 10.2.3: seconds, or a date. */
export function retryAfterMs(headers: Headers, nowMs = Date.now()): number | undefined {
  const value = headers.get('retry-after')
  if (value === null) return undefined
  const ms = /^\d+$/.test(value) ? Number(value) * 1_000 : Date.parse(value) - nowMs
  return Number.isFinite(ms) ? Math.max(0, ms) : undefined
}
