import type { Failure } from '../../errors.ts'
import { plainTimestamp } from '../../kernel/time.ts'

/**
 * Which of the specification's success envelopes an operation has; its failures carry the same fields (decision F1).
 * `problem` is none of the specification's: the console's own, whose failures are always RFC 9457.
 */
export type Family = 'response_code' | 'code' | 'result_code' | 'oauth' | 'bare' | 'problem'

export const PROBLEM_JSON = 'application/problem+json'

interface FailureContext {
  readonly family: Family
  readonly requestId: string
  readonly now: Date
  readonly timeZone: string
}

/** The failure envelope of spec section 2.2, with the fields of the operation's own success envelope beside it. */
export function failureBody(failure: Failure, { family, requestId, now, timeZone }: FailureContext): string {
  const text = JSON.stringify({ error: failure.word, error_description: failure.description })
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
    ...familyFields(family, failure),
  })
}

function familyFields(family: Family, failure: Failure): Record<string, unknown> {
  switch (family) {
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
const oauthError = ({ word, status }: Failure): string =>
  OAUTH_ERRORS.has(word) || status === 429 || status >= 500 ? word : 'invalid_request'

/** RFC 9457, for callers that ask for it (decision F6). */
export function problemBody(failure: Failure, requestId: string): string {
  return JSON.stringify({
    type: failure.word,
    title: failure.word.replaceAll('_', ' ').replace(/^./, (first) => first.toUpperCase()),
    status: failure.status,
    detail: failure.description,
    requestId,
  })
}
