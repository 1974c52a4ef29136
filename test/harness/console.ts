import { readFile } from 'node:fs/promises'
import { insertOperator } from '@svc/console-api/identity/operator-store'
import { hashPassword } from '@svc/console-api/identity/password'
import type { Role } from '@svc/console-api/identity/permissions'
import { request } from 'undici'
import { explain } from './causes.ts'
import type { Json } from './client.ts'
import { Contract } from './contract.ts'
import type { TestService } from './service.ts'

export const API = '/console/api/v0'
/** What the console's own page sends with everything that is not a GET. */
export const OWN = { 'x-svc-console': '1' }
export const PASSWORD = 'correct horse battery staple'

export const PORTAL_API = '/portal/api/v0'

const contractOf = async (name: string): Promise<Contract> => {
  const document = new URL(`../../docs/reference/${name}-openapi.json`, import.meta.url)
  return new Contract(JSON.parse(await readFile(document, 'utf8')))
}
const CONTRACTS = { [API]: await contractOf('console'), [PORTAL_API]: await contractOf('portal') }

export interface ConsoleResponse {
  readonly status: number
  readonly headers: Record<string, string | string[] | undefined>
  readonly text: string
  readonly json: Json
  /** `error` of the problem; undefined on success. */
  readonly error: string | undefined
}

/** A browser without a page: keeps the cookie, sends what the page sends. Every answer is held against the document. */
export class Browser {
  readonly #baseUrl: string
  readonly #api: typeof API | typeof PORTAL_API
  cookie: string | undefined

  constructor({ client }: Pick<TestService, 'client'>, api: typeof API | typeof PORTAL_API = API) {
    this.#baseUrl = client.baseUrl
    this.#api = api
  }

  /** As browsers do, by name; one without a value is gone. */
  #keep(set: readonly string[]): void {
    const kept = new Map((this.cookie?.split('; ') ?? []).map((cookie) => [cookie.split('=')[0], cookie]))
    for (const cookie of set.map((each) => each.split(';')[0]!)) kept.set(cookie.split('=')[0], cookie)
    const cookies = [...kept.values()].filter((cookie) => !cookie.endsWith('='))
    this.cookie = cookies.length > 0 ? cookies.join('; ') : undefined
  }

  async send(
    method: string,
    path: string,
    body?: unknown,
    headers: Record<string, string> = method === 'GET' ? {} : OWN,
  ): Promise<ConsoleResponse> {
    const response = await request(`${this.#baseUrl}${this.#api}${path}`, {
      method: method as 'GET',
      headers: {
        accept: 'application/problem+json, application/json',
        ...(this.cookie && { cookie: this.cookie }),
        ...(body !== undefined && {
          'content-type': Buffer.isBuffer(body) ? 'application/octet-stream' : 'application/json',
        }),
        ...headers,
      },
      ...(body !== undefined && { body: Buffer.isBuffer(body) ? body : JSON.stringify(body) }),
    })
    explain(this.#baseUrl, `${method} ${path}`, response.statusCode, response.headers['x-request-id'])
    const text = await response.body.text()
    const isJson = String(response.headers['content-type']).includes('json')
    const json: Json = isJson && text ? JSON.parse(text) : undefined
    CONTRACTS[this.#api]!.check(
      method,
      `${this.#api}${path}`,
      response.statusCode,
      response.headers,
      isJson ? json : text,
    )
    this.#keep([response.headers['set-cookie'] ?? []].flat())
    return {
      status: response.statusCode,
      headers: response.headers,
      text,
      json,
      error: response.statusCode >= 400 ? json?.error : undefined,
    }
  }

  get(path: string, headers?: Record<string, string>): Promise<ConsoleResponse> {
    return this.send('GET', path, undefined, headers)
  }

  post(path: string, body?: unknown, headers: Record<string, string> = {}): Promise<ConsoleResponse> {
    return this.send('POST', path, body, { ...OWN, ...headers })
  }

  signIn(name: string, password = PASSWORD): Promise<ConsoleResponse> {
    return this.post('/session', { name, password })
  }
}

let operators = 0
let hash: Promise<string> | undefined

/** An operator of this role with the password of the tests. */
export async function newOperator(
  { app }: TestService,
  role: Role,
): Promise<{ operatorId: string; name: string }> {
  const { database, random } = app.services
  const passwordHash = await (hash ??= hashPassword(PASSWORD))
  return database.operate((tx) =>
    insertOperator(tx, random, { name: `${role}.${operators++}`, role, passwordHash }),
  )
}

/** A browser in which an operator of this role is signed in. */
export async function signedIn(service: TestService, role: Role): Promise<Browser> {
  const browser = new Browser(service)
  const { name } = await newOperator(service, role)
  const response = await browser.signIn(name)
  if (response.status !== 200) throw new Error(`not signed in: ${response.text}`)
  return browser
}
