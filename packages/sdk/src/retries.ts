import { SvcError, UnexpectedResponseError } from './errors.ts'

/** The first wait before sending again; doubled each time, and shortened by chance so that callers do not march in step. */
const FIRST_WAIT_MS = 250
const WAIT_MS_MAX = 8_000
/** The service did not begin with these, so that anything may be sent again. */
const NOT_BEGUN = new Set([408, 429])
const MAY_HAVE_BEGUN = new Set([500, 502, 503, 504])

/** Whether the same request may be sent again after this failure without anything happening twice. */
export function canRetry(request: Request, failure: Error): boolean {
  const status =
    failure instanceof SvcError || failure instanceof UnexpectedResponseError ? failure.status : undefined
  if (status !== undefined && NOT_BEGUN.has(status)) return true
  return isRepeatable(request) && (status === undefined || MAY_HAVE_BEGUN.has(status))
}

/** Reads, the service's idempotent writes, and whatever has a key. */
function isRepeatable({ method, url, headers }: Request): boolean {
  return (
    method !== 'POST' || headers.has('idempotency-key') || /\/(search|token)$/.test(new URL(url).pathname)
  )
}

/** The response's `Retry-After`, else twice as long each time, less up to a half. */
export function waitBefore(attempts: number, failure: Error): number {
  const backoffMs = Math.min(WAIT_MS_MAX, FIRST_WAIT_MS * 2 ** (attempts - 1)) * (0.5 + Math.random() / 2)
  return Math.max(backoffMs, retryAfterOf(failure) ?? 0)
}

/** The `Retry-After` of a response, in milliseconds. */
export const retryAfterOf = (failure: Error): number | undefined =>
  failure instanceof SvcError || failure instanceof UnexpectedResponseError ? failure.retryAfterMs : undefined
