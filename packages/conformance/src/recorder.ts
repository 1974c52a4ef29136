import type { HttpResponse, Request } from './exchange.ts'

/** A request of a check and its response, in the order in which the check sent them. */
export interface Exchange {
  readonly checkId: string
  readonly request: Request
  response?: HttpResponse
}

/** Keeps every exchange with the check that caused it. Checks must run one after the other. */
export class Recorder {
  readonly exchanges: Exchange[] = []
  #checkId: string | undefined

  /** What follows belongs to this check; to none where it is undefined. */
  enter(checkId: string | undefined): void {
    this.#checkId = checkId
  }

  /** Notes a request when it is sent; the result accepts its response. */
  sent(request: Request): (response: HttpResponse) => void {
    if (this.#checkId === undefined) return () => undefined
    const exchange: Exchange = { checkId: this.#checkId, request }
    this.exchanges.push(exchange)
    return (response) => void (exchange.response = response)
  }
}
