import createClient, { type Client } from 'openapi-fetch'
import { KEYED } from './registry.ts'
import type { components, paths } from './schema.ts'
import type { Opener } from './sealing.ts'
import type { CallOptions, Transport, WriteOptions } from './transport.ts'

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

  constructor(baseUrl: string, transport: Transport) {
    this.#transport = transport
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

  /** What `http` needs to know for one call. With an opener, the answer is asked for sealed. */
  call(options: WriteOptions = {}, opener?: Opener) {
    const { idempotencyKey, ...sending } = options
    return {
      headers: {
        ...(idempotencyKey !== undefined && { 'Idempotency-Key': idempotencyKey }),
        ...(opener && { Accept: 'application/jose' }),
      },
      fetch: async (request: Request) => {
        const answer = await this.#transport.send(request, sending)
        return opener ? new Response(await opener.open(await answer.text()), answer) : answer
      },
    }
  }

  /** The same for an answer that is read as it comes. */
  stream(options: CallOptions = {}) {
    return {
      parseAs: 'stream' as const,
      fetch: (request: Request) => this.#transport.send(request, { ...options, streamed: true }),
    }
  }
}

/** The payload of an answer; what is no success has been thrown. */
export const payloadOf = <P>({ data }: { readonly data?: { readonly payload: P } }): P => data!.payload

/** The query of a page: texts, without what is not asked for. */
export const pageQuery = (after: string | undefined, limit: number | undefined) => ({
  ...(after !== undefined && { after }),
  ...(limit !== undefined && { limit: String(limit) }),
})
