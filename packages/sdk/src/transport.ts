import { type BaseUrl, readBaseUrl, urlOf } from './base-url.ts'
import { AttemptLimit, Deadline } from './deadline.ts'
import { ConnectionError, failureOf, PROBLEM_JSON, SvcError, UnexpectedResponseError } from './errors.ts'
import { type Hooks, type Logger, Observer, type ResponseInfo, responseInfo } from './observe.ts'
import type { Issued, TokenKeeper } from './tokens.ts'
import { USER_AGENT } from './version.ts'

/** Where requests are sent, and how; everything but the address has a default. */
export interface TransportOptions extends Hooks {
  /** Where the service is, such as `https://pay.example.com`, or `https://gateway.example.com/payments` under a path. */
  readonly baseUrl: string
  /** How long one attempt may take, in milliseconds; 15,000 by default. */
  readonly timeoutMs?: number
  /**
   * How long a call may take with all its attempts, tokens, keys and waits, in milliseconds; 60,000 by default. For
   * streams: until each connection begins.
   */
  readonly deadlineMs?: number
  /** How often a request is sent at most, when it is safe to send it again; 5 by default, 1 for never again. */
  readonly attemptsMax?: number
  /** Sends one request: for a proxy or your own agent. The global `fetch` by default. */
  readonly fetch?: typeof fetch
  /** Header fields that every request carries besides its own, such as a gateway's key. */
  readonly headers?: Readonly<Record<string, string>>
  /** Is given a line for each response and each retry, such as `console`; nothing by default. */
  readonly logger?: Logger
}

/** Options that every call takes. */
export interface CallOptions {
  /** Ends the call, its waits included; the call then throws the signal's reason. */
  readonly signal?: AbortSignal
  /** How long one attempt of this call may take, in milliseconds. */
  readonly timeoutMs?: number
  /** How long this call may take with all its attempts, in milliseconds. */
  readonly deadlineMs?: number
  /** How often this request is sent at most. */
  readonly attemptsMax?: number
  /** Header fields of this call. */
  readonly headers?: Readonly<Record<string, string>>
  /** Is given what came back besides the record: request id, rate limit, header fields. */
  readonly onResponse?: (response: ResponseInfo) => void
}

/** Options of calls that also show what they show as it was. */
export interface ReadOptions extends CallOptions {
  /** Shows it as it was at the end of this instant; by default now. */
  readonly asOf?: Date
}

/** Options of calls that write. */
export interface WriteOptions extends CallOptions {
  /**
   * Names one intent, 1 to 255 visible characters: a repeat with the same key and request gets the first response. Drawn
   * by chance when absent. Give your own, and keep it, to be able to repeat after your process was restarted.
   */
  readonly idempotencyKey?: string
}

/** How a caller proves itself, and what else its requests carry. */
export interface Identity {
  readonly tokens: TokenKeeper
  readonly headers: Readonly<Record<string, string>>
}

interface Sending {
  readonly attemptsMax?: number | undefined
  readonly onResponse?: CallOptions['onResponse'] | undefined
  readonly timeoutMs?: number | undefined
  /** When the call ends; without one, `deadlineMs` after it begins. */
  readonly deadline?: Deadline
  /** The response's body is handed on as it comes, instead of when it is whole. */
  readonly streamed?: boolean
  /** Failures come in the form that the request's own `Accept` asks for, by default the specified envelope. */
  readonly asGiven?: boolean
}

interface Attempt {
  readonly request: Request
  readonly body: Uint8Array<ArrayBuffer> | undefined
  readonly token: Issued | undefined
  readonly attempts: number
}

/** The first wait before sending again; doubled each time, and shortened by chance so that callers do not march in step. */
const FIRST_WAIT_MS = 250
const WAIT_MS_MAX = 8_000
/** The service did not begin with these, so that anything may be sent again. */
const NOT_BEGUN = new Set([408, 429])
const MAY_HAVE_BEGUN = new Set([500, 502, 503, 504])
const RENEWABLE = ['invalid_token', 'invalid_session'] as const

/** Sends requests: with a token that is good, again where that is safe, and never longer than asked for. */
export class Transport {
  readonly baseUrl: BaseUrl
  readonly #options: Required<
    Pick<TransportOptions, 'timeoutMs' | 'deadlineMs' | 'attemptsMax' | 'fetch' | 'headers'>
  >
  readonly #identity: Identity | undefined
  readonly #observer: Observer

  constructor(options: TransportOptions, identity?: Identity) {
    const {
      timeoutMs = 15_000,
      deadlineMs = 60_000,
      attemptsMax = 5,
      fetch: send = fetch,
      headers = {},
    } = options
    this.baseUrl = readBaseUrl(options.baseUrl)
    this.#options = { timeoutMs, deadlineMs, attemptsMax, fetch: send, headers }
    this.#identity = identity
    this.#observer = new Observer(options, options.logger)
  }

  /** The end of a call that begins now. */
  deadline(signal: AbortSignal | undefined, deadlineMs = this.#options.deadlineMs): Deadline {
    return new Deadline(deadlineMs, signal)
  }

  /** Sends a request to a path of the service. */
  request(path: `/${string}`, init?: RequestInit): Promise<Response> {
    return this.send(new Request(urlOf(this.baseUrl, path), init))
  }

  /** Resolves when there is a token that is good now. */
  async authenticate(deadline: Deadline): Promise<void> {
    const tokens = this.#identity?.tokens
    if (tokens) await deadline.wait(tokens.get(), 'The request for a token')
  }

  /** Resolves with a response below 400; throws `SvcError`, `ConnectionError`, `UnexpectedResponseError` or the signal's reason. */
  async send(request: Request, sending: Sending = {}): Promise<Response> {
    const { deadline = this.deadline(request.signal), attemptsMax = this.#options.attemptsMax } = sending
    const what = `${request.method} ${request.url}`
    const body = request.body ? new Uint8Array(await request.arrayBuffer()) : undefined
    const tokens = this.#identity?.tokens
    let token = tokens && (await deadline.wait(tokens.get(), what))
    let renewed = false
    for (let attempts = 1; ; attempts++) {
      let failure: Error
      try {
        const response = await this.#attempt({ request, body, token, attempts }, sending, deadline)
        if (response.status < 400) return response
        failure = failureOf(response, await response.text(), attempts, urlOf(this.baseUrl, '/docs/errors'))
      } catch (error) {
        deadline.signal?.throwIfAborted()
        failure = new ConnectionError(what, attempts, error)
      }
      if (token && !renewed && SvcError.is(failure, ...RENEWABLE)) {
        renewed = true
        token = await deadline.wait(tokens!.replace(token), what, attempts)
        continue
      }
      if (attempts >= attemptsMax || !mayRepeat(request, failure)) throw failure
      const waitMs = waitBefore(attempts, failure)
      if (waitMs >= deadline.remainingMs) throw failure
      const { method, url } = request
      this.#observer.retry({ method, url, attempt: attempts + 1, failure, waitMs })
      await deadline.pause(waitMs, what, attempts)
    }
  }

  async #attempt(
    { request, body, token, attempts }: Attempt,
    { timeoutMs = this.#options.timeoutMs, streamed = false, asGiven = false, onResponse }: Sending,
    deadline: Deadline,
  ): Promise<Response> {
    const headers = this.#headersOf(request, token)
    if (!asGiven) headers.set('accept', `${headers.get('accept') ?? 'application/json'}, ${PROBLEM_JSON}`)
    const info = { method: request.method, url: request.url, attempt: attempts }
    this.#observer.request(info)
    const startedMs = performance.now()
    const limit = new AttemptLimit(deadline, timeoutMs)
    let isHandedOn = false
    try {
      const { method, url } = request
      // Workers refuse a `fetch` that is called as the method of another object.
      const { fetch: send } = this.#options
      const response = await send(url, {
        method,
        headers,
        // Not `error`, which Workers do not know.
        redirect: 'manual',
        signal: limit.signal,
        ...(body && { body }),
      })
      if (isRedirect(response)) {
        await response.body?.cancel()
        throw new TypeError('the response is a redirect, which is not followed')
      }
      const isStream = streamed && response.ok
      const read = isStream ? response : await whole(response)
      const seen = responseInfo(info, read, performance.now() - startedMs)
      this.#observer.response(seen)
      onResponse?.(seen)
      if (!isStream) return read
      isHandedOn = true
      return asStream(response, () => limit.release())
    } finally {
      if (isHandedOn) limit.stopTimer()
      else limit.release()
    }
  }

  #headersOf(request: Request, token: Issued | undefined): Headers {
    const headers = new Headers({ 'user-agent': USER_AGENT, ...this.#options.headers })
    for (const [name, value] of request.headers) headers.set(name, value)
    for (const [name, value] of Object.entries(this.#identity?.headers ?? {})) headers.set(name, value)
    if (token) headers.set('authorization', `Bearer ${token.token}`)
    if (token?.cookie) headers.set('cookie', token.cookie)
    return headers
  }
}

/** One that would take the token to another server. Browsers hide its status. */
const isRedirect = ({ status, type }: Response): boolean =>
  type === 'opaqueredirect' || (status >= 300 && status < 400 && status !== 304)

/** The same response with its body read, so that one that breaks off counts as none. */
async function whole(response: Response): Promise<Response> {
  const bytes = await response.arrayBuffer()
  return withBody(response, bytes.byteLength > 0 ? bytes : null)
}

/** The same response, whose body is read as it comes; `over` is called when it has ended, broken off or been cancelled. */
function asStream(response: Response, over: () => void): Response {
  const reader = response.body?.getReader()
  const pull = async (controller: ReadableStreamDefaultController<Uint8Array>): Promise<void> => {
    try {
      const { done, value } = await reader!.read()
      if (!done) return controller.enqueue(value)
      controller.close()
    } catch (error) {
      controller.error(error)
    }
    over()
  }
  const cancel = (reason: unknown): Promise<void> => {
    over()
    return reader!.cancel(reason)
  }
  if (!reader) over()
  const body = reader ? new ReadableStream({ pull, cancel }, { highWaterMark: 0 }) : null
  return withBody(response, body)
}

function withBody(
  { status, statusText, headers, url }: Response,
  body: ArrayBuffer | ReadableStream | null,
): Response {
  const response = new Response(body, { status, statusText, headers })
  Object.defineProperty(response, 'url', { value: url })
  return response
}

/** Whether the same request may be sent again after this failure without anything happening twice. */
function mayRepeat(request: Request, failure: Error): boolean {
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

/** What the service asked for, else twice as long each time, less up to a half. */
function waitBefore(attempts: number, failure: Error): number {
  const backoffMs = Math.min(WAIT_MS_MAX, FIRST_WAIT_MS * 2 ** (attempts - 1)) * (0.5 + Math.random() / 2)
  const askedMs = failure instanceof SvcError ? failure.retryAfterMs : undefined
  return askedMs === undefined ? backoffMs : Math.max(askedMs, backoffMs)
}
