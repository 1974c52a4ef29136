import { setTimeout as sleep } from 'node:timers/promises'
import { readConfig } from '@svc/contract/config'
import { readSandboxFile, type SandboxFile } from '@svc/server/sandbox/demo'
import { UsageError } from './usage-error.ts'

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

/** The HTTP interface as one tenant uses it; gets tokens when it needs them. */
export class TenantSession {
  readonly #baseUrl: string
  readonly #credentials: Credentials
  #token: Promise<string> | undefined

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
      const partner = 'partnerId' in this.#credentials ? { partnerid: this.#credentials.partnerId! } : {}
      const headers = { ...partner, ...request.headers, authorization: `Bearer ${token}` }
      const response = await fetch(`${this.#baseUrl}${path}`, { ...request, headers })
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
    if (!response.ok) throw new UsageError(`${method} ${path} returned ${response.status}: ${wordsIn(text)}`)
    return (JSON.parse(text) as { payload: T }).payload
  }

  async #newToken(): Promise<string> {
    const credentials = this.#credentials
    const response =
      'apiKey' in credentials
        ? await fetch(`${this.#baseUrl}/api/v0/merchant/token`, {
            method: 'POST',
            headers: { 'api-key': credentials.apiKey },
          })
        : await fetch(`${this.#baseUrl}/oauth/token`, {
            method: 'POST',
            body: new URLSearchParams({
              grant_type: 'client_credentials',
              client_id: credentials.clientId,
              client_secret: credentials.clientSecret,
            }),
          })
    const text = await response.text()
    if (!response.ok) throw new UsageError(`No token: ${wordsIn(text)}`)
    const { token, access_token: accessToken } = JSON.parse(text) as { token?: string; access_token?: string }
    return token ?? accessToken!
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

function wordsIn(text: string): string {
  const failure = failureIn(text)
  return failure ? `${failure.error}: ${failure.description}` : text.slice(0, 200)
}

/** Waits as asked; a pause grows from one second to ten. */
export const pauseAfter = (failures: number): Promise<void> =>
  sleep(Math.min(10_000, 1_000 * 2 ** Math.min(failures - 1, 4)))
