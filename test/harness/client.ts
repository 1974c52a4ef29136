import type { Config } from '@svc/contract/config'
import { signNotice } from '@svc/server/http/notice-signature'
import { Pool } from 'undici'
import { expect } from 'vitest'
import { explain } from './causes.ts'
import { Contract } from './contract.ts'

/** A JSON answer; tests know its shape, so it is not typed further. */
// oxlint-disable-next-line typescript/no-explicit-any -- the one place where tests read untyped JSON
export type Json = any

export interface ApiResponse {
  readonly status: number
  readonly headers: Record<string, string | string[] | undefined>
  readonly text: string
  readonly json: Json
  /** `error` of the failure envelope; undefined on success. */
  readonly error: string | undefined
  readonly errorDescription: string | undefined
}

type Headers = Record<string, string>

/** By what the documents say, but for the address: those of many processes are one, and its checks are compiled once. */
const contractsOfDocuments = new Map<string, Contract>()

async function contractOf(pool: Pool): Promise<Contract> {
  const { body } = await pool.request({ method: 'GET', path: '/openapi.json' })
  const document = { ...((await body.json()) as object), servers: [] }
  const text = JSON.stringify(document)
  const contract = contractsOfDocuments.get(text) ?? new Contract(document)
  contractsOfDocuments.set(text, contract)
  return contract
}

type Settings = Pick<Config, 'CARD_AMOUNTS' | 'SVC_MODE'>

/** By settings: the document takes longer to make and to read than most tests. */
const contracts = new Map<string, Promise<Contract>>()

/** Real HTTP to a running service. Every answer is held against the service's own OpenAPI document. */
export class Client {
  readonly baseUrl: string
  readonly #pool: Pool
  readonly #contract: Contract
  readonly #headers: Headers

  private constructor(baseUrl: string, pool: Pool, contract: Contract, headers: Headers) {
    this.baseUrl = baseUrl
    this.#pool = pool
    this.#contract = contract
    this.#headers = headers
  }

  /** `settings` where the service runs the sources of this process: they decide what its document says of responses. */
  static async open(baseUrl: string, settings?: Settings): Promise<Client> {
    const key = settings ? `${settings.SVC_MODE} ${settings.CARD_AMOUNTS}` : undefined
    const pool = new Pool(baseUrl, { connections: 128, pipelining: 1 })
    const contract = (key === undefined ? undefined : contracts.get(key)) ?? contractOf(pool)
    if (key) contracts.set(key, contract)
    return new Client(baseUrl, pool, await contract, {})
  }

  /** Header fields of every request, for those that send their own. */
  get headers(): Headers {
    return this.#headers
  }

  /** The same client with more header fields on every request. */
  with(headers: Headers): Client {
    return new Client(this.baseUrl, this.#pool, this.#contract, { ...this.#headers, ...headers })
  }

  async send(
    method: 'GET' | 'HEAD' | 'POST' | 'PATCH' | 'PUT' | 'DELETE',
    path: string,
    body?: string | Buffer,
    headers: Headers = {},
  ): Promise<ApiResponse> {
    const response = await this.#pool.request({
      method,
      path,
      headers: { ...this.#headers, ...headers },
      ...(body !== undefined && { body }),
    })
    explain(this.baseUrl, `${method} ${path}`, response.statusCode, response.headers['x-request-id'])
    const text = await response.body.text()
    const isJson = String(response.headers['content-type']).includes('json')
    const json: Json = isJson && text ? JSON.parse(text) : undefined
    this.#contract.check(method, path, response.statusCode, response.headers, isJson ? json : text)
    const failure = typeof json?.payload === 'string' ? JSON.parse(json.payload) : undefined
    return {
      status: response.statusCode,
      headers: response.headers,
      text,
      json,
      error: failure?.error,
      errorDescription: failure?.error_description,
    }
  }

  get(path: string, headers?: Headers): Promise<ApiResponse> {
    return this.send('GET', path, undefined, headers)
  }

  /** Sends JSON; without a body it sends none. */
  post(path: string, body?: unknown, headers: Headers = {}): Promise<ApiResponse> {
    if (body === undefined) return this.send('POST', path, undefined, headers)
    return this.send('POST', path, JSON.stringify(body), { 'content-type': 'application/json', ...headers })
  }

  patch(path: string, body?: unknown, headers: Headers = {}): Promise<ApiResponse> {
    if (body === undefined) return this.send('PATCH', path, undefined, headers)
    return this.send('PATCH', path, JSON.stringify(body), { 'content-type': 'application/json', ...headers })
  }

  /** A notice of the UPI rail, signed the way a bank signs. */
  notify(path: string, notice: object, key: string, nowMs = Date.now()): Promise<ApiResponse> {
    const body = Buffer.from(JSON.stringify(notice))
    return this.send('POST', path, body, {
      'content-type': 'application/json',
      'x-rail-signature': signNotice(body, key, nowMs),
    })
  }
}

/** Fails the test with the service's own words when the answer is not a success. */
export function payloadOf(response: ApiResponse): Json {
  expect(response.status, response.text).toBe(200)
  return response.json.payload
}
