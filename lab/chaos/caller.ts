import { setTimeout as sleep } from 'node:timers/promises'
import { signNotice } from '@svc/server/http/notice-signature'
import { Pool } from 'undici'
import type { Member } from './members.ts'

/** What a caller wants done: sent again with the same key, JWE or reference until it has a definite answer. */
export interface Intent {
  readonly method: 'GET' | 'POST' | 'PATCH'
  readonly path: string
  readonly as?: Login
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
  /** Signs the body as the bank does. */
  readonly railKey?: string
}

export interface HttpResponse {
  readonly status: number
  readonly text: string
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  readonly startMs: number
  readonly endMs: number
}

/** Fetches headers that prove who calls, and keeps them until they are refused. */
export class Login {
  readonly #fetch: (send: (intent: Intent) => Promise<HttpResponse>) => Promise<Record<string, string>>
  /** Whose. */
  readonly tenantId: string
  #headers: Promise<Record<string, string>> | undefined

  constructor(
    tenantId: string,
    fetch: (send: (intent: Intent) => Promise<HttpResponse>) => Promise<Record<string, string>>,
  ) {
    this.tenantId = tenantId
    this.#fetch = fetch
  }

  headers(send: (intent: Intent) => Promise<HttpResponse>): Promise<Record<string, string>> {
    this.#headers ??= this.#fetch(send).catch((error: unknown) => {
      this.#headers = undefined
      throw error
    })
    return this.#headers
  }

  renew(): void {
    this.#headers = undefined
  }
}

const HEALTH_MS = 100
const ATTEMPT_MS = 15_000
/** Longer than the caller's guide says nobody waits; a request that has no answer by then counts as unsettled. */
const SETTLE_MS = 120_000
const BACKOFF_MS = 50
const BACKOFF_MS_MAX = 1_000

/** What takes requests. */
export type Target = Pick<Member, 'baseUrl' | 'isReady'>

/** The processes as a load balancer sees them: a request goes to one that says that it is ready. */
export class Balancer {
  readonly #targets: { readonly member: Target; readonly pool: Pool; ready: boolean }[]
  readonly #timer: NodeJS.Timeout
  #next = 0

  constructor(members: readonly Target[], connections: number) {
    this.#targets = members.map((member) => ({
      member,
      pool: new Pool(member.baseUrl, {
        connections,
        pipelining: 1,
        headersTimeout: ATTEMPT_MS,
        bodyTimeout: ATTEMPT_MS,
      }),
      ready: true,
    }))
    this.#timer = setInterval(() => {
      for (const target of this.#targets) void target.member.isReady().then((ready) => (target.ready = ready))
    }, HEALTH_MS)
  }

  pool(): Pool {
    const ready = this.#targets.filter((target) => target.ready)
    const choice = ready.length > 0 ? ready : this.#targets
    return choice[this.#next++ % choice.length]!.pool
  }

  async close(): Promise<void> {
    clearInterval(this.#timer)
    await Promise.all(this.#targets.map(({ pool }) => pool.destroy()))
  }
}

/** What became of all attempts, for the report. */
export class Attempts {
  /** By status; `no answer` for the rest. */
  readonly byOutcome = new Map<string, number>()
  /** Attempts that were not the last of their request: the caller had to try again. */
  retried = 0
  unsettled = 0
  latenciesMs: number[] = []
  /** Longest wait for a response, whatever it said, since it was last set to 0. */
  longestMs = 0

  count(outcome: string): void {
    this.byOutcome.set(outcome, (this.byOutcome.get(outcome) ?? 0) + 1)
  }
}

export class Unsettled extends Error {}

/** 421: a router is behind by a moment. */
const mayRetry = (status: number): boolean =>
  status === 408 || status === 421 || status === 429 || status >= 500

/** Sends as `docs/guides/errors-and-retries.md` says, only with less patience between attempts. */
export class Caller {
  readonly #balancer: Balancer
  readonly attempts: Attempts

  constructor(balancer: Balancer, attempts: Attempts) {
    this.#balancer = balancer
    this.attempts = attempts
  }

  readonly send = async (intent: Intent): Promise<HttpResponse> => {
    const startMs = performance.now()
    for (let n = 0; performance.now() - startMs < SETTLE_MS; n++) {
      const response = await this.attempt(intent)
      const stale = response?.status === 401 && intent.as
      if (response && !mayRetry(response.status) && !(stale && n < 3))
        return { ...response, startMs, endMs: performance.now() }
      this.attempts.retried++
      if (stale) intent.as!.renew()
      else await sleep(Math.min(BACKOFF_MS_MAX, BACKOFF_MS * 2 ** n) * (0.5 + Math.random() / 2))
    }
    this.attempts.unsettled++
    throw new Unsettled(`${intent.method} ${intent.path} had no definite answer for ${SETTLE_MS / 1_000} s`)
  }

  /** One attempt; `undefined` when there was no answer. */
  async attempt({
    method,
    path,
    as,
    headers = {},
    body,
    railKey,
  }: Intent): Promise<Omit<HttpResponse, 'startMs' | 'endMs'> | undefined> {
    const proof = as ? await as.headers(this.send) : {}
    const signature = railKey && signNotice(Buffer.from(body!), railKey, Date.now())
    const sentMs = performance.now()
    try {
      const response = await this.#balancer.pool().request({
        method,
        path,
        headers: {
          ...proof,
          ...(body !== undefined && { 'content-type': 'application/json' }),
          ...headers,
          ...(signature && { 'x-rail-signature': signature }),
        },
        ...(body !== undefined && { body }),
      })
      const text = await response.body.text()
      this.attempts.count(String(response.statusCode))
      this.attempts.longestMs = Math.max(this.attempts.longestMs, performance.now() - sentMs)
      if (response.statusCode < 300) this.attempts.latenciesMs.push(performance.now() - sentMs)
      return { status: response.statusCode, text, headers: response.headers }
    } catch {
      this.attempts.count('no answer')
      this.attempts.longestMs = Math.max(this.attempts.longestMs, performance.now() - sentMs)
      return undefined
    }
  }
}
