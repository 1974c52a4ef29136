import type { HttpResponse } from './exchange.ts'

/** The server breaks the promise. `answer` is the one that shows it. */
export class Violation extends Error {
  override name = 'Violation'
  readonly expected: string
  readonly received: string
  readonly response: HttpResponse | undefined

  constructor(expected: string, received: string, response?: HttpResponse) {
    super(`expected ${expected}, received ${received}`)
    this.expected = expected
    this.received = received
    this.response = response
  }
}

/** What the check needs first did not work; another check says what is wrong there. */
export class Blocked extends Error {
  override name = 'Blocked'
}

/** The check cannot be made of this server with these credentials. */
export class Skipped extends Error {
  override name = 'Skipped'
}
