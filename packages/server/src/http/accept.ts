import Negotiator from 'negotiator'
import { PROBLEM_JSON } from './failure-body.ts'

type Headers = Readonly<Record<string, string | string[] | undefined>>

/**
 * The media type that a caller prefers among those that a response can have, by weight, then as named, then in the order of
 * `Accept` (RFC 9110 section 12.5.1). The first one where the caller has no preference, or accepts none of them.
 */
export function preferredType<T extends string>(headers: Headers, types: readonly [T, ...T[]]): T {
  const accept = headers['accept']?.toString()
  const [preferred] = new Negotiator({ headers: { accept } }).mediaTypes([...types])
  return (preferred as T | undefined) ?? types[0]
}

/** Whether a failure is to be RFC 9457 problem details (decision F6). */
export const prefersProblem = (headers: Headers): boolean =>
  preferredType(headers, ['application/json', PROBLEM_JSON]) === PROBLEM_JSON
