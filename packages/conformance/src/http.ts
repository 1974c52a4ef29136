import { setTimeout as sleep } from 'node:timers/promises'
import { Agent } from 'undici'
import type { HttpResponse, Request } from './exchange.ts'
import type { Recorder } from './recorder.ts'
import type { Redactor } from './redact.ts'
import { Blocked, Violation } from './verdict.ts'

const BODY_BYTES_MAX = 64 * 1024 * 1024
const SHOWN_CHARS_MAX = 600
/** Requests without any response, one after the other, until the server counts as gone. */
const SILENCES_MAX = 12
/** Times that a request is sent again of which the server says, by 429 and `Retry-After`, that it came too soon. */
const TOO_SOON_MAX = 5
const RETRY_AFTER_SECONDS_MAX = 5

interface Limits {
  readonly timeoutMs: number
  readonly totalMs: number
}

/** Sends one request after the other as they are: no redirect is followed, no response waited for without an end. */
export class Http {
  readonly baseUrl: string
  readonly redactor: Redactor
  readonly #agent: Agent
  readonly #timeoutMs: number
  readonly #deadlineAtMs: number
  readonly #recorder: Recorder | undefined
  #silences = 0
  #sent = 0

  constructor(baseUrl: string, redactor: Redactor, limits: Limits, recorder?: Recorder) {
    let end = baseUrl.length
    while (baseUrl[end - 1] === '/') end--
    this.baseUrl = baseUrl.slice(0, end)
    this.redactor = redactor
    this.#recorder = recorder
    this.#timeoutMs = limits.timeoutMs
    this.#deadlineAtMs = performance.now() + limits.totalMs
    this.#agent = new Agent({ connections: 32, pipelining: 1, maxHeaderSize: 64 * 1024 })
  }

  get sent(): number {
    return this.#sent
  }

  /** Throws `Violation` when there is no response that can be read, `Blocked` when further requests are of no use. */
  async send(requested: Request): Promise<HttpResponse> {
    if (this.#silences >= SILENCES_MAX) throw new Blocked('the server has stopped responding')
    if (performance.now() > this.#deadlineAtMs) throw new Blocked('the time for the whole run is over')
    this.#sent++
    const received = this.#recorder?.sent(requested)
    try {
      const response = await this.#exchangeInTime(requested)
      received?.(response)
      this.#silences = 0
      return response
    } catch (error) {
      if (error instanceof Violation) throw error
      this.#silences++
      const response = { request: requested, status: 0, headers: {}, cookies: [], text: '', json: undefined }
      throw new Violation(
        `a response within ${this.#timeoutMs / 1_000} s`,
        describeSilence(error),
        response,
        { is: 'silence' },
      )
    }
  }

  /** Many checks send at once; 429 with a time to wait is no response to what they check. */
  async #exchangeInTime(requested: Request): Promise<HttpResponse> {
    for (let tooSoon = 0; ; tooSoon++) {
      const response = await this.#exchange(requested)
      const seconds = response.status === 429 ? response.headers['retry-after'] : undefined
      if (seconds === undefined || !/^\d+$/.test(seconds)) return response
      if (Number(seconds) > RETRY_AFTER_SECONDS_MAX || tooSoon === TOO_SOON_MAX) return response
      await sleep(Number(seconds) * 1_000)
    }
  }

  async #exchange(requested: Request): Promise<HttpResponse> {
    const { method, path, headers = {}, body } = requested
    const response = await this.#agent.request({
      ...splitUrl(`${this.baseUrl}${path}`),
      method,
      headers: { 'user-agent': 'svc-conformance', ...headers },
      ...(body !== undefined && { body }),
      signal: AbortSignal.timeout(this.#timeoutMs),
    })
    const parts: Buffer[] = []
    let bytes = 0
    for await (const part of response.body) {
      parts.push(part as Buffer)
      bytes += (part as Buffer).length
      if (bytes > BODY_BYTES_MAX) throw new Error('the response is longer than 64 MiB')
    }
    const text = Buffer.concat(parts).toString('utf8')
    const plain = Object.entries(response.headers).map(([name, value]) => [name, String(value)] as const)
    const cookies = response.headers['set-cookie'] ?? []
    return {
      request: requested,
      status: response.statusCode,
      headers: Object.fromEntries(plain),
      cookies: typeof cookies === 'string' ? [cookies] : cookies,
      text,
      json: parsed(text),
    }
  }

  /** The request as a command for a shell, with credentials as variables to set. */
  curl({ request: { method, path, headers = {}, body, encrypted } }: HttpResponse): string {
    const { redactor } = this
    const lines = [`curl -i -X ${method} ${redactor.quote(`${this.baseUrl}${path}`)}`]
    for (const [name, value] of Object.entries(headers))
      lines.push(`-H ${redactor.quote(`${name}: ${value}`)}`)
    if (encrypted !== undefined)
      lines.push(body?.toString().startsWith('"') ? '-d "\\"$ENCRYPTED\\""' : '-d "$ENCRYPTED"')
    else if (body !== undefined) lines.push(`--data-binary ${redactor.quote(body.toString())}`)
    const note =
      encrypted === undefined ? '' : `# ENCRYPTED is the compact JWE of: ${redactor.redact(encrypted)}\n`
    return note + lines.join(' \\\n  ')
  }

  close(): Promise<void> {
    return this.#agent.destroy()
  }
}

/** `Agent.request` takes the address in two parts, and the path as it is: dots and escapes reach the server. */
function splitUrl(url: string): { origin: string; path: string } {
  const slash = url.indexOf('/', url.indexOf('//') + 2)
  return slash < 0 ? { origin: url, path: '/' } : { origin: url.slice(0, slash), path: url.slice(slash) }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown
  } catch {
    return undefined
  }
}

function describeSilence(error: unknown): string {
  const { name, code, message } = error as NodeJS.ErrnoException
  if (name === 'TimeoutError' || code?.includes('TIMEOUT')) return 'none'
  if (code === 'ECONNREFUSED') return 'a refused connection'
  if (code === 'UND_ERR_SOCKET' || code === 'ECONNRESET' || code === 'EPIPE') return 'a closed connection'
  if (code?.startsWith('HPE_')) return `what is not HTTP (${message})`
  return `an error (${code ?? message})`
}

/** On one line, and no longer than a person reads. */
export const shorten = (given: string): string => {
  const text = given.replace(/\s+/g, ' ')
  return text.length <= SHOWN_CHARS_MAX
    ? text
    : `${text.slice(0, SHOWN_CHARS_MAX)}… (${given.length} characters)`
}
