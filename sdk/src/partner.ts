import type { JWK } from 'jose'
import { Api } from './api.ts'
import { Cards } from './cards.ts'
import { Coins } from './coins.ts'
import { Events } from './events.ts'
import { Opener, Sealer, type SealWith } from './sealing.ts'
import { TokenKeeper } from './tokens.ts'
import { Transport, type TransportOptions } from './transport.ts'
import { Webhooks } from './webhooks.ts'

export interface PartnerOptions extends TransportOptions {
  /** Where the service is, such as `https://pay.example.com`. */
  readonly baseUrl: string
  readonly partnerId: string
  readonly clientId: string
  readonly clientSecret: string
  /** How orders are sealed: with the shared key, or to a published one (P-256 by default), which needs no secret. */
  readonly seal?: SealWith
  /**
   * When given, answers that hold one card are asked for sealed, and opened with this key: the shared key as a JWK
   * (`{ kty: 'oct', ...sharedKey }`), or the private half of the pair whose public half is registered.
   */
  readonly openAnswersWith?: JWK
}

/** Everything a card or rewards partner does: cards, coins, events and webhooks. One instance serves a whole process. */
export class Partner {
  readonly cards: Cards
  readonly coins: Coins
  readonly events: Events
  readonly webhooks: Webhooks
  /** All operations, typed, with the same token, session and retries. */
  readonly api: Api

  constructor(options: PartnerOptions) {
    const { baseUrl, partnerId, seal = { publishedKey: 'ECDH-ES+A256KW P-256' }, openAnswersWith } = options
    const plain = new Transport(options)
    const tokens = new TokenKeeper(() => askForToken(plain, options))
    this.api = new Api(baseUrl, new Transport(options, { tokens, headers: { partnerId } }))
    const sealer = new Sealer(seal, async () => {
      const answer = await plain.send(new Request(new URL('/.well-known/jwks.json', baseUrl)))
      return ((await answer.json()) as { keys: JWK[] }).keys
    })
    this.cards = new Cards(this.api, sealer, openAnswersWith && new Opener(openAnswersWith))
    this.coins = new Coins(this.api)
    this.events = new Events(this.api)
    this.webhooks = new Webhooks(this.api)
  }
}

/** OAuth 2.0 client credentials (RFC 6749 section 4.4). The answer's session cookie belongs to its token. */
async function askForToken(transport: Transport, { baseUrl, clientId, clientSecret }: PartnerOptions) {
  const form = { grant_type: 'client_credentials', client_id: clientId, client_secret: clientSecret }
  const request = new Request(new URL('/oauth/token', baseUrl), {
    method: 'POST',
    body: new URLSearchParams(form),
  })
  const answer = await transport.send(request)
  const { access_token: token, expires_in: seconds } = (await answer.json()) as {
    access_token: string
    expires_in: number
  }
  const cookie = answer.headers
    .getSetCookie()
    .map((line) => line.split(';', 1)[0]!)
    .find((pair) => pair.startsWith('SVCSESSION='))
  return { token, lifetimeMs: seconds * 1_000, cookie }
}
