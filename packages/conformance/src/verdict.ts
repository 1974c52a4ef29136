import type { HttpResponse } from './exchange.ts'

/** What part of a response a violation is about, so that failures with one cause can be grouped. */
export type About =
  /** Another status than these. */
  | { readonly is: 'status'; readonly wanted: readonly number[] }
  /** No response at all. */
  | { readonly is: 'silence' }
  /** The body is not JSON, or not said to be. */
  | { readonly is: 'format' }
  /** The request should have been refused. */
  | { readonly is: 'accepted' }
  /** Fields that are missing, not documented, of another type or of another value. */
  | {
      readonly is: 'fields'
      readonly paths: readonly string[]
      readonly problem: 'missing' | 'extra' | 'value'
    }
  | { readonly is: 'other' }

/** The server breaks the promise. `response` is the one that shows it. */
export class Violation extends Error {
  override name = 'Violation'
  readonly expected: string
  readonly received: string
  readonly response: HttpResponse | undefined
  readonly about: About

  constructor(expected: string, received: string, response?: HttpResponse, about: About = { is: 'other' }) {
    super(`expected ${expected}, received ${received}`)
    this.expected = expected
    this.received = received
    this.response = response
    this.about = about
  }
}

/** What the check needs first did not work; another check says what is wrong there. `cause` is that `Violation`. */
export class Blocked extends Error {
  override name = 'Blocked'
}

/** The check cannot be made of this server with these credentials. */
export class Skipped extends Error {
  override name = 'Skipped'
}

/** A response with status 200 and this field was needed; `reason` says for what. */
export function block(response: HttpResponse, path: string, reason: string): never {
  const isRefused = response.status !== 200
  const about: About = isRefused
    ? { is: 'status', wanted: [200] }
    : { is: 'fields', paths: [path], problem: 'missing' }
  const [expected, received] = isRefused ? ['status 200', `${response.status}`] : [`${path}: text`, 'none']
  throw new Blocked(`${reason}${isRefused ? '' : ` without ${path}`}`, {
    cause: new Violation(expected, received, response, about),
  })
}
