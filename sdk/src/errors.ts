import type { ErrorType, ErrorWord } from './registry.ts'

interface SvcErrorParts {
  readonly error: ErrorWord
  readonly description: string
  readonly status: number
  readonly errorType: ErrorType
  readonly requestId: string
  readonly docs: string
  readonly attempts: number
  readonly retryAfterMs: number | undefined
}

/** A failure that the service answered. Decide by `error`: the word is stable, the description is for people. */
export class SvcError extends Error {
  override readonly name = 'SvcError'
  /** What went wrong, as a stable word, such as `insufficient_funds`. */
  readonly error: ErrorWord
  /** For people: what was wrong, and what would be right. */
  readonly description: string
  /** HTTP status. */
  readonly status: number
  /** The kind of failure. */
  readonly errorType: ErrorType
  /** Quote it when you ask for help: the operator's log has it too. */
  readonly requestId: string
  /** Where the service's own reference explains failures. */
  readonly docs: string
  /** How often the request was sent. */
  readonly attempts: number
  /** How long the service asked to wait, in milliseconds; `undefined` when it did not ask. */
  readonly retryAfterMs: number | undefined

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
  }

  /**
   * Whether something that was thrown is a failure of the service, and, when words are given, one of these.
   *
   * @example catch (thrown) { if (SvcError.is(thrown, 'insufficient_funds')) await topUp(); else throw thrown }
   */
  static is<W extends ErrorWord = ErrorWord>(
    thrown: unknown,
    ...words: readonly W[]
  ): thrown is SvcError & { readonly error: W } {
    return (
      thrown instanceof SvcError &&
      (words.length === 0 || (words as readonly ErrorWord[]).includes(thrown.error))
    )
  }
}

/**
 * No whole answer came: the connection failed or took too long. Whether the request was carried out is not known; what
 * is safe to send again was sent again before this was thrown. `cause` is what the network said last.
 */
export class NoAnswerError extends Error {
  override readonly name = 'NoAnswerError'
  /** How often the request was sent. */
  readonly attempts: number

  constructor(what: string, attempts: number, cause: unknown) {
    super(`${what} got no answer after ${attempts} ${attempts === 1 ? 'attempt' : 'attempts'}`, { cause })
    this.attempts = attempts
  }
}

/** Something answered that is not the service, or not in its form: a proxy's error page, a stream that broke off. */
export class UnexpectedAnswerError extends Error {
  override readonly name = 'UnexpectedAnswerError'
  /** HTTP status. */
  readonly status: number

  constructor(status: number, what: string, options?: ErrorOptions) {
    super(what, options)
    this.status = status
  }
}

interface Envelope {
  readonly payload: string
  readonly errorResponse: { readonly requestId: string; readonly errorType: ErrorType }
}

/** The failure that an answer of 400 or more tells, by the envelope that every operation has. */
export function failureOf(
  answer: Response,
  text: string,
  attempts: number,
): SvcError | UnexpectedAnswerError {
  try {
    const { payload, errorResponse } = JSON.parse(text) as Envelope
    const { error, error_description: description } = JSON.parse(payload) as {
      error: ErrorWord
      error_description: string
    }
    const { requestId, errorType } = errorResponse
    const docs = new URL('/docs', answer.url).href
    return new SvcError({
      error,
      description,
      status: answer.status,
      errorType,
      requestId,
      docs,
      attempts,
      retryAfterMs: retryAfterMs(answer.headers),
    })
  } catch (cause) {
    const start = text.slice(0, 100)
    return new UnexpectedAnswerError(
      answer.status,
      `${answer.url} answered ${answer.status}, and not in the service's form: ${start}`,
      { cause },
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
