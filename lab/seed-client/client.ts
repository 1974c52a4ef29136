// A client of the partner service, written from its specification alone; of the service's guides it knows the pages on
// the partner token and on encryption. It uses nothing of this project.
import { createCipheriv, randomBytes } from 'node:crypto'
import { isObject, type Json, type JsonObject } from './records.ts'

/** What is shared at sign-up. */
export interface PartnerKeys {
  readonly partnerId: string
  readonly clientId: string
  readonly clientSecret: string
  readonly sharedKey: { readonly kid: string; readonly k: string }
}

export interface Reply {
  readonly status: number
  readonly contentType: string
  readonly body: JsonObject
}

const JSON_TYPE = { 'Content-Type': 'application/json' }

class Connection {
  readonly #baseUrl: string
  /** Cookies that the service has set. */
  readonly #cookies = new Map<string, string>()

  constructor(baseUrl: string) {
    this.#baseUrl = baseUrl
  }

  get cookie(): string {
    return [...this.#cookies].map(([name, value]) => `${name}=${value}`).join('; ')
  }

  async send(
    method: string,
    path: string,
    headers: Readonly<Record<string, string>>,
    body?: string,
  ): Promise<Reply> {
    const response = await fetch(this.#baseUrl + path, {
      method,
      headers,
      ...(body !== undefined && { body }),
    })
    for (const cookie of response.headers.getSetCookie()) {
      const [name = '', value = ''] = (cookie.split(';')[0] ?? '').split('=')
      this.#cookies.set(name, value)
    }
    const parsed: Json = JSON.parse(await response.text())
    if (!isObject(parsed)) throw new Error(`${method} ${path}: the body is not a JSON object`)
    return {
      status: response.status,
      contentType: response.headers.get('content-type') ?? '',
      body: parsed,
    }
  }
}

/** Section 4.1 and 4.2. */
export class MerchantClient {
  readonly #connection: Connection
  readonly #apiKey: string

  constructor(baseUrl: string, apiKey: string) {
    this.#connection = new Connection(baseUrl)
    this.#apiKey = apiKey
  }

  token = (): Promise<Reply> =>
    this.#connection.send('POST', '/api/v0/merchant/token', { ...JSON_TYPE, 'API-Key': this.#apiKey })

  cancel = (qrCodeId: string, token: string): Promise<Reply> =>
    this.#connection.send(
      'PATCH',
      `/api/v0/qr-code/${qrCodeId}/cancel`,
      { ...JSON_TYPE, Authorization: `Bearer ${token}` },
      '{}',
    )
}

/** Sections 4.3 to 4.5. */
export class PartnerClient {
  readonly #connection: Connection
  readonly #keys: PartnerKeys

  constructor(baseUrl: string, keys: PartnerKeys) {
    this.#connection = new Connection(baseUrl)
    this.#keys = keys
  }

  /** By the guide: OAuth client credentials. The session cookie of the search comes with the token. */
  async token(): Promise<string> {
    const { clientId, clientSecret } = this.#keys
    const form = { grant_type: 'client_credentials', client_id: clientId, client_secret: clientSecret }
    const { status, body } = await this.#connection.send(
      'POST',
      '/oauth/token',
      { 'Content-Type': 'application/x-www-form-urlencoded' },
      new URLSearchParams(form).toString(),
    )
    const token = body['access_token']
    if (status !== 200 || typeof token !== 'string') throw new Error(`no token: ${JSON.stringify(body)}`)
    return token
  }

  createCard = (order: JsonObject, token: string): Promise<Reply> =>
    this.#connection.send(
      'POST',
      '/api/v0/partner/svcCard',
      { ...JSON_TYPE, authorization: `Bearer ${token}`, partnerId: this.#keys.partnerId },
      JSON.stringify(encrypt(JSON.stringify(order), this.#keys.sharedKey)),
    )

  search = (body: JsonObject, token: string): Promise<Reply> =>
    this.#connection.send(
      'POST',
      '/api/v0/partner/svcCard/search',
      {
        ...JSON_TYPE,
        Authorization: `Bearer ${token}`,
        partnerId: this.#keys.partnerId,
        Cookie: this.#connection.cookie,
      },
      JSON.stringify(body),
    )

  coinConfiguration = (coinConfigId: string, token?: string): Promise<Reply> =>
    this.#connection.send('GET', `/api/v0/svc-coins/${coinConfigId}`, {
      ...(token !== undefined && { authorization: `Bearer ${token}` }),
    })
}

/** By the guide: a compact JWE (RFC 7516), A256KW and A256GCM. */
function encrypt(text: string, { kid, k }: PartnerKeys['sharedKey']): string {
  const header = Buffer.from(JSON.stringify({ alg: 'A256KW', enc: 'A256GCM', kid })).toString('base64url')
  const contentKey = randomBytes(32)
  // RFC 3394 section 2.2.3.1: the initial value.
  const wrap = createCipheriv('id-aes256-wrap', Buffer.from(k, 'base64url'), Buffer.alloc(8, 0xa6))
  const wrapped = Buffer.concat([wrap.update(contentKey), wrap.final()])
  const iv = randomBytes(12)
  const cipher = createCipheriv('aes-256-gcm', contentKey, iv).setAAD(Buffer.from(header))
  const encrypted = Buffer.concat([cipher.update(text), cipher.final()])
  const parts = [wrapped, iv, encrypted, cipher.getAuthTag()].map((part) => part.toString('base64url'))
  return [header, ...parts].join('.')
}
