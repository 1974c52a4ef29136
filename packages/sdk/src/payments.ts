import { type Api, pageQuery, pastQuery, payloadOf, type Schemas } from './api.ts'
import { type Page, Paged } from './pages.ts'
import type { operations } from './schema.ts'
import type { CallOptions, ReadOptions, WriteOptions } from './transport.ts'

/** A credit of any of the merchant's QR codes: accepted, on its way back to its payer, or in suspense. */
export type PaymentRecord = Schemas['PaymentRecord']
/** Which payments; all by default. `limit` is the size of a page, 50 by default. */
export type PaymentFilter = Omit<
  NonNullable<operations['findPayments']['parameters']['query']>,
  'after' | 'limit'
> & { readonly limit?: number }

/** A payment with its newest refunds. */
export type PaymentDetail = Schemas['PaymentDetail']
/** A refund of an accepted payment, or of a part of it. */
export type Refund = Schemas['Refund']
/** Which refunds; all by default. `limit` is the size of a page, 50 by default. */
export type RefundFilter = Omit<
  NonNullable<operations['findRefunds']['parameters']['query']>,
  'after' | 'limit'
> & { readonly limit?: number }
/** `amount` is in rupees, by default all that is left; `referenceNumber` names one refund of the merchant. */
export type RefundRequest = operations['createRefund']['requestBody']['content']['application/json']

/** What was paid to a merchant, over all QR codes. */
export class Payments {
  readonly #api: Api

  constructor(api: Api) {
    this.#api = api
  }

  /** @throws SvcError `payment_not_found` */
  async get(paymentId: string, options?: ReadOptions): Promise<PaymentDetail> {
    const params = { path: { paymentId }, query: pastQuery(options) }
    const call = this.#api.call(options)
    return payloadOf(await this.#api.http.GET('/api/v0/payments/{paymentId}', { params, ...call }))
  }

  /** Payments, newest first. */
  list({ limit, ...filter }: PaymentFilter = {}, options?: CallOptions): Paged<PaymentRecord> {
    return new Paged(async (after) => {
      const params = { query: { ...filter, ...pageQuery(after, limit) } }
      const call = this.#api.call(options)
      const { data, response } = await this.#api.http.GET('/api/v0/payments', { params, ...call })
      // CSV, the other form of this response, is requested by `csv` alone.
      return payloadOf({ data: data as { payload: Page<PaymentRecord> }, response })
    })
  }

  /** All payments of the filter as CSV (RFC 4180), newest first, as they come. */
  async csv(
    filter: Omit<PaymentFilter, 'limit'> = {},
    options?: CallOptions,
  ): Promise<ReadableStream<Uint8Array>> {
    const { data } = await this.#api.http.GET('/api/v0/payments', {
      params: { query: filter },
      ...this.#api.stream('text/csv', options, { accept: 'text/csv' }),
    })
    return data as unknown as ReadableStream<Uint8Array>
  }

  /**
   * Refunds a payment, or a part of it. A repeat of the `referenceNumber` returns the same refund.
   *
   * @throws SvcError `payment_not_found`, `payment_not_accepted`, `refund_over_payment`, `payable_too_low`,
   * `refund_reference_in_use`
   */
  async refund(paymentId: string, refund: RefundRequest, options?: WriteOptions): Promise<Refund> {
    const params = { path: { paymentId } }
    const call = this.#api.call(options)
    return payloadOf(
      await this.#api.http.POST('/api/v0/payments/{paymentId}/refunds', { params, body: refund, ...call }),
    )
  }

  /** @throws SvcError `refund_not_found` */
  async getRefund(paymentId: string, refundId: string, options?: ReadOptions): Promise<Refund> {
    const params = { path: { paymentId, refundId }, query: pastQuery(options) }
    const call = this.#api.call(options)
    return payloadOf(
      await this.#api.http.GET('/api/v0/payments/{paymentId}/refunds/{refundId}', { params, ...call }),
    )
  }

  /** Refunds of all payments, newest first. */
  listRefunds({ limit, ...filter }: RefundFilter = {}, options?: CallOptions): Paged<Refund> {
    return new Paged(async (after) => {
      const params = { query: { ...filter, ...pageQuery(after, limit) } }
      const call = this.#api.call(options)
      return payloadOf(await this.#api.http.GET('/api/v0/refunds', { params, ...call }))
    })
  }

  /** Refunds of a payment, newest first. */
  refunds(
    paymentId: string,
    { limit, ...options }: CallOptions & { readonly limit?: number } = {},
  ): Paged<Refund> {
    return new Paged(async (after) => {
      const params = { path: { paymentId }, query: pageQuery(after, limit) }
      const call = this.#api.call(options)
      return payloadOf(await this.#api.http.GET('/api/v0/payments/{paymentId}/refunds', { params, ...call }))
    })
  }
}
