/** A response of the service that is a failure, or no response at all. */
export class CallFailed extends Error {
  override name = 'CallFailed'
  /** 0 when the service was not reached. */
  readonly status: number
  /** The stable code, such as `card_not_found`. */
  readonly code: string
  readonly requestId: string | undefined
  /** What is wrong with each field, by the name of the field. */
  readonly fields: Readonly<Record<string, string>>

  constructor(
    status: number,
    code: string,
    message: string,
    requestId?: string,
    fields: CallFailed['fields'] = {},
  ) {
    super(message)
    this.status = status
    this.code = code
    this.requestId = requestId
    this.fields = fields
  }
}

const NOT_REACHED = 'not_reached'

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

/** What `fetch` throws, by browser. */
const isLost = (error: unknown): boolean =>
  error instanceof TypeError && /fetch|network|load/i.test(error.message)

const ONCE =
  'No response arrived, so it is unknown whether this was done. Try again: it is done once, however often it is sent from here with the same values, even after a reload.'
const UNKNOWN =
  'No response arrived, so it is unknown whether this was done. Check that before you try again.'

/** They change nothing that a person has to look for afterwards. */
const HARMLESS = /\/api\/v0\/(?:session|link|invitation)$|\/search$/

/** Of a change: what a person is to know when its response does not arrive. */
export const outcomeOf = ({ headers }: Request): CallFailed =>
  new CallFailed(0, NOT_REACHED, headers.has('idempotency-key') ? ONCE : UNKNOWN)

const mayHaveChanged = ({ method, url }: Request): boolean =>
  method !== 'GET' && !HARMLESS.test(new URL(url).pathname)

/** The failure of a request that got no response. */
export const withoutResponse = (request: Request, error: unknown): unknown =>
  isLost(error) && mayHaveChanged(request) ? outcomeOf(request) : error

/** Statuses of proxies that cannot reach the service behind them. */
export const isUnreachable = ({ status }: Response): boolean => status === 502 || status === 504

/** Throws where a proxy reports that the response of a change has not reached it. */
export function requireOutcome(request: Request, response: Response): void {
  if (isUnreachable(response) && mayHaveChanged(request)) throw outcomeOf(request)
}

export function asCallFailed(error: unknown): CallFailed {
  if (error instanceof CallFailed) return error
  if (isLost(error))
    return new CallFailed(0, NOT_REACHED, 'The service cannot be reached. Is it running, and are you online?')
  return new CallFailed(0, 'page_fault', error instanceof Error ? error.message : String(error))
}
