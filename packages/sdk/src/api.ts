import createClient, { type Client } from 'openapi-fetch'
import { urlOf } from './base-url.ts'
import type { Deadline } from './deadline.ts'
import type { Opener } from './encryption.ts'
import { KEYED } from './registry.ts'
import type { components, paths } from './schema.ts'
import type { CallOptions, ReadOptions, Transport, WriteOptions } from './transport.ts'

/** The records of the OpenAPI document, by name. */
export type Schemas = components['schemas']

/** The operations of one caller: typed by the OpenAPI document, sent by the transport. */
export class Api {
  /**
   * Every operation by method and path, for what has no method of its own. Failures are thrown, so `data` is there:
   * `(await merchant.api.http.GET('/api/v0/events')).data`
   */
  readonly http: Client<paths>
  readonly #transport: Transport

  constructor(transport: Transport) {
    this.#transport = transport
    const { baseUrl } = transport
    this.http = createClient<paths>({ baseUrl, fetch: (request: Request) => transport.send(request) })
    this.http.use({
      onRequest({ request, schemaPath }) {
        const { headers, method } = request
        if (KEYED.has(`${method} ${schemaPath}`) && !headers.has('idempotency-key'))
          headers.set('idempotency-key', crypto.randomUUID())
        return request
      },
    })
  }

  /**
   * Sends any request, also to an operation that this version does not know, with the same token and retries. Header
   * fields are sent as given, also `Idempotency-Key`, without which a POST is not sent twice. `streamed` hands the body
   * on as it comes.
   *
   * @throws SvcError, ConnectionError or UnexpectedResponseError, as all calls
   */
  fetch(
    path: `/${string}`,
    init: RequestInit = {},
    options: CallOptions & { readonly streamed?: boolean } = {},
  ): Promise<Response> {
    const { attemptsMax, deadlineMs, headers, onResponse, streamed = false, timeoutMs } = options
    const deadline = this.#transport.deadline(options.signal ?? init.signal ?? undefined, deadlineMs)
    const request = new Request(urlOf(this.#transport.baseUrl, path), init)
    for (const [name, value] of Object.entries(headers ?? {})) request.headers.set(name, value)
    const sending = { attemptsMax, deadline, onResponse, streamed, timeoutMs, asGiven: true }
    return this.#transport.send(request, sending)
  }

  /** Gets a token now, so that a program with wrong credentials fails when it starts, not with its first call. */
  async authenticate(options: CallOptions = {}): Promise<void> {
    await this.#transport.authenticate(this.deadline(options))
  }

  /** The end of a call that begins now; for calls that send several requests. */
  deadline({ signal, deadlineMs }: CallOptions): Deadline {
    return this.#transport.deadline(signal, deadlineMs)
  }

  /** What `http` needs to know for one call. With a decrypter, an encrypted response is requested. */
  call(options: WriteOptions = {}, opener?: Opener, deadline = this.deadline(options)) {
    const { idempotencyKey, timeoutMs, attemptsMax, onResponse } = options
    return {
      headers: {
        ...options.headers,
        ...(idempotencyKey !== undefined && { 'Idempotency-Key': idempotencyKey }),
        ...(opener && { Accept: 'application/jose' }),
      },
      fetch: async (request: Request): Promise<Response> => {
        const response = await this.#transport.send(request, { timeoutMs, deadline, attemptsMax, onResponse })
        return opener ? new Response(await opener.open(await response.text()), response) : response
      },
    }
  }

  /** The same for a response that is read as it comes. */
  stream(options: CallOptions = {}, headers: Readonly<Record<string, string>> = {}) {
    const deadline = this.deadline(options)
    const { attemptsMax, onResponse, timeoutMs } = options
    const sending = { timeoutMs, attemptsMax, onResponse, deadline, streamed: true }
    return {
      parseAs: 'stream' as const,
      headers: { ...options.headers, ...headers },
      fetch: (request: Request): Promise<Response> => this.#transport.send(request, sending),
    }
  }
}

/** The payload of a response; what is no success has been thrown. */
export const payloadOf = <P>({ data }: { readonly data?: { readonly payload: P } }): P => data!.payload

/** The query of a read of the past; empty for now. */
export const pastQuery = ({ asOf }: ReadOptions = {}) => (asOf ? { asOf: asOf.toISOString() } : {})

/** The query of a page: texts, without what is not asked for. */
export const pageQuery = (after: string | undefined, limit: number | undefined) => ({
  ...(after !== undefined && { after }),
  ...(limit !== undefined && { limit }),
})
