import type { Failure } from '@svc/contract/errors'
import type { FastifyRequest } from 'fastify'

const OF_THE_CONSOLE: ReadonlySet<string> = new Set([
  'not_signed_in',
  'wrong_password',
  'single_sign_on_failed',
  'passkey_refused',
])

/** RFC 6750 section 3: the error is named only when credentials were sent. */
export function challenge(failure: Failure, request: FastifyRequest): string {
  // A scheme that browsers do not know, so that they do not ask for a password themselves.
  if (OF_THE_CONSOLE.has(failure.code)) return 'Session realm="svc console"'
  const sent = failure.code === 'invalid_token' && request.headers.authorization !== undefined
  return `Bearer realm="svc"${sent ? `, error="invalid_token", error_description="${failure.description}"` : ''}`
}
