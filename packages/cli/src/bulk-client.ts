import { setTimeout as sleep } from 'node:timers/promises'
import { UsageError } from './usage-error.ts'

/** Where and as whom orders are sent. */
export interface BulkAccess {
  readonly baseUrl: string
  readonly partnerId: string
  readonly clientId: string
  readonly clientSecret: string
}

export interface BulkJob {
  readonly jobId: string
  readonly status: 'QUEUED' | 'RUNNING' | 'DONE'
  readonly done: number
}

export interface BulkResult {
  readonly row: number
  readonly status: 'PENDING' | 'ISSUED' | 'LOADED' | 'FAILED'
  readonly svcCardId?: string
  readonly loadId?: string
  readonly error?: string
  readonly errorDescription?: string
}

interface Page {
  readonly data: readonly BulkResult[]
  readonly next?: string
}

const PATH = '/api/v0/partner/svcCard/bulk'
const TRIES_MAX = 8
const WAIT_MAX_MS = 15_000
/** How long one attempt may take: longer than a service may, whatever its COMMAND_TIMEOUT_MS and REQUEST_TIMEOUT_MS. */
const LIMITS = { callMs: 130_000, uploadMs: 430_000 }

/** A response whose body is read. */
interface Received {
  readonly ok: boolean
  readonly status: number
  readonly headers: Headers
  readonly text: string
}

interface Sending extends RequestInit {
  readonly headers?: Record<string, string>
}

/** Bulk orders and loads over HTTP, as any partner sends them. What may pass by itself is tried again: nothing is done twice. */
export class BulkClient {
  readonly #access: BulkAccess
  readonly #limits: typeof LIMITS
  #token: string | undefined

  constructor(access: BulkAccess, limits = LIMITS) {
    this.#access = access
    this.#limits = limits
  }

  /** Hands orders over, or loads; the same lines under the same key are the same job. */
  async upload(lines: string, idempotencyKey: string, of: 'orders' | 'loads' = 'orders'): Promise<string> {
    const headers = { 'content-type': 'application/x-ndjson', 'idempotency-key': idempotencyKey }
    const request = { method: 'POST', body: lines, headers }
    const path = of === 'loads' ? `${PATH}/loads` : PATH
    return (await this.#call<BulkJob>(path, request, this.#limits.uploadMs)).jobId
  }

  progress(jobId: string): Promise<BulkJob> {
    return this.#call<BulkJob>(`${PATH}/${jobId}`)
  }

  async results(jobId: string): Promise<BulkResult[]> {
    const rows: BulkResult[] = []
    for (let after: string | undefined; ; ) {
      const page: Page = await this.#call<Page>(
        `${PATH}/${jobId}/results?limit=500${after ? `&after=${after}` : ''}`,
      )
      rows.push(...page.data)
      if (!page.next) return rows
      after = page.next
    }
  }

  async #call<T>(path: string, request: Sending = {}, limitMs = this.#limits.callMs): Promise<T> {
    const { baseUrl, partnerId } = this.#access
    for (let tries = 1; ; tries++) {
      const response = await this.#try(async () => {
        this.#token ??= await this.#newToken()
        const headers = { ...request.headers, authorization: `Bearer ${this.#token}`, partnerid: partnerId }
        return this.#send(path, { ...request, headers }, limitMs)
      })
      if (response?.ok) return (JSON.parse(response.text) as { payload: T }).payload
      if (response?.status === 401) this.#token = undefined
      else if (response && response.status < 500 && response.status !== 429)
        throw new UsageError(errorTextOf(response))
      if (tries === TRIES_MAX)
        throw new UsageError(
          `${response ? errorTextOf(response) : `${baseUrl} cannot be reached`}\nRun the command again to go on: nothing is done twice.`,
        )
      const retryAfterMs = Number(response?.headers.get('retry-after') ?? 0) * 1_000
      await sleep(Math.min(WAIT_MAX_MS, Math.max(retryAfterMs, 100 * 2 ** tries)))
    }
  }

  /** `undefined` when there was no whole response. */
  async #try(send: () => Promise<Received>): Promise<Received | undefined> {
    try {
      return await send()
    } catch (error) {
      // What `fetch` throws when the connection fails, whatever the cause, and when the time is over.
      if (error instanceof TypeError || (error instanceof DOMException && error.name === 'TimeoutError'))
        return undefined
      throw error
    }
  }

  /** @throws UsageError for a redirect: followed, it could take the client's secret to another server */
  async #send(path: string, request: RequestInit, limitMs: number): Promise<Received> {
    const url = `${this.#access.baseUrl}${path}`
    const response = await fetch(url, {
      ...request,
      redirect: 'manual',
      signal: AbortSignal.timeout(limitMs),
    })
    const { ok, status, headers } = response
    if (status < 300 || status >= 400) return { ok, status, headers, text: await response.text() }
    await response.body?.cancel()
    throw new UsageError(redirectText(url, status, headers.get('location') ?? ''))
  }

  async #newToken(): Promise<string> {
    const { clientId, clientSecret } = this.#access
    const body = new URLSearchParams({
      grant_type: 'client_credentials',
      client_id: clientId,
      client_secret: clientSecret,
    })
    const response = await this.#send('/oauth/token', { method: 'POST', body }, this.#limits.callMs)
    if (response.ok) return (JSON.parse(response.text) as { access_token: string }).access_token
    // A service that starts or is full says so with 5xx or 429; that passes like a lost connection.
    if (response.status >= 500 || response.status === 429) throw new TypeError('no token now')
    throw new UsageError(errorTextOf(response))
  }
}

function redirectText(url: string, status: number, location: string): string {
  const to = URL.canParse(location, url) ? ` to ${new URL(location, url).href}` : ''
  return `${url} returned ${status}, a redirect${to}, which is not followed.\nGive the address of the service itself: --url <url>`
}

function errorTextOf({ status, text }: Received): string {
  try {
    const { payload } = JSON.parse(text) as { payload: string }
    const { error, error_description } = JSON.parse(payload) as { error: string; error_description: string }
    return `The service returned ${status} ${error}: ${error_description}`
  } catch {
    return `The service returned ${status}`
  }
}
