/** A response of the service that is a failure, or no response at all. */
export class CallFailed extends Error {
  override name = 'CallFailed'
  /** 0 when the service was not reached. */
  readonly status: number
  /** The stable word, such as `card_not_found`. */
  readonly word: string
  readonly requestId: string | undefined
  /** What is wrong with each field, by the name of the field. */
  readonly fields: Readonly<Record<string, string>>

  constructor(
    status: number,
    word: string,
    message: string,
    requestId?: string,
    fields: CallFailed['fields'] = {},
  ) {
    super(message)
    this.status = status
    this.word = word
    this.requestId = requestId
    this.fields = fields
  }
}

/** Failures of the console's own operations are problem details (RFC 9457), whose `error` says what went wrong. */
interface Problem {
  readonly error?: string
  readonly title?: string
  readonly detail?: string
  readonly requestId?: string
  readonly errors?: readonly { readonly pointer: string; readonly message: string }[]
}

export function readFailure(response: Response, body: unknown): CallFailed {
  const {
    error,
    title,
    detail,
    requestId,
    errors = [],
  }: Problem = typeof body === 'object' && body !== null ? body : {}
  return new CallFailed(
    response.status,
    error ?? 'unexpected_answer',
    detail ?? title ?? `The service returned status ${response.status}.`,
    requestId ?? response.headers.get('x-request-id') ?? undefined,
    Object.fromEntries(errors.map(({ pointer, message }) => [pointer.slice(1), message])),
  )
}

export function asCallFailed(error: unknown): CallFailed {
  if (error instanceof CallFailed) return error
  if (error instanceof TypeError && /fetch|network|load/i.test(error.message))
    return new CallFailed(
      0,
      'not_reached',
      'The service cannot be reached. Is it running, and are you online?',
    )
  return new CallFailed(0, 'page_fault', error instanceof Error ? error.message : String(error))
}
