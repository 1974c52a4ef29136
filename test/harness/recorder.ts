import { signNotice } from '@svc/server/http/notice-signature'
import { OPERATIONS } from '@svc/server/operations'
import type { ApiResponse, Client } from './client.ts'
import { BANK_RAIL_KEY, CARD_RAIL_KEY, RAIL_KEY } from './service.ts'

/** What a worked example sends; what it leaves out is not sent. */
export interface RecordedRequest {
  readonly params?: Record<string, string>
  readonly query?: Record<string, string>
  readonly headers?: Record<string, string>
  /** JSON, or the text as it is. */
  readonly body?: object | string
  /** Of an encrypted body, what is inside. */
  readonly encrypted?: object
  /** Instead of the operation's own: a client without credentials, or with others. */
  readonly as?: Client
}

interface Recorded {
  readonly name: string
  readonly summary: string
  readonly request: Omit<RecordedRequest, 'as'>
  readonly status: number
  readonly mediaType: string
  readonly response: unknown
}

/** Calls operations and keeps what was sent and answered, as the reference shows it. */
export class Recorder {
  readonly examples: Record<string, Recorded[]> = {}
  /** Failures that did not come, all told at once. */
  readonly differences: string[] = []
  readonly #plain: Client

  constructor(plain: Client) {
    this.#plain = plain
  }

  /** A success, and for operations that want credentials the same without them. */
  async works(
    id: string,
    summary: string,
    client: Client,
    requested: RecordedRequest = {},
  ): Promise<ApiResponse> {
    const response = await this.#call(id, client, requested)
    if (response.status !== 200) throw new Error(`${id} failed: ${response.text}`)
    this.#keep(id, 'success', summary, requested, response)
    if (operationOf(id).auth === 'none') return response
    const refused = await this.#call(id, this.#plain, requested, false)
    this.#keep(id, refused.error!, 'Without credentials', {}, refused)
    return response
  }

  /** A failure with this error code. */
  async fails(
    id: string,
    errorCode: string,
    summary: string,
    client: Client,
    requested: RecordedRequest = {},
  ): Promise<void> {
    const response = await this.#call(id, client, requested)
    if (response.error !== errorCode)
      this.differences.push(`${id} did not fail with ${errorCode}: ${response.text}`)
    this.#keep(id, errorCode, summary, requested, response)
  }

  async #call(id: string, client: Client, requested: RecordedRequest, signs = true): Promise<ApiResponse> {
    const { path, method, auth } = operationOf(id)
    const { params = {}, query, headers = {}, body } = requested
    const url = path.replace(/:(\w+)/g, (_, name: string) => encodeURIComponent(params[name]!))
    const search = query ? `?${new URLSearchParams(query)}` : ''
    const text = typeof body === 'object' ? JSON.stringify(body) : body
    const type = typeof body === 'object' ? { 'content-type': 'application/json' } : {}
    const key = { rail: RAIL_KEY, bankRail: BANK_RAIL_KEY, cardRail: CARD_RAIL_KEY }[auth as string]
    const signature =
      key && signs ? { 'x-rail-signature': signNotice(Buffer.from(text!), key, Date.now()) } : {}
    // The client has a `partnerid` of its own, and names differ by case only.
    const lower = Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value])
    return client.send(method, url + search, text, {
      ...type,
      ...signature,
      ...(Object.fromEntries(lower) as Record<string, string>),
    })
  }

  #keep(id: string, name: string, summary: string, requested: RecordedRequest, response: ApiResponse): void {
    const { as: _, ...request } = requested
    const mediaType = String(response.headers['content-type']).split(';')[0]!
    const recorded = { name, summary, request, status: response.status, mediaType }
    // Files are no text; their first bytes say what they are.
    const text = mediaType === 'application/pdf' ? response.text.slice(0, 8) : response.text
    ;(this.examples[id] ??= []).push({ ...recorded, response: response.json ?? text })
  }
}

export const operationOf = (id: string) => OPERATIONS.find((operation) => operation.id === id)!

/** Values that differ from run to run, by the name of their field. */
const BY_FIELD: Record<string, unknown> = {
  qrCodeBase64: 'iVBORw0KGgoAAAANSUhEUgAAAOQAAADkAQAAAACWaDlg…',
  secret: 'whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD',
  apiKey: 'svc_test_0000000000000000000000000_000000',
  kid: 'key_1',
  authorizationCode: '042173',
  n: 'pjdss8ZaDfEH6K6U7GeW2nxDqR4IP049fk1fK0lndimbMMVBdPv_hSpm8T8EtBDxrUdi1OHZfMhUixGaut-3nQ4GG9nM249oxhCtxqqNvEXrmQRGqczyLxuh…',
  x: 'f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU',
  y: 'x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0',
  key: 'whpk_f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU=',
  expiry: 1_775_039_645_000,
  expiryMonth: '04',
  expiryYear: '2027',
  durationMs: 12,
  period: '2026-03',
  root: 'vV8bqFtJr0TnQ0b8xyo5mYq8hSuUjtrRlkrRJU8e9Gw=',
  hash: 'Yw3yQ2hPz0dFq1m7oX5JkV8nT4cR6sL9uB0aGfEiKlM=',
  checkpoint:
    'svc/mer_01m7yx4b000000000000000001\n1\nvV8bqFtJr0TnQ0b8xyo5mYq8hSuUjtrRlkrRJU8e9Gw=\ntime 2026-04-01T09:34:05.123Z\n\n— svc/mer_01m7yx4b000000000000000001 6mVxQ2hP…\n',
}
const JWE = /\beyJ[\w-]+(?:\.[\w-]+){4}/g
const JWT = /\beyJ[\w-]+(?:\.[\w-]+){2}/g

/** The same recording for the same behaviour: ids are counted, times and secrets are fixed. */
export function normalized(recording: unknown): unknown {
  const ids = new Map<string, string>()
  const fixed = (prefix: string, id: string, digits: number) => {
    const known = ids.get(id) ?? `${prefix}01M7YX4B00${String(ids.size + 1).padStart(digits - 10, '0')}`
    ids.set(id, known)
    return known
  }
  const inText = (text: string): string =>
    text
      .replace(/\b([a-z]{2,8}_)[0-9a-z]{26}\b/g, (id, prefix: string) => fixed(prefix, id, 26).toLowerCase())
      .replace(/\b(SBXB?|SVC)[0-9A-Z]{26}\b/g, (id, prefix: string) => fixed(prefix, id, 26))
      .replace(/\bSVCP\d{12}\b/g, 'SVCP402937185686')
      .replace(JWE, 'eyJhbGciOiJBMjU2S1ciLCJlbmMiOiJBMjU2R0NNIiwia2lkIjoia2V5XzEifQ.ZUVjZnlw…')
      .replace(JWT, 'eyJhbGciOiJFZERTQSIsInR5cCI6ImF0K2p3dCJ9.eyJzdWIiOiJ0ZW5hbnQifQ.c2ln…')
      .replace(/\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}(\+05:30|Z)/g, '2026-04-01T15:04:05.123+05:30')
      .replace(/\b\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\b/g, '2026-04-01 15:04:05')
      .replace(/\b\d{4}-\d\d-\d\d\b(?![T ]\d)/g, (day) => (day < '2026-04-01' ? day : '2026-04-01'))
      .replace(/\b[A-Z][a-z]{2} \d{1,2}, \d{4} \d{1,2}:\d\d:\d\d [AP]M\b/g, 'Apr 1, 2026 3:04:05 PM')
      .replace(/\b\d{6}X{6}\d{4}\b/g, '999912XXXXXX1234')
      .replace(/\b([A-Z])\/\d\d-\d\d\/(?=\d)/g, '$1/26-27/')
      .replace(/\bsvc_test_\w+/g, 'svc_test_wtdk1smmnn9gzxsjp1xx59z4hx4gasvv_r23xq0')
      .replace(/\bsvc_secret_\w+/g, 'svc_secret_0123456789abcdefghjkmnpqrstvwxyz01234567')
      .replace(/\bmak_\w+/g, 'mak_0123456789abcdefghjkmnpq')
      .replace(/http:\/\/127\.0\.0\.1:\d+\/hook/g, 'http://127.0.0.1:3000/hook')
      .replace(/http:\/\/127\.0\.0\.1:(?!3000)\d+/g, 'http://127.0.0.1:8080')
  const walk = (node: unknown, name?: string): unknown => {
    if (name !== undefined && name in BY_FIELD && typeof node === typeof BY_FIELD[name]) return BY_FIELD[name]
    if (name === 'next' && typeof node === 'string') return 'MTc3NTAzOTY0NTEyMyBxcl8wMW03…'
    if (typeof node === 'string') return inText(node)
    if (Array.isArray(node)) return node.map((item) => walk(item))
    if (node === null || typeof node !== 'object') return node
    return Object.fromEntries(Object.entries(node).map(([key, value]) => [inText(key), walk(value, key)]))
  }
  return walk(recording)
}
