import { encrypt } from '@svc/jwe/jwe'
import { signNotice } from '@svc/server/http/notice-signature'
import { type ApiResponse, type Client, type Json, payloadOf } from './client.ts'
import { publishedKey } from './partner.ts'
import { CARD_RAIL_KEY } from './service.ts'

let lastStan = 0

/** What identifies a message of the network, and no message before. */
export const newIdentity = () => ({
  acquirerId: '400123',
  stan: String(++lastStan % 1_000_000).padStart(6, '0'),
  transmissionTime: new Date(Date.now() - (lastStan % 1_000)).toISOString(),
})

/** How a later message refers to this one. */
export const referenceTo = ({ stan, transmissionTime }: ReturnType<typeof newIdentity>) => ({
  originalStan: stan,
  originalTransmissionTime: transmissionTime,
})

/** A shop of the card network, for one card. */
export class Terminal {
  readonly #client: Client
  readonly #key: string
  readonly token: string

  constructor(client: Client, token: string, key = CARD_RAIL_KEY) {
    this.#client = client
    this.token = token
    this.#key = key
  }

  /** Sends a message of a type, such as `captures`; with an identity of its own unless the fields have one. */
  send(path: string, fields: object = {}): Promise<ApiResponse> {
    const message = { token: this.token, ...newIdentity(), ...fields }
    return this.#client.notify(`/rails/cards/${path}`, message, this.#key)
  }

  authorize = async (amount: number, fields: object = {}): Promise<Json> =>
    payloadOf(await this.send('authorizations', { amount, channel: 'pos', ...fields }))
  capture = async (amount: number, fields: object = {}): Promise<Json> =>
    payloadOf(await this.send('captures', { amount, ...fields }))
  void = async (fields: object = {}): Promise<Json> => payloadOf(await this.send('voids', fields))
  refund = async (amount: number, fields: object = {}): Promise<Json> =>
    payloadOf(await this.send('refunds', { amount, ...fields }))
  advise = async (advice: 'stand_in' | 'forced_post', amount: number, fields: object = {}): Promise<Json> =>
    payloadOf(await this.send('advices', { advice, amount, ...fields }))
  balance = async (fields: object = {}): Promise<Json> =>
    payloadOf(await this.send('balance-inquiries', fields))

  /** Sends bytes as they are, signed. */
  sendBytes(path: string, body: string | Buffer): Promise<ApiResponse> {
    const bytes = typeof body === 'string' ? Buffer.from(body) : body
    return this.#client.send('POST', `/rails/cards/${path}`, bytes, {
      'content-type': 'application/json',
      'x-rail-signature': signNotice(bytes, this.#key, Date.now()),
    })
  }

  /** Sends a message encrypted to a key that the service publishes. */
  async sendEncrypted(path: string, fields: object): Promise<ApiResponse> {
    const key = await publishedKey(this.#client, 'P-256')
    return this.sendBytes(path, await encrypt(Buffer.from(JSON.stringify(fields)), key))
  }
}
