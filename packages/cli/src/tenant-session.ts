import { setTimeout as sleep } from 'node:timers/promises'
import { readConfig } from '@svc/contract/config'
import { readSandboxFile, type SandboxFile } from '@svc/server/sandbox/demo'
import { EXIT, notSignedIn, RemoteError, UsageError } from './usage-error.ts'

/** Tenants of `sandbox.json` whom a command can be. */
export const DEMO_TENANTS = [
  'merchant',
  'otherMerchant',
  'incentivePartner',
  'rewardsPartner',
  'otherPartner',
] as const
export type DemoTenant = (typeof DEMO_TENANTS)[number]

export type Credentials =
  | { readonly apiKey: string }
  | { readonly clientId: string; readonly clientSecret: string; readonly partnerId?: string }

/** The demo tenants of the sandbox that the settings name, and where it listens. */
export async function readSandbox(): Promise<SandboxFile> {
  const { DATA_DIR } = readConfig(process.env)
  const file = await readSandboxFile(DATA_DIR)
  return file ?? noSandbox(DATA_DIR)
}

const noSandbox = (dataDir: string): never => {
  throw new UsageError(`There is no sandbox.json in ${dataDir}. Start the sandbox first: svc serve`)
}

interface Token {
  readonly text: string
  /** Session cookie, as `name=value`; the card search asks for it. */
  readonly cookie: string | undefined
}

/** The HTTP interface as one tenant uses it; gets tokens when it needs them. */
export class TenantSession {
  readonly #baseUrl: string
  readonly #credentials: Credentials
  #token: Promise<Token> | undefined

  constructor(baseUrl: string, credentials: Credentials) {
    this.#baseUrl = baseUrl.replace(/(?<!\/)\/+$/, '')
    this.#credentials = credentials
  }

  /** One request; a token that is not taken any more is replaced once. */
  async fetch(
    path: string,
    request: Omit<RequestInit, 'headers'> & { headers?: Record<string, string> } = {},
  ): Promise<Response> {
    for (let fresh = false; ; fresh = true) {
      this.#token ??= this.#newToken()
      const token = await this.#token.catch((error: unknown) => {
        this.#token = undefined
        throw error
      })
      const headers = { ...this.#identity(token), ...request.headers, authorization: `Bearer ${token.text}` }
      const response = await this.#reach(path, { ...request, headers })
      if (response.status !== 401 || fresh) return response
      this.#token = undefined
    }
  }

  /** Sends JSON and returns the payload; throws what the service says. */
  async call<T>(method: string, path: string, body?: unknown): Promise<T> {
    const sent =
      body === undefined
        ? {}
        : { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }
    const response = await this.fetch(path, { method, ...sent })
    const text = await response.text()
    if (!response.ok) throw refusal(`${method} ${path}`, response, text)
    return (JSON.parse(text) as { payload: T }).payload
  }

  /** Gets a token, so that wrong credentials are noticed now. */
  async signIn(): Promise<void> {
    this.#token = this.#newToken()
    await this.#token
  }

  /** What card and rewards operations require beside the token (spec §5.4, §4.4). */
  #identity({ cookie }: Token): Record<string, string> {
    const partnerId = 'partnerId' in this.#credentials ? this.#credentials.partnerId : undefined
    return {
      ...(partnerId !== undefined && { partnerid: partnerId }),
      ...(cookie !== undefined && { cookie }),
    }
  }

  async #reach(path: string, request: RequestInit): Promise<Response> {
    try {
      return await fetch(`${this.#baseUrl}${path}`, request)
    } catch (error) {
      const { code = 'no response' } = ((error as Error).cause ?? {}) as { code?: string }
      throw new RemoteError(`Nothing responds at ${this.#baseUrl} (${code})`, {
        code: 'unreachable',
        exitCode: EXIT.unreachable,
      })
    }
  }

  async #newToken(): Promise<Token> {
    const credentials = this.#credentials
    const response =
      'apiKey' in credentials
        ? await this.#reach('/api/v0/merchant/token', {
            method: 'POST',
            headers: { 'api-key': credentials.apiKey },
          })
        : await this.#reach('/oauth/token', {
            method: 'POST',
            body: new URLSearchParams({
              grant_type: 'client_credentials',
              client_id: credentials.clientId,
              client_secret: credentials.clientSecret,
            }),
          })
    const text = await response.text()
    if (response.status === 400 || response.status === 401) throw notSignedIn(`No token: ${wordsIn(text)}`)
    if (!response.ok) throw refusal('The request for a token', response, text)
    const { token, access_token: accessToken } = JSON.parse(text) as { token?: string; access_token?: string }
    const issued = token ?? accessToken
    if (issued === undefined) throw new UsageError(`${this.#baseUrl} returned no token`)
    return { text: issued, cookie: response.headers.getSetCookie()[0]?.split(';')[0] }
  }
}

/** The error code and description of a failure's envelope; `undefined` when it is none. */
export function failureIn(text: string): { error: string; description: string } | undefined {
  try {
    const { error, error_description: description } = JSON.parse(
      (JSON.parse(text) as { payload: string }).payload,
    ) as Record<string, string>
    return { error: error!, description: description! }
  } catch {
    return undefined
  }
}

/** What the server says about a request that it did not carry out. */
export function refusal(what: string, { status, headers }: Response, text: string): RemoteError {
  const code = failureIn(text)?.error ?? `http_${status}`
  const requestId = headers.get('x-request-id') ?? undefined
  return new RemoteError(`${what} returned ${status}: ${wordsIn(text)}`, {
    code,
    status,
    exitCode: status === 401 ? EXIT.notSignedIn : EXIT.refused,
    ...(requestId !== undefined && { requestId }),
  })
}

function wordsIn(text: string): string {
  const failure = failureIn(text)
  return failure ? `${failure.error}: ${failure.description}` : text.slice(0, 200)
}

/** Waits as asked; a pause grows from one second to ten. */
export const pauseAfter = (failures: number): Promise<void> =>
  sleep(Math.min(10_000, 1_000 * 2 ** Math.min(failures - 1, 4)))
