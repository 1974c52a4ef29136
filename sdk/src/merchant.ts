import { Api } from './api.ts'
import { Events } from './events.ts'
import { QrCodes } from './qr-codes.ts'
import { TokenKeeper } from './tokens.ts'
import { Transport, type TransportOptions } from './transport.ts'
import { Webhooks } from './webhooks.ts'

export interface MerchantOptions extends TransportOptions {
  /** Where the service is, such as `https://pay.example.com`. */
  readonly baseUrl: string
  /** The merchant's key, `svc_live_…` or `svc_test_…`. */
  readonly apiKey: string
}

/** Everything a merchant does: QR codes, events and webhooks. One instance serves a whole process. */
export class Merchant {
  readonly qrCodes: QrCodes
  readonly events: Events
  readonly webhooks: Webhooks
  /** All operations, typed, with the same token and retries. */
  readonly api: Api

  constructor(options: MerchantOptions) {
    const { baseUrl, apiKey } = options
    const plain = new Transport(options)
    const tokens = new TokenKeeper(async () => {
      const request = new Request(new URL('/api/v0/merchant/token', baseUrl), {
        method: 'POST',
        headers: { 'api-key': apiKey },
      })
      const answer = await plain.send(request)
      const { token, expiry } = (await answer.json()) as { token: string; expiry: number }
      // The service's clock counts, not ours: its answer bears both instants.
      const serviceNowMs = Date.parse(answer.headers.get('date') ?? '') || Date.now()
      return { token, lifetimeMs: expiry - serviceNowMs, cookie: undefined }
    })
    this.api = new Api(baseUrl, new Transport(options, { tokens, headers: {} }))
    this.qrCodes = new QrCodes(this.api)
    this.events = new Events(this.api)
    this.webhooks = new Webhooks(this.api)
  }
}
