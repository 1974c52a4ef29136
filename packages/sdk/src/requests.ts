import { type Api, pageQuery, payloadOf, type Schemas } from './api.ts'
import { Deadline } from './deadline.ts'
import { Paged } from './pages.ts'
import type { operations } from './schema.ts'
import type { CallOptions } from './transport.ts'

/** One of your requests, as the service logged it. */
export type LoggedRequest = Schemas['LoggedRequest']
/** Which requests; all by default. `limit` is the size of a page, 50 by default. */
export type RequestFilter = Omit<
  NonNullable<operations['listRequests']['parameters']['query']>,
  'after' | 'limit'
> & { readonly limit?: number }

interface Following extends CallOptions, Omit<RequestFilter, 'from' | 'to' | 'limit'> {
  /** How many requests that are in the log already come first; none by default. */
  readonly last?: number
}

const POLL_MS = 2_000
/** Requests are logged when their responses were sent: so much later an earlier one may still appear. */
const LATE_MS = 60_000

/** Your own requests: every failure and every write, and a sample of the successful reads. */
export class Requests {
  readonly #api: Api

  constructor(api: Api) {
    this.#api = api
  }

  /** Requests, newest first. */
  list({ limit, ...filter }: RequestFilter = {}, options?: CallOptions): Paged<LoggedRequest> {
    return new Paged(async (after) => {
      const params = { query: { ...filter, ...pageQuery(after, limit) } }
      const call = this.#api.call(options)
      return payloadOf(await this.#api.http.GET('/api/v0/requests', { params, ...call }))
    })
  }

  /**
   * The requests from now on, each within seconds, for as long as you read; end it with `break` or a signal.
   *
   * @throws SvcError, ConnectionError or UnexpectedResponseError, as all calls
   */
  async *follow({
    last = 0,
    status,
    operation,
    error,
    ...options
  }: Following = {}): AsyncGenerator<LoggedRequest, void, undefined> {
    const filter = { ...(status && { status }), ...(operation && { operation }), ...(error && { error }) }
    const seen = new Map<string, number>()
    const begin = await this.list({ ...filter, limit: Math.max(1, last) }, options).take(Math.max(1, last))
    let newestMs = receivedMs(begin[0])
    for (const request of await this.#since(newestMs, filter, options))
      seen.set(request.requestId, receivedMs(request))
    yield* begin.slice(0, last).reverse()
    for (;;) {
      for (const request of await this.#since(newestMs, filter, options)) {
        if (seen.has(request.requestId)) continue
        seen.set(request.requestId, receivedMs(request))
        newestMs = Math.max(newestMs, receivedMs(request))
        yield request
      }
      for (const [id, atMs] of seen) if (atMs < newestMs - LATE_MS) seen.delete(id)
      await new Deadline(Number.POSITIVE_INFINITY, options.signal).pause(POLL_MS, 'The request log', 0)
    }
  }

  /** What is in the log since this instant, and shortly before it, oldest first. */
  async #since(atMs: number, filter: RequestFilter, options: CallOptions): Promise<LoggedRequest[]> {
    const from = new Date(Math.max(0, atMs - LATE_MS)).toISOString()
    const found: LoggedRequest[] = []
    for await (const request of this.list({ ...filter, from, limit: 500 }, options)) found.push(request)
    return found.reverse()
  }
}

const receivedMs = (request: LoggedRequest | undefined): number =>
  request ? Date.parse(request.receivedOn) : 0
