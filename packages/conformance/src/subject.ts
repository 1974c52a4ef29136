import type {
  Credentials,
  MerchantCredentials,
  MerchantName,
  PartnerCredentials,
  PartnerName,
} from './credentials.ts'
import { type EncryptionKey, encrypt, publishedEncryptionKey, sharedEncryptionKey } from './encryption.ts'
import type { HttpResponse, Request } from './exchange.ts'
import { at, wantJson, wantStatus } from './expect.ts'
import type { Http } from './http.ts'
import { cookieOf, hideCookie, hideSession, type PartnerSession, sessionOf } from './session.ts'
import { Blocked, block, Skipped, Violation } from './verdict.ts'

export type Profile = 'spec' | 'full'
export type Headers = Readonly<Record<string, string>>
export type Fields = Readonly<Record<string, unknown>>

export const JSON_BODY: Headers = { 'content-type': 'application/json' }
export const PATHS = {
  token: '/api/v0/merchant/token',
  partnerToken: '/oauth/token',
  qrCode: '/api/v0/qr-code',
  card: '/api/v0/partner/svcCard',
  search: '/api/v0/partner/svcCard/search',
  coins: '/api/v0/svc-coins',
  pay: '/sandbox/upi/pay',
} as const

export const cancelPath = (qrCodeId: string): string =>
  `${PATHS.qrCode}/${encodeURIComponent(qrCodeId)}/cancel`

interface CardOptions {
  readonly who?: PartnerName
  readonly key?: EncryptionKey
  readonly headers?: Headers
}

/** The server under test, with what the checks share: tokens, keys, a card, a cancelled code. Each is got once. */
export class Subject {
  readonly http: Http
  readonly credentials: Credentials
  readonly profile: Profile
  readonly #shared = new Map<string, Promise<unknown>>()
  readonly #disposable: string[]

  constructor(http: Http, credentials: Credentials, profile: Profile) {
    this.http = http
    this.credentials = credentials
    this.profile = profile
    this.#disposable = [...(credentials.disposableQrCodeIds ?? [])]
    this.#hideSecrets()
  }

  send(request: Request): Promise<HttpResponse> {
    return this.http.send(request)
  }

  /** Sends JSON text, or none without a body. */
  call(method: Request['method'], path: string, body: unknown, headers: Headers = {}): Promise<HttpResponse> {
    if (body === undefined) return this.send({ method, path, headers })
    return this.send({ method, path, headers: { ...JSON_BODY, ...headers }, body: JSON.stringify(body) })
  }

  /** Does the work once for all checks. Where it fails, those that need it are blocked: another check says what is wrong. */
  once<T>(name: string, work: () => Promise<T>): Promise<T> {
    const known = this.#shared.get(name) as Promise<T> | undefined
    if (known) return known
    const made = work().catch((error: unknown) => {
      if (!(error instanceof Violation)) throw error
      throw new Blocked(`needs ${name}: ${error.message}`, { cause: error })
    })
    // Awaited by each check that needs it, by none perhaps just now.
    made.catch(() => undefined)
    this.#shared.set(name, made)
    return made
  }

  /** As `once`, of a response that checks look at: where none comes, the first to look fails and the others are blocked. */
  observe<T>(name: string, work: () => Promise<T>): Promise<T> {
    const known = this.#shared.get(name) as Promise<T> | undefined
    if (known) return known
    const made = work()
    this.once(name, () => made).catch(() => undefined)
    return made
  }

  merchant(who: MerchantName = 'merchant'): MerchantCredentials {
    return this.credentials[who] ?? skip(`the credentials have no ${who}`)
  }

  partner(who: PartnerName = 'incentivePartner'): PartnerCredentials {
    return this.credentials[who] ?? skip(`the credentials have no ${who}`)
  }

  /** Spec §4.1: requests a token; all checks of it share one response. */
  tokenResponse(who: MerchantName = 'merchant'): Promise<HttpResponse> {
    const { apiKey } = this.merchant(who)
    return this.once(`a token of ${who}`, async () => {
      const response = await this.send({
        method: 'POST',
        path: PATHS.token,
        headers: { 'API-Key': apiKey, ...JSON_BODY },
      })
      const token = at(response, 'token')
      if (typeof token === 'string') this.http.redactor.hide(token, nameOf(who, 'TOKEN'))
      return response
    })
  }

  async merchantToken(who: MerchantName = 'merchant'): Promise<string> {
    const response = await this.tokenResponse(who)
    const token = at(response, 'token')
    if (response.status !== 200 || typeof token !== 'string' || token === '')
      block(response, 'token', `needs a token of ${who}: the token operation returned ${response.status}`)
    return token
  }

  async asMerchant(who: MerchantName = 'merchant'): Promise<Headers> {
    return { authorization: `Bearer ${await this.merchantToken(who)}` }
  }

  /** Signs in by OAuth (decision A7), or takes the token of the credentials. */
  asPartner(who: PartnerName = 'incentivePartner'): Promise<PartnerSession> {
    const credentials = this.partner(who)
    return this.once(`a token of ${who}`, async () => {
      if (credentials.accessToken !== undefined)
        return sessionOf(credentials, credentials.accessToken, credentials.cookie)
      const response = await this.partnerTokenResponse(who)
      wantStatus(response, 200)
      wantJson(response)
      const token = at(response, 'access_token')
      if (typeof token !== 'string' || token === '') throw new Violation('an access_token', 'none', response)
      return sessionOf(credentials, token, cookieOf(response))
    })
  }

  /** One more token of the partner, by client credentials in the body. */
  async partnerTokenResponse(
    who: PartnerName = 'incentivePartner',
    change: Fields = {},
  ): Promise<HttpResponse> {
    const { clientId, clientSecret } = this.partner(who)
    if (clientId === undefined || clientSecret === undefined)
      return skip(`the credentials of ${who} have no client`)
    const form = {
      grant_type: 'client_credentials',
      client_id: clientId,
      client_secret: clientSecret,
      ...change,
    }
    return this.partnerTokenOf(who, {}, new URLSearchParams(form as Record<string, string>))
  }

  /** Sends a form to the partner token operation; token and cookies of the response stay out of reports. */
  async partnerTokenOf(who: PartnerName, headers: Headers, form: URLSearchParams): Promise<HttpResponse> {
    const response = await this.send({
      method: 'POST',
      path: PATHS.partnerToken,
      headers: { 'content-type': 'application/x-www-form-urlencoded', ...headers },
      body: form.toString(),
    })
    hideSession(this.http.redactor, response, (what) => nameOf(who, what))
    return response
  }

  sharedKey(who: PartnerName = 'incentivePartner'): EncryptionKey {
    const { sharedKey } = this.partner(who)
    return sharedKey ? sharedEncryptionKey(sharedKey) : skip(`the credentials of ${who} have no sharedKey`)
  }

  async publishedKey(kind: 'P-256' | 'X25519' | 'RSA'): Promise<EncryptionKey> {
    const response = await this.once('the published keys', () =>
      this.send({ method: 'GET', path: '/.well-known/jwks.json' }),
    )
    return (
      publishedEncryptionKey(at(response, 'keys'), kind) ??
      skip(`the server publishes no ${kind} key to encrypt to`)
    )
  }

  /** What every order names; with the smallest load where the server knows that field. */
  orderOf(who: PartnerName = 'incentivePartner', more: Fields = {}): Fields {
    const { companyId, cardAccountId } = this.partner(who)
    return { companyId, cardAccountId, ...(this.profile === 'full' && { loadAmount: '1' }), ...more }
  }

  /** Spec §4.3: encrypts an order as JSON and sends it. */
  async createCard(order: unknown, options: CardOptions = {}): Promise<HttpResponse> {
    return this.createCardOf(JSON.stringify(order), options)
  }

  /** As `createCard`, of a text that need not be JSON. */
  async createCardOf(
    text: string,
    { who = 'incentivePartner', key, headers = {} }: CardOptions,
  ): Promise<HttpResponse> {
    const encrypted = await encrypt(text, key ?? this.sharedKey(who))
    return this.sendEncrypted(encrypted, { who, headers }, text)
  }

  async sendEncrypted(
    jwe: string,
    { who = 'incentivePartner', headers = {} }: CardOptions,
    text = '',
  ): Promise<HttpResponse> {
    const { headers: own } = await this.asPartner(who)
    return this.send({
      method: 'POST',
      path: PATHS.card,
      headers: { ...own, ...JSON_BODY, ...headers },
      body: JSON.stringify(jwe),
      encrypted: text,
    })
  }

  /** Spec §4.4: searches with everything that the operation requires. */
  async search(who: PartnerName, body: unknown, headers: Headers = {}): Promise<HttpResponse> {
    const session = await this.asPartner(who)
    const cookie = session.cookie ?? skip(`there is no session cookie for ${who}`)
    return this.call('POST', PATHS.search, body, { ...session.headers, cookie, ...headers })
  }

  /** Whether the server creates QR codes by API (decision Q1). */
  creates(): Promise<boolean> {
    return this.once('the creation of QR codes', async () => {
      const response = await this.call('POST', PATHS.qrCode, { conformance: true }, await this.asMerchant())
      return ![404, 405, 501].includes(response.status)
    })
  }

  /** Whether payments can be simulated (an operation of the sandbox). */
  simulates(): Promise<boolean> {
    return this.once('the payment simulator', async () => {
      const response = await this.call('POST', PATHS.pay, {})
      return ![401, 403, 404, 405, 501].includes(response.status)
    })
  }

  async needCreation(): Promise<void> {
    if (!(await this.creates())) skip('the server creates no QR codes by API')
  }

  async needSimulator(): Promise<void> {
    if (!(await this.simulates())) skip('the server has no payment simulator')
  }

  /** A code of the merchant that may be cancelled: created, or out of the credentials. */
  async newQrCode(request: Fields = {}): Promise<string> {
    const headers = await this.asMerchant()
    if (!(await this.creates()))
      return (
        this.#disposable.pop() ??
        skip('the server creates no QR codes by API, and disposableQrCodeIds is used up')
      )
    const response = await this.call('POST', PATHS.qrCode, request, headers)
    const id = at(response, 'payload.qrCodeId')
    if (response.status !== 200 || typeof id !== 'string')
      block(response, 'payload.qrCodeId', `needs a new QR code: its creation returned ${response.status}`)
    return id
  }

  cancel(qrCodeId: string, headers: Headers = {}): Promise<HttpResponse> {
    return this.cancelWith(qrCodeId, {}, headers)
  }

  /** As `cancel`, with this body, or none where it is undefined. */
  async cancelWith(qrCodeId: string, body: unknown, headers: Headers = {}): Promise<HttpResponse> {
    return this.call('PATCH', cancelPath(qrCodeId), body, { ...(await this.asMerchant()), ...headers })
  }

  #hideSecrets(): void {
    const { redactor } = this.http
    for (const who of ['merchant', 'otherMerchant'] as const) {
      const held = this.credentials[who]
      redactor.hide(held?.apiKey ?? '', nameOf(who, 'API_KEY'))
      redactor.hide(held?.accessKey ?? '', nameOf(who, 'ACCESS_KEY'))
    }
    for (const who of ['incentivePartner', 'rewardsPartner', 'otherPartner'] as const) {
      const held = this.credentials[who]
      redactor.hide(held?.clientSecret ?? '', nameOf(who, 'CLIENT_SECRET'))
      redactor.hide(held?.accessToken ?? '', nameOf(who, 'TOKEN'))
      hideCookie(redactor, held?.cookie ?? '', nameOf(who, 'COOKIE'))
      redactor.hide(held?.sharedKey?.k ?? '', nameOf(who, 'SHARED_KEY'))
    }
  }
}

export function skip(reason: string): never {
  throw new Skipped(reason)
}

/** `incentivePartner` and `TOKEN` make `INCENTIVE_PARTNER_TOKEN`. */
const nameOf = (who: string, what: string): string =>
  `${who.replace(/[A-Z]/g, (letter) => `_${letter}`).toUpperCase()}_${what}`
