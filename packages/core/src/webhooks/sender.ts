import { isIP } from 'node:net'
import { abortWith } from '@svc/platform/abort'
import { type Address, type Resolve, systemResolve } from '@svc/platform/name-lookups'
import { buildConnector, type Dispatcher, Pool } from 'undici'

export interface SenderOptions {
  readonly mayReach: (address: string) => boolean
  /** For the whole attempt: name, connection, request and response. */
  readonly timeoutMs: number
  readonly connections: number
  /** By default the machine's own resolver, for names that an operator chose. */
  readonly resolve?: Resolve
}

export interface Sent {
  /** Absent when there was no response. */
  readonly status?: number
  /** In words, when there was none. */
  readonly failure?: string
  readonly excerpt: string
  readonly retryAfter?: string
  readonly durationMs: number
}

const EXCERPT_BYTES = 1_024

class AddressRefused extends Error {}

/**
 * Posts to one origin. The addresses of its name are looked up and checked for every connection, and the connection goes
 * to the very addresses that were checked: a name that changes its mind in between changes nothing. Redirects are not
 * followed, responses are cut off, time is bounded.
 */
export class Sender {
  readonly #pool: Pool
  readonly #url: URL
  readonly #timeoutMs: number
  readonly #attempts = new Set<AbortController>()
  readonly #closing = new AbortController()
  #closed = false

  constructor(url: string, { mayReach, timeoutMs, connections, resolve = systemResolve }: SenderOptions) {
    this.#url = new URL(url)
    this.#timeoutMs = timeoutMs
    this.#pool = new Pool(this.#url.origin, {
      connections,
      pipelining: 1,
      maxHeaderSize: 16_384,
      headersTimeout: timeoutMs,
      bodyTimeout: timeoutMs,
      keepAliveTimeout: 4_000,
      connect: checkedConnector(
        mayReach,
        boundedResolve(resolve, timeoutMs, this.#closing.signal),
        timeoutMs,
      ),
    })
  }

  async post(body: Buffer, headers: Record<string, string>): Promise<Sent> {
    const startedAtMs = performance.now()
    const attempt = new AbortController()
    this.#attempts.add(attempt)
    const late = () => attempt.abort(new DOMException('no response in time', 'TimeoutError'))
    const timer = setTimeout(late, this.#timeoutMs)
    const took = () => Math.round(performance.now() - startedAtMs)
    try {
      const path = `${this.#url.pathname}${this.#url.search}`
      const response = await this.#pool.request({
        method: 'POST',
        path,
        headers,
        body,
        signal: attempt.signal,
      })
      const excerpt = await readExcerpt(response.body)
      const retryAfter = response.headers['retry-after']
      return {
        status: response.statusCode,
        excerpt,
        durationMs: took(),
        ...(typeof retryAfter === 'string' && { retryAfter }),
      }
    } catch (error) {
      return { failure: failureText(error), excerpt: '', durationMs: took() }
    } finally {
      clearTimeout(timer)
      this.#attempts.delete(attempt)
    }
  }

  get closed(): boolean {
    return this.#closed
  }

  /** Breaks off what is under way. */
  async close(): Promise<void> {
    this.#closed = true
    for (const attempt of this.#attempts) attempt.abort()
    this.#closing.abort()
    await this.#pool.destroy()
  }
}

type Connect = ReturnType<typeof buildConnector>

/** A lookup ends with the time of an attempt, or with the sender. */
const boundedResolve =
  (resolve: Resolve, timeoutMs: number, closing: AbortSignal) =>
  async (hostname: string): Promise<readonly Address[]> => {
    const looking = new AbortController()
    abortWith(looking, closing)
    const late = () => looking.abort(new DOMException('no response in time', 'TimeoutError'))
    const timer = setTimeout(late, timeoutMs)
    try {
      return await resolve(hostname, looking.signal)
    } finally {
      clearTimeout(timer)
      looking.abort()
    }
  }

function checkedConnector(
  mayReach: (address: string) => boolean,
  resolve: (hostname: string) => Promise<readonly Address[]>,
  timeoutMs: number,
): Connect {
  const connect = (checked: readonly Address[]) =>
    buildConnector({
      timeout: timeoutMs,
      // Node gives each address but the last 250 ms, which a distant host does not keep.
      autoSelectFamilyAttemptTimeout: Math.max(250, Math.floor(timeoutMs / (checked.length + 1))),
      // Never asks again: what was checked is what is connected to.
      lookup: (_, options, done) => {
        if (options.all) done(null, [...checked])
        else done(null, checked[0]!.address, checked[0]!.family)
      },
    })
  return (options, settle) => {
    const hostname = options.hostname.replace(/^\[|\]$/g, '')
    const family = isIP(hostname)
    const found = family === 0 ? resolve(hostname) : Promise.resolve([{ address: hostname, family }])
    found.then(
      (addresses) => {
        // One that may not be reached spoils the name: choosing among an attacker's addresses is not safe.
        if (addresses.length === 0 || !addresses.every(({ address }) => mayReach(address)))
          settle(new AddressRefused('the address is not public'), null)
        else connect(addresses)(options, settle)
      },
      (error: Error) => settle(error, null),
    )
  }
}

/** The first bytes of a response as printable text; the rest is not waited for. */
async function readExcerpt(body: Dispatcher.ResponseData['body']): Promise<string> {
  const parts: Buffer[] = []
  let size = 0
  try {
    for await (const part of body as AsyncIterable<Buffer>) {
      parts.push(part)
      size += part.length
      if (size > EXCERPT_BYTES) break
    }
  } catch {
    // The status has been read, and it is what counts.
  }
  if (!body.destroyed) body.destroy()
  const text = Buffer.concat(parts).subarray(0, EXCERPT_BYTES).toString('utf8')
  return text.replace(/[^\P{C}\n\t]/gu, '\u{fffd}')
}

const BY_CODE: Record<string, string> = {
  ECONNREFUSED: 'the connection was refused',
  ECONNRESET: 'the connection was reset',
  ENOTFOUND: 'the name does not exist',
  EAI_AGAIN: 'the name could not be looked up',
  EHOSTUNREACH: 'the host cannot be reached',
  ENETUNREACH: 'the network cannot be reached',
  EPROTO: 'TLS failed',
  ETIMEDOUT: 'no connection in time',
  UND_ERR_CONNECT_TIMEOUT: 'no connection in time',
  UND_ERR_HEADERS_TIMEOUT: 'no response in time',
  UND_ERR_BODY_TIMEOUT: 'no response in time',
  UND_ERR_HEADERS_OVERFLOW: 'the headers of the response are too large',
  UND_ERR_SOCKET: 'the connection was closed before the response',
}

/** Private details of our side (resolver, sockets) are not for the tenant. */
function failureText(error: unknown): string {
  if (error instanceof AddressRefused) return error.message
  if (error instanceof Error && error.name === 'TimeoutError') return 'no response in time'
  if (error instanceof Error && error.name === 'AbortError') return 'the service was shutting down'
  const code = (error as { code?: string }).code ?? ''
  return (
    BY_CODE[code] ?? (/CERT|TLS|SSL|SELF_SIGNED/.test(code) ? `TLS failed (${code})` : 'no valid response')
  )
}
