import type { JWK } from 'jose'
import { Api } from './api.ts'
import { Cards } from './cards.ts'
import { Coins } from './coins.ts'
import { CardAccounts, Companies, Users } from './companies.ts'
import { Encrypter, type EncryptWith, ResponseDecrypter } from './encryption.ts'
import { readJson } from './errors.ts'
import { Events } from './events.ts'
import { Requests } from './requests.ts'
import { refuseInBrowsers, requireText } from './required.ts'
import { SpendRules } from './spend-rules.ts'
import { TokenCache } from './tokens.ts'
import { Transport, type TransportOptions } from './transport.ts'
import { Webhooks } from './webhooks.ts'

export interface PartnerOptions extends TransportOptions {
  readonly partnerId: string
  readonly clientId: string
  readonly clientSecret: string
  /** How orders are encrypted: with the shared key, or to a published one (P-256 by default), which needs no secret. */
  readonly encryption?: EncryptWith
  /**
   * When given, responses that hold one card are requested encrypted, and decrypted with this key: the shared key as a JWK
   * (`{ kty: 'oct', ...sharedKey }`), or the private half of the pair whose public half is registered. While one key
   * replaces another, give both: each response names its key.
   */
  readonly decryptResponsesWith?: JWK | readonly JWK[]
}

/** Everything a card or rewards partner does: companies and their users, card accounts, cards, spend rules, coins, events and webhooks. One instance serves a whole process. */
export class Partner {
  readonly companies: Companies
  readonly users: Users
  readonly cardAccounts: CardAccounts
  readonly cards: Cards
  readonly spendRules: SpendRules
  readonly coins: Coins
  readonly events: Events
  readonly webhooks: Webhooks
  readonly requests: Requests
  /** All operations, typed, with the same token, session and retries. */
  readonly api: Api

  /** @throws TypeError when an option is missing or wrong, and always in a browser, for its secret */
  constructor(options: PartnerOptions) {
    const {
      partnerId,
      clientId,
      clientSecret,
      encryption = { publishedKey: 'ECDH-ES+A256KW P-256' },
      decryptResponsesWith,
    } = options
    for (const [name, value] of Object.entries({ partnerId, clientId, clientSecret }))
      requireText(name, value)
    refuseInBrowsers('clientSecret')
    const plain = new Transport(options)
    const tokens = new TokenCache(() => requestToken(plain, options))
    this.api = new Api(new Transport(options, { tokens, headers: { partnerId } }))
    const encrypter = new Encrypter(encryption, async () => {
      const response = await plain.request('/.well-known/jwks.json')
      const { keys } = await readJson<{ keys: JWK[] }>(response, (body) => Array.isArray(body.keys))
      return keys
    })
    this.cards = new Cards(
      this.api,
      encrypter,
      decryptResponsesWith && new ResponseDecrypter(decryptResponsesWith),
    )
    this.companies = new Companies(this.api)
    this.users = new Users(this.api)
    this.cardAccounts = new CardAccounts(this.api)
    this.spendRules = new SpendRules(this.api)
    this.coins = new Coins(this.api)
    this.events = new Events(this.api)
    this.webhooks = new Webhooks(this.api)
    this.requests = new Requests(this.api)
  }
}

/** OAuth 2.0 client credentials (RFC 6749 section 4.4). The response's session cookie belongs to its token. */
async function requestToken(transport: Transport, { clientId, clientSecret }: PartnerOptions) {
  const form = { grant_type: 'client_credentials', client_id: clientId, client_secret: clientSecret }
  const response = await transport.request('/oauth/token', {
    method: 'POST',
    body: new URLSearchParams(form),
  })
  const { access_token: token, expires_in: seconds } = await readJson<{
    access_token: string
    expires_in: number
  }>(response, (body) => typeof body.access_token === 'string' && typeof body.expires_in === 'number')
  const cookie = response.headers
    .getSetCookie()
    .map((line) => line.split(';', 1)[0]!)
    .find((pair) => pair.startsWith('SVCSESSION='))
  return { token, lifetimeMs: seconds * 1_000, cookie }
}
