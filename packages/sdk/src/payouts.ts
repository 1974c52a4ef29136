import { type Api, pageQuery, payloadOf, type Schemas } from './api.ts'
import { Paged } from './pages.ts'
import type { CallOptions } from './transport.ts'

/** What is paid out: payments less refunds, fees and tax, in rupees. */
export type Payout = Schemas['Payout']
/** A payment or refund of a payout, with its fee and the tax on it. */
export type PayoutLine = Schemas['PayoutLine']

export interface PayoutFilter {
  readonly status?: Payout['status']
  /** Size of a page, 50 by default. */
  readonly limit?: number
}

/** What is paid out to a merchant. */
export class Payouts {
  readonly #api: Api

  constructor(api: Api) {
    this.#api = api
  }

  /** @throws SvcError `payout_not_found` */
  async get(payoutId: string, options?: CallOptions): Promise<Payout> {
    const params = { path: { payoutId } }
    const call = this.#api.call(options)
    return payloadOf(await this.#api.http.GET('/api/v0/payouts/{payoutId}', { params, ...call }))
  }

  /**
   * The statement of a payout as PDF: how it adds up, and every payment and refund with fee and tax.
   *
   * @throws SvcError `payout_not_found`, `too_many_streams`
   */
  async statement(payoutId: string, options?: CallOptions): Promise<Uint8Array> {
    const call = { params: { path: { payoutId } }, ...this.#api.file('application/pdf', options) }
    const { data } = await this.#api.http.GET('/api/v0/payouts/{payoutId}/statement.pdf', call)
    return new Uint8Array(data!)
  }

  /** Payouts, newest first. */
  list({ limit, ...filter }: PayoutFilter = {}, options?: CallOptions): Paged<Payout> {
    return new Paged(async (after) => {
      const params = { query: { ...filter, ...pageQuery(after, limit) } }
      const call = this.#api.call(options)
      return payloadOf(await this.#api.http.GET('/api/v0/payouts', { params, ...call }))
    })
  }

  /** Payments and refunds of a payout, oldest first. */
  lines(
    payoutId: string,
    { limit, ...options }: CallOptions & { readonly limit?: number } = {},
  ): Paged<PayoutLine> {
    return new Paged(async (after) => {
      const params = { path: { payoutId }, query: pageQuery(after, limit) }
      const call = this.#api.call(options)
      return payloadOf(await this.#api.http.GET('/api/v0/payouts/{payoutId}/lines', { params, ...call }))
    })
  }
}
