import { Api } from './api.ts'
import { Disputes } from './disputes.ts'
import { readJson } from './errors.ts'
import { Events } from './events.ts'
import { Payments } from './payments.ts'
import { Payouts } from './payouts.ts'
import { QrCodes } from './qr-codes.ts'
import { Requests } from './requests.ts'
import { refuseInBrowsers, requireText } from './required.ts'
import { TokenCache } from './tokens.ts'
import { Transport, type TransportOptions } from './transport.ts'
import { Webhooks } from './webhooks.ts'

export interface MerchantOptions extends TransportOptions {
  /** The merchant's key, `svc_live_…` or `svc_test_…`. */
  readonly apiKey: string
}

/** Everything a merchant does: QR codes, payments, events and webhooks. One instance serves a whole process. */
export class Merchant {
  readonly qrCodes: QrCodes
  readonly payments: Payments
  readonly disputes: Disputes
  readonly payouts: Payouts
  readonly events: Events
  readonly webhooks: Webhooks
  readonly requests: Requests
  /** All operations, typed, with the same token and retries. */
  readonly api: Api

  /** @throws TypeError when an option is missing or wrong, or a live key is given in a browser */
  constructor(options: MerchantOptions) {
    const { apiKey } = options
    requireText('apiKey', apiKey)
    if (!apiKey.startsWith('svc_test_')) refuseInBrowsers('apiKey')
    const plain = new Transport(options)
    const tokens = new TokenCache(async () => {
      const headers = { 'api-key': apiKey }
      const response = await plain.request('/api/v0/merchant/token', { method: 'POST', headers })
      const { token, expiry } = await readJson<{ token: string; expiry: number }>(
        response,
        (body) => typeof body.token === 'string' && typeof body.expiry === 'number',
      )
      return { token, lifetimeMs: lifetimeMs(expiry, response.headers), cookie: undefined }
    })
    this.api = new Api(new Transport(options, { tokens, headers: {} }))
    this.qrCodes = new QrCodes(this.api)
    this.payments = new Payments(this.api)
    this.disputes = new Disputes(this.api)
    this.payouts = new Payouts(this.api)
    this.events = new Events(this.api)
    this.webhooks = new Webhooks(this.api)
    this.requests = new Requests(this.api)
  }
}

/** Smaller ones are durations: as instants they would lie in 1970 to 1973, as durations they end after three years. */
const INSTANT_MS_MIN = 1e11

/** `expiry` is an instant or the time that is left, in milliseconds (decision A1). */
function lifetimeMs(expiry: number, headers: Headers): number {
  if (expiry < INSTANT_MS_MIN) return expiry
  // The service's clock counts: its response has both instants.
  return expiry - (Date.parse(headers.get('date') ?? '') || Date.now())
}
