import { setTimeout as sleep } from 'node:timers/promises'
import { failureOf, NoAnswerError, SvcError, UnexpectedAnswerError } from './errors.ts'
import type { Issued, TokenKeeper } from './tokens.ts'

/** How requests are sent; every part has a default. */
export interface TransportOptions {
  /** How long one attempt may take, in milliseconds; 15,000 by default. */
  readonly timeoutMs?: number
  /** How long a call may take with all its attempts and waits, in milliseconds; 60,000 by default. */
  readonly deadlineMs?: number
  /** How often a request is sent at most, when it is safe to send it again; 5 by default, 1 for never again. */
  readonly attemptsMax?: number
  /** Sends one request: for a proxy or an agent of yours. The global `fetch` by default. */
  readonly fetch?: typeof fetch
}

/** Options that every call takes. */
export interface CallOptions {
  /** Ends the call, its waits included; the call then throws the signal's reason. */
  readonly signal?: AbortSignal
  /** How long one attempt of this call may take, in milliseconds. */
  readonly timeoutMs?: number
}

/** Options of calls that write. */
export interface WriteOptions extends CallOptions {
  /**
   * Names one intent, 1 to 255 visible characters: a repeat with the same key and request gets the first answer. Drawn
   * by chance when absent. Give your own, and keep it, to be able to repeat after your process was restarted.
   */
  readonly idempotencyKey?: string
}

/** How a caller proves itself, and what else its requests bear. */
export interface Identity {
  readonly tokens: TokenKeeper
  readonly headers: Readonly<Record<string, string>>
}

interface Sending extends CallOptions {
  /** The answer's body is handed on as it comes, instead of when it is whole. */
  readonly streamed?: boolean
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
  readonly #options: Required<TransportOptions>
  readonly #identity: Identity | undefined

  constructor(options: TransportOptions, identity?: Identity) {
    const { timeoutMs = 15_000, deadlineMs = 60_000, attemptsMax = 5, fetch: send = fetch } = options
    this.#options = { timeoutMs, deadlineMs, attemptsMax, fetch: send }
    this.#identity = identity
  }

  /** Resolves with an answer below 400; throws `SvcError`, `NoAnswerError`, `UnexpectedAnswerError` or the signal's reason. */
  async send(request: Request, sending: Sending = {}): Promise<Response> {
    const { signal = request.signal } = sending
    const body = request.body ? new Uint8Array(await request.arrayBuffer()) : undefined
    const giveUpAtMs = performance.now() + this.#options.deadlineMs
    let token = await this.#token(signal)
    let renewed = false
    for (let attempts = 1; ; attempts++) {
      let failure: Error
      try {
        const answer = await this.#attempt(request, body, token, sending, signal)
        if (answer.status < 400) return answer
        failure = failureOf(answer, await answer.text(), attempts)
      } catch (error) {
        signal.throwIfAborted()
        failure = new NoAnswerError(`${request.method} ${request.url}`, attempts, error)
      }
      if (token && !renewed && SvcError.is(failure, ...RENEWABLE)) {
        renewed = true
        token = await abortable(this.#identity!.tokens.replace(token), signal)
        continue
      }
      if (attempts >= this.#options.attemptsMax || !mayRepeat(request, failure)) throw failure
      const waitMs = waitBefore(attempts, failure)
      if (performance.now() + waitMs > giveUpAtMs) throw failure
      await sleep(waitMs, undefined, { signal }).catch((error: unknown) => {
        signal.throwIfAborted()
        throw error
      })
    }
  }

  async #token(signal: AbortSignal): Promise<Issued | undefined> {
    return this.#identity && abortable(this.#identity.tokens.get(), signal)
  }

  async #attempt(
    request: Request,
    body: Uint8Array<ArrayBuffer> | undefined,
    token: Issued | undefined,
    { timeoutMs = this.#options.timeoutMs, streamed = false }: Sending,
    signal: AbortSignal,
  ): Promise<Response> {
    const headers = new Headers(request.headers)
    for (const [name, value] of Object.entries(this.#identity?.headers ?? {})) headers.set(name, value)
    if (token) headers.set('authorization', `Bearer ${token.token}`)
    if (token?.cookie) headers.set('cookie', token.cookie)
    const late = new AbortController()
    const timer = setTimeout(
      () => late.abort(new DOMException(`no answer within ${timeoutMs} ms`, 'TimeoutError')),
      timeoutMs,
    )
    try {
      const { method, url } = request
      const answer = await this.#options.fetch(url, {
        method,
        headers,
        // A redirect would take the token to where nobody asked for it.
        redirect: 'error',
        signal: AbortSignal.any([signal, late.signal]),
        ...(body && { body }),
      })
      return streamed && answer.ok ? answer : await whole(answer)
    } finally {
      clearTimeout(timer)
    }
  }
}

/** The same answer with its body read, so that one that breaks off counts as none. */
async function whole(answer: Response): Promise<Response> {
  const { status, statusText, headers, url } = answer
  const bytes = await answer.arrayBuffer()
  const read = new Response(bytes.byteLength > 0 ? bytes : null, { status, statusText, headers })
  Object.defineProperty(read, 'url', { value: url })
  return read
}

/** Rejects with the signal's reason, but lets what others wait for go on. */
export function abortable<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  signal.throwIfAborted()
  return new Promise((resolve, reject) => {
    const stop = () => reject(signal.reason as Error)
    signal.addEventListener('abort', stop, { once: true })
    promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', stop))
  })
}

/** Whether the same request may be sent again after this failure without anything happening twice. */
function mayRepeat(request: Request, failure: Error): boolean {
  const status =
    failure instanceof SvcError || failure instanceof UnexpectedAnswerError ? failure.status : undefined
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
