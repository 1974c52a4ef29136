import { type Api, pageQuery, payloadOf, type Schemas } from './api.ts'
import { type Page, Paged } from './pages.ts'
import type { operations } from './schema.ts'
import type { CallOptions } from './transport.ts'

/** A credit of any of the merchant's QR codes: accepted, on its way back to its payer, or in suspense. */
export type PaymentRecord = Schemas['PaymentRecord']
/** Which payments; all by default. `limit` is the size of a page, 50 by default. */
export type PaymentFilter = Omit<
  NonNullable<operations['findPayments']['parameters']['query']>,
  'after' | 'limit'
> & { readonly limit?: number }

/** What was paid to a merchant, over all QR codes. */
export class Payments {
  readonly #api: Api

  constructor(api: Api) {
    this.#api = api
  }

  /** @throws SvcError `payment_not_found` */
  async get(paymentId: string, options?: CallOptions): Promise<PaymentRecord> {
    const params = { path: { paymentId } }
    const call = this.#api.call(options)
    return payloadOf(await this.#api.http.GET('/api/v0/payments/{paymentId}', { params, ...call }))
  }

  /** Payments, newest first. */
  list({ limit, ...filter }: PaymentFilter = {}, options?: CallOptions): Paged<PaymentRecord> {
    return new Paged(async (after) => {
      const params = { query: { ...filter, ...pageQuery(after, limit) } }
      const call = this.#api.call(options)
      const { data } = await this.#api.http.GET('/api/v0/payments', { params, ...call })
      // CSV, the other form of this response, is asked for by `csv` alone.
      return (data as { payload: Page<PaymentRecord> }).payload
    })
  }

  /** All payments of the filter as CSV (RFC 4180), newest first, as they come. */
  async csv(
    filter: Omit<PaymentFilter, 'limit'> = {},
    options?: CallOptions,
  ): Promise<ReadableStream<Uint8Array>> {
    const { data } = await this.#api.http.GET('/api/v0/payments', {
      params: { query: filter },
      headers: { accept: 'text/csv' },
      ...this.#api.stream(options),
    })
    return data as unknown as ReadableStream<Uint8Array>
  }
}
