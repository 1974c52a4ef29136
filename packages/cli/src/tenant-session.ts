import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { readConfig } from '@svc/contract/config'
import { ConnectionError, Merchant, Partner, SvcError, UnexpectedResponseError } from '@svc/sdk'
import { CREDENTIALS_PATH, readSandboxFile, type SandboxFile } from '@svc/server/sandbox/sandbox-file'
import { allowsPlainHttp, requireEncryptedWay } from './encrypted-way.ts'
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
  | { readonly partnerId: string; readonly clientId: string; readonly clientSecret: string }

/** A path below the address of the server, with its query. */
export type ApiPath = `/${string}`

/** Responses may take this long: a test clock that moves by a year does a year's work first. */
const CALL_MS_MAX = 300_000
/** Failures of requests for a token. */
const WRONG_CREDENTIALS = ['invalid_api_key', 'invalid_client'] as const

/** The demo tenants of the sandbox that the settings name, and where it listens. */
export async function readSandbox(): Promise<SandboxFile> {
  const { DATA_DIR } = readConfig(process.env)
  const file = await readSandboxFile(DATA_DIR)
  return file ?? noSandbox(DATA_DIR)
}

const noSandbox = (dataDir: string): never => {
  throw new UsageError(`There is no sandbox.json in ${dataDir}. Start the sandbox first: svc serve`)
}

/** The same of a sandbox that runs elsewhere, as text. */
export async function fetchSandbox(baseUrl: string): Promise<string> {
  const response = await fetch(`${baseUrl}${CREDENTIALS_PATH}`).catch((error: unknown) => {
    throw unreachable(baseUrl, error)
  })
  if (response.ok) return response.text()
  throw new UsageError(
    `${baseUrl}${CREDENTIALS_PATH} returned ${response.status}: only a service in sandbox mode gives credentials away. For another one: svc login --base-url ${baseUrl}`,
  )
}

/** The HTTP interface as one tenant uses it: the SDK, with failures that a person reads in one line. */
export class TenantSession {
  readonly client: Merchant | Partner
  /** Of a partner. */
  readonly partnerId: string | undefined
  readonly #baseUrl: string

  constructor(baseUrl: string, credentials: Credentials) {
    requireEncryptedWay(new URL(baseUrl))
    const allowPlainHttp = allowsPlainHttp()
    const options = {
      baseUrl,
      allowPlainHttp,
      maxRetries: 0,
      timeoutMs: CALL_MS_MAX,
      deadlineMs: CALL_MS_MAX,
    }
    this.client =
      'apiKey' in credentials
        ? new Merchant({ ...options, apiKey: credentials.apiKey })
        : new Partner({ ...options, ...credentials })
    this.partnerId = 'partnerId' in credentials ? credentials.partnerId : undefined
    this.#baseUrl = baseUrl
  }

  /** The page of the server's reference about error codes. */
  get docs(): string {
    return `${this.#baseUrl}/docs/errors`
  }

  /** Sends a request; throws RemoteError where the response is a failure, or there is none. */
  fetch(path: ApiPath, request: RequestInit = {}): Promise<Response> {
    return this.reported(`${request.method ?? 'GET'} ${path}`, this.client.api.fetch(path, request))
  }

  /** Sends JSON and returns the payload. A write has a key of its own: equal ones are meant to be two (decision C22). */
  async call<T>(method: string, path: ApiPath, body?: unknown): Promise<T> {
    const sent =
      body === undefined
        ? {}
        : {
            body: JSON.stringify(body),
            headers: { 'content-type': 'application/json', 'idempotency-key': randomUUID() },
          }
    const response = await this.fetch(path, { method, ...sent })
    return ((await response.json()) as { payload: T }).payload
  }

  /** Gets a token, so that wrong credentials are noticed now. */
  signIn(): Promise<void> {
    return this.reported('The request for a token', this.client.api.authenticate())
  }

  /** The result of calls of the SDK; their failures as RemoteError. */
  async reported<T>(what: string, result: Promise<T>): Promise<T> {
    try {
      return await result
    } catch (error) {
      throw this.errorOf(what, error)
    }
  }

  /** What a person reads of a failure of the SDK; other errors stay as they are. */
  errorOf(what: string, error: unknown): unknown {
    if (error instanceof ConnectionError) {
      return unreachable(this.#baseUrl, error)
    }
    if (SvcError.is(error, ...WRONG_CREDENTIALS))
      return notSignedIn(`No token: ${error.error}: ${error.description}`)
    const isFailure = error instanceof SvcError || error instanceof UnexpectedResponseError
    return isFailure ? refusal(what, error) : error
  }
}

const unreachable = (baseUrl: string, cause: unknown): RemoteError =>
  new RemoteError(`Nothing responds at ${baseUrl} (${networkErrorOf(cause)})`, {
    code: 'unreachable',
    exitCode: EXIT.unreachable,
    cause,
  })

function refusal(what: string, error: SvcError | UnexpectedResponseError): RemoteError {
  const isFailure = error instanceof SvcError
  const { body, headers, status } = error
  const words = isFailure ? `${error.error}: ${error.description}` : body.slice(0, 200)
  const requestId = headers.get('x-request-id') ?? undefined
  return new RemoteError(`${what} returned ${status}: ${words}`, {
    code: isFailure ? error.error : `http_${status}`,
    status,
    exitCode: status === 401 ? EXIT.notSignedIn : EXIT.refused,
    cause: error,
    ...(requestId !== undefined && { requestId }),
  })
}

/** The innermost cause that has a code, such as `ECONNREFUSED`. */
function networkErrorOf(error: unknown): string {
  if (!(error instanceof Error)) return 'no response'
  const { code } = error as NodeJS.ErrnoException
  return typeof code === 'string' ? code : networkErrorOf(error.cause)
}

/** Waits as the response says; a pause grows from one second to ten. */
export const pauseAfter = (failures: number): Promise<void> =>
  sleep(Math.min(10_000, 1_000 * 2 ** Math.min(failures - 1, 4)))
