import type { Failure } from '@svc/contract/errors'
import { plainTimestamp } from '@svc/kernel/time'

/**
 * Which of the specification's success envelopes an operation has; its failures carry the same fields (decision F1).
 * `problem` is none of the specification's: the console's own, whose failures are always RFC 9457.
 */
export type Envelope = 'response_code' | 'code' | 'result_code' | 'oauth' | 'bare' | 'problem'

export const PROBLEM_JSON = 'application/problem+json'

interface FailureContext {
  readonly envelope: Envelope
  readonly requestId: string
  readonly now: Date
  readonly timeZone: string
}

/** The failure envelope of spec section 2.2, with the fields of the operation's own success envelope beside it. */
export function failureBody(
  failure: Failure,
  { envelope: kind, requestId, now, timeZone }: FailureContext,
): string {
  const text = JSON.stringify({ error: failure.code, error_description: failure.description })
  return JSON.stringify({
    payload: text,
    errorResponse: {
      timestamp: plainTimestamp(now, timeZone),
      requestId,
      errorType: failure.errorType,
      errorMessage: text,
    },
    response_code: 1,
    response_message: 'Failure',
    ...envelopeFields(kind, failure),
  })
}

function envelopeFields(envelope: Envelope, failure: Failure): Record<string, unknown> {
  switch (envelope) {
    case 'code':
      return { code: 1, message: 'Failure' }
    case 'result_code':
      return { resultCode: 1, resultMessage: failure.description }
    case 'oauth':
      return { error: oauthError(failure), error_description: failure.description }
    case 'response_code':
    case 'bare':
    case 'problem':
      return {}
  }
}

const OAUTH_ERRORS = new Set<string>([
  'invalid_request',
  'invalid_client',
  'unsupported_grant_type',
  'invalid_scope',
])

/** RFC 6749 section 5.2 knows few words: whatever else is wrong with a request is `invalid_request` to its client. */
const oauthError = ({ code, status }: Failure): string =>
  OAUTH_ERRORS.has(code) || status === 429 || status >= 500 ? code : 'invalid_request'

/** The page of the reference about an error code. */
const helpUrl = ({ code }: Failure, publicUrl: string): string => `${publicUrl}/docs/errors#${code}`

/** RFC 8288: `Link` of every failure. */
export const helpLink = (failure: Failure, publicUrl: string): string =>
  `<${helpUrl(failure, publicUrl)}>; rel="help"`

/** RFC 9457, for callers that accept it (decision F6). `type` is the page of the reference about the error code. */
export function problemBody(failure: Failure, requestId: string, publicUrl: string): string {
  return JSON.stringify({
    type: helpUrl(failure, publicUrl),
    error: failure.code,
    title: failure.code.replaceAll('_', ' ').replace(/^./, (first) => first.toUpperCase()),
    status: failure.status,
    detail: failure.description,
    errorType: failure.errorType,
    requestId,
    ...(failure.errors.length > 0 && { errors: failure.errors }),
  })
}
