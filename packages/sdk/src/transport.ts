import { type BaseUrl, readBaseUrl, urlOf } from './base-url.ts'
import { AttemptLimit, Deadline } from './deadline.ts'
import { ConnectionError, failureOf, PROBLEM_JSON, SvcError, UnexpectedResponseError } from './errors.ts'
import { type Hooks, type Logger, Observer, type ResponseInfo, responseInfo } from './observe.ts'
import { requireNumber } from './required.ts'
import { asStream, hasType, isRedirect, whole } from './response-body.ts'
import { canRetry, waitBefore } from './retries.ts'
import type { Issued, TokenCache } from './tokens.ts'
import { USER_AGENT } from './version.ts'

/** Where requests are sent, and how; everything but the address has a default. */
export interface TransportOptions extends Hooks {
  /** Where the service is, such as `https://pay.example.com`, or `https://gateway.example.com/payments` under a path. */
  readonly baseUrl: string
  /**
   * Whether keys and tokens may go over `http://` to another machine, where everybody on the way reads them: within a
   * network of your own, such as from container to container. `false` by default; this machine needs no permission.
   */
  readonly allowPlainHttp?: boolean
  /** How long one attempt may take, in milliseconds; 15,000 by default, `Infinity` for no limit. */
  readonly timeoutMs?: number
  /**
   * How long a call may take with all its attempts, tokens, keys and waits, in milliseconds; 60,000 by default, `Infinity`
   * for no limit. For streams: until each connection begins.
   */
  readonly deadlineMs?: number
  /** How often a request is sent again at most, when that is safe; 4 by default, 0 for never. */
  readonly maxRetries?: number
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
  /** How often this request is sent again at most. */
  readonly maxRetries?: number
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
  readonly tokens: TokenCache
  readonly headers: Readonly<Record<string, string>>
}

interface Sending {
  readonly maxRetries?: number | undefined
  readonly onResponse?: CallOptions['onResponse'] | undefined
  readonly timeoutMs?: number | undefined
  /** When the call ends; without one, `deadlineMs` after it begins. */
  readonly deadline?: Deadline
  /** The response's body is handed on as it comes, instead of when it is whole; only of this media type if one is given. */
  readonly streamed?: boolean | string
  /** Failures come in the form that the request's own `Accept` asks for, by default the specified envelope. */
  readonly asGiven?: boolean
}

interface Attempt {
  readonly request: Request
  readonly body: Uint8Array<ArrayBuffer> | undefined
  readonly token: Issued | undefined
  readonly attempts: number
}

const RENEWABLE = ['invalid_token', 'invalid_session'] as const

/** Sends requests: with a token that is good, again where that is safe, and never longer than the options allow. */
export class Transport {
  readonly baseUrl: BaseUrl
  readonly #options: Required<
    Pick<TransportOptions, 'timeoutMs' | 'deadlineMs' | 'maxRetries' | 'fetch' | 'headers'>
  >
  readonly #identity: Identity | undefined
  readonly #observer: Observer

  constructor(options: TransportOptions, identity?: Identity) {
    const {
      timeoutMs = 15_000,
      deadlineMs = 60_000,
      maxRetries = 4,
      fetch: send = fetch,
      headers = {},
    } = options
    for (const [name, value] of Object.entries({ timeoutMs, deadlineMs, maxRetries }))
      requireNumber(name, value)
    this.baseUrl = readBaseUrl(options.baseUrl, options.allowPlainHttp)
    this.#options = { timeoutMs, deadlineMs, maxRetries, fetch: send, headers }
    this.#identity = identity
    this.#observer = new Observer(options, options.logger)
  }

  /** The end of a call that begins now. */
  deadline(signal: AbortSignal | undefined, deadlineMs = this.#options.deadlineMs): Deadline {
    requireNumber('deadlineMs', deadlineMs)
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

  /**
   * Resolves with a response below 400.
   *
   * @throws SvcError, ConnectionError or UnexpectedResponseError; the signal's reason; what a hook throws
   */
  async send(request: Request, sending: Sending = {}): Promise<Response> {
    const { deadline = this.deadline(request.signal) } = sending
    const { maxRetries = this.#options.maxRetries, timeoutMs = this.#options.timeoutMs } = sending
    for (const [name, value] of Object.entries({ maxRetries, timeoutMs })) requireNumber(name, value)
    const { method, url } = request
    const what = `${method} ${url}`
    const body = request.body ? new Uint8Array(await request.arrayBuffer()) : undefined
    const tokens = this.#identity?.tokens
    let token = tokens && (await deadline.wait(tokens.get(), what))
    let renewed = false
    for (let attempts = 1; ; attempts++) {
      const outcome = await this.#attempt({ request, body, token, attempts }, sending, deadline)
      if (!(outcome instanceof Error)) return outcome
      if (token && !renewed && SvcError.is(outcome, ...RENEWABLE)) {
        renewed = true
        token = await deadline.wait(tokens!.replace(token), what, attempts)
        continue
      }
      if (attempts > maxRetries || !canRetry(request, outcome)) throw outcome
      const waitMs = waitBefore(attempts, outcome)
      if (waitMs >= deadline.remainingMs) throw outcome
      this.#observer.retry({ method, url, attempt: attempts + 1, failure: outcome, waitMs })
      await deadline.pause(waitMs, what, attempts)
    }
  }

  /** Returns a response below 400, or why there is none. Throws what ends the call at once: errors of hooks, the signal's reason. */
  async #attempt(attempt: Attempt, sending: Sending, deadline: Deadline): Promise<Response | Error> {
    const { request, attempts } = attempt
    const { method, url } = request
    const info = { method, url, attempt: attempts }
    const headers = this.#headersOf(attempt, sending)
    this.#observer.request(info)
    const startedMs = performance.now()
    const lost = (cause: unknown) => new ConnectionError(`${method} ${url}`, attempts, cause)
    let response: Response
    try {
      response = await this.#exchange(attempt, headers, sending, deadline, lost)
    } catch (error) {
      deadline.signal?.throwIfAborted()
      return lost(error)
    }
    const seen = responseInfo(info, response, performance.now() - startedMs)
    try {
      this.#observer.response(seen)
      sending.onResponse?.(seen)
    } catch (error) {
      await response.body?.cancel().catch(() => undefined)
      throw error
    }
    if (isRedirect(response)) {
      const location = response.headers.get('location') ?? 'another address'
      return new UnexpectedResponseError(response, `${url} redirects to ${location}, which is not followed`)
    }
    if (response.status < 400) return response
    return failureOf(response, await response.text(), attempts, urlOf(this.baseUrl, '/docs/errors'))
  }

  /** Sends the request once. Whatever this throws is of the network or of a time limit. */
  async #exchange(
    { request: { method, url }, body }: Attempt,
    headers: Headers,
    { timeoutMs = this.#options.timeoutMs, streamed = false }: Sending,
    deadline: Deadline,
    lost: (cause: unknown) => Error,
  ): Promise<Response> {
    const limit = new AttemptLimit(deadline, timeoutMs)
    let isHandedOn = false
    try {
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
        return response
      }
      const isStream = response.ok && (typeof streamed === 'string' ? hasType(response, streamed) : streamed)
      if (!isStream) return await whole(response)
      isHandedOn = true
      const { signal } = deadline
      return asStream(response, limit, (cause) => (signal?.aborted ? signal.reason : lost(cause)))
    } finally {
      if (isHandedOn) limit.stopTimer()
      else limit.release()
    }
  }

  #headersOf({ request, token }: Attempt, { asGiven = false }: Sending): Headers {
    const headers = new Headers({ 'user-agent': USER_AGENT, ...this.#options.headers })
    for (const [name, value] of request.headers) headers.set(name, value)
    for (const [name, value] of Object.entries(this.#identity?.headers ?? {})) headers.set(name, value)
    if (token) headers.set('authorization', `Bearer ${token.token}`)
    if (token?.cookie) headers.set('cookie', token.cookie)
    if (!asGiven) headers.set('accept', `${PROBLEM_JSON}, ${headers.get('accept') ?? 'application/json'}`)
    return headers
  }
}
