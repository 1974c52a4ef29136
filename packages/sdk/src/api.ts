import createClient, { type Client } from 'openapi-fetch'
import { urlOf } from './base-url.ts'
import type { Deadline } from './deadline.ts'
import type { ResponseDecrypter } from './encryption.ts'
import { UnexpectedResponseError, unexpectedBody } from './errors.ts'
import { KEYED } from './registry.ts'
import { hasType, withBody } from './response-body.ts'
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
        const isKeyed = KEYED.has(`${method} ${schemaPath}`)
        if (isKeyed && !headers.has('idempotency-key')) headers.set('idempotency-key', crypto.randomUUID())
        // The service would ignore it, and what has a key is sent again.
        if (!isKeyed) headers.delete('idempotency-key')
        return request
      },
      async onResponse({ response, request, options: { parseAs } }) {
        const isEmpty = request.method === 'HEAD' || response.status === 204
        return parseAs === 'json' && response.ok && !isEmpty ? readJsonText(response) : undefined
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
    const { maxRetries, deadlineMs, headers, onResponse, streamed = false, timeoutMs } = options
    const deadline = this.#transport.deadline(options.signal ?? init.signal ?? undefined, deadlineMs)
    const request = new Request(urlOf(this.#transport.baseUrl, path), init)
    for (const [name, value] of Object.entries(headers ?? {})) request.headers.set(name, value)
    const sending = { maxRetries, deadline, onResponse, streamed, timeoutMs, asGiven: true }
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
  call(options: WriteOptions = {}, decrypter?: ResponseDecrypter, deadline = this.deadline(options)) {
    const { idempotencyKey, timeoutMs, maxRetries, onResponse } = options
    return {
      headers: {
        ...options.headers,
        ...(idempotencyKey !== undefined && { 'Idempotency-Key': idempotencyKey }),
        ...(decrypter && { Accept: 'application/jose' }),
      },
      fetch: async (request: Request): Promise<Response> => {
        const response = await this.#transport.send(request, { timeoutMs, deadline, maxRetries, onResponse })
        return decrypter ? decrypted(response, decrypter) : response
      },
    }
  }

  /** The same for a response that is a file of this media type. */
  file(mediaType: string, options?: CallOptions) {
    const { fetch: send, ...call } = this.call(options)
    return {
      ...call,
      parseAs: 'arrayBuffer' as const,
      fetch: async (request: Request) => requireType(await send(request), mediaType),
    }
  }

  /** The same for a response of this media type that is read as it comes. */
  stream(mediaType: string, options: CallOptions = {}, headers: Readonly<Record<string, string>> = {}) {
    const deadline = this.deadline(options)
    const { maxRetries, onResponse, timeoutMs } = options
    const sending = { timeoutMs, maxRetries, onResponse, deadline, streamed: mediaType }
    return {
      parseAs: 'stream' as const,
      headers: { ...options.headers, ...headers },
      fetch: async (request: Request) => requireType(await this.#transport.send(request, sending), mediaType),
    }
  }
}

/** @throws UnexpectedResponseError when the response is of another media type, such as a proxy's page. */
async function requireType(response: Response, mediaType: string): Promise<Response> {
  if (hasType(response, mediaType)) return response
  throw unexpectedBody(response, await response.text())
}

/** @throws UnexpectedResponseError when the response is not encrypted to this key. */
async function decrypted(response: Response, decrypter: ResponseDecrypter): Promise<Response> {
  const body = await response.text()
  try {
    return withBody(response, await decrypter.decrypt(body))
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause)
    const what = `${response.url} returned ${response.status}, which cannot be decrypted: ${why}`
    throw new UnexpectedResponseError(response, what, { cause, body })
  }
}

/** A response whose text has been read and is JSON. */
interface JsonResponse extends Response {
  readonly raw: string
}

async function readJsonText(response: Response): Promise<JsonResponse> {
  const raw = await response.text()
  try {
    JSON.parse(raw)
  } catch (cause) {
    throw unexpectedBody(response, raw, cause)
  }
  return Object.assign(withBody(response, raw), { raw })
}

interface Parsed<P> {
  readonly data?: { readonly payload: P }
  readonly response: Response
}

/**
 * The payload of a response; what is no success has been thrown.
 *
 * @throws UnexpectedResponseError when there is none, such as in the JSON of a proxy
 */
export function payloadOf<P>({ data, response }: Parsed<P>): P {
  if (data?.payload === undefined) throw unexpectedBody(response, textOf(response))
  return data.payload
}

/** The text of a response that `http` has read as JSON. */
export const textOf = (response: Response): string => (response as Partial<JsonResponse>).raw ?? ''

/** The query of a read of the past; empty for now. */
export const pastQuery = ({ asOf }: ReadOptions = {}) => (asOf ? { asOf: asOf.toISOString() } : {})

/** The query of a page: texts, without undefined values. */
export const pageQuery = (after: string | undefined, limit: number | undefined) => ({
  ...(after !== undefined && { after }),
  ...(limit !== undefined && { limit }),
})
