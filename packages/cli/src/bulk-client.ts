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
  readonly status: 'PENDING' | 'ISSUED' | 'FAILED'
  readonly svcCardId?: string
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

/** Bulk orders over HTTP, as any partner sends them. What may pass by itself is tried again: nothing is done twice. */
export class BulkClient {
  readonly #access: BulkAccess
  #token: string | undefined

  constructor(access: BulkAccess) {
    this.#access = access
  }

  /** Hands orders over; the same lines under the same key are the same job. */
  async upload(lines: string, idempotencyKey: string): Promise<string> {
    const headers = { 'content-type': 'application/x-ndjson', 'idempotency-key': idempotencyKey }
    return (await this.#call<BulkJob>(PATH, { method: 'POST', body: lines, headers })).jobId
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

  async #call<T>(path: string, request: RequestInit & { headers?: Record<string, string> } = {}): Promise<T> {
    const { baseUrl, partnerId } = this.#access
    for (let tries = 1; ; tries++) {
      const response = await this.#try(async () => {
        this.#token ??= await this.#newToken()
        const headers = { ...request.headers, authorization: `Bearer ${this.#token}`, partnerid: partnerId }
        return fetch(`${baseUrl}${path}`, { ...request, headers })
      })
      if (response?.ok) return ((await response.json()) as { payload: T }).payload
      if (response?.status === 401) this.#token = undefined
      else if (response && response.status < 500 && response.status !== 429)
        throw new UsageError(await wordsOf(response))
      if (tries === TRIES_MAX)
        throw new UsageError(
          `${response ? await wordsOf(response) : `${baseUrl} cannot be reached`}\nRun the command again to go on: nothing is done twice.`,
        )
      const asked = Number(response?.headers.get('retry-after') ?? 0) * 1_000
      await sleep(Math.min(WAIT_MAX_MS, Math.max(asked, 100 * 2 ** tries)))
    }
  }

  /** `undefined` when there was no response. */
  async #try(send: () => Promise<Response>): Promise<Response | undefined> {
    try {
      return await send()
    } catch (error) {
      // What `fetch` throws when the connection fails, whatever the cause.
      if (error instanceof TypeError) return undefined
      throw error
    }
  }

  async #newToken(): Promise<string> {
    const { baseUrl, clientId, clientSecret } = this.#access
    const body = new URLSearchParams({
      grant_type: 'client_credentials',
      client_id: clientId,
      client_secret: clientSecret,
    })
    const response = await fetch(`${baseUrl}/oauth/token`, { method: 'POST', body })
    if (response.ok) return ((await response.json()) as { access_token: string }).access_token
    // A service that starts or is full says so with 5xx or 429; that passes like a lost connection.
    if (response.status >= 500 || response.status === 429) throw new TypeError('no token now')
    throw new UsageError(await wordsOf(response))
  }
}

async function wordsOf(response: Response): Promise<string> {
  const text = await response.text()
  try {
    const { payload } = JSON.parse(text) as { payload: string }
    const { error, error_description } = JSON.parse(payload) as { error: string; error_description: string }
    return `The service returned ${response.status} ${error}: ${error_description}`
  } catch {
    return `The service returned ${response.status}`
  }
}
