import { type Api, pageQuery, pastQuery, payloadOf, type Schemas, textOf } from './api.ts'
import { UnexpectedResponseError } from './errors.ts'
import { Events } from './events.ts'
import { Paged } from './pages.ts'
import { PaymentStream } from './payment-stream.ts'
import { type PaymentRecord, Payments } from './payments.ts'
import type { operations } from './schema.ts'
import type { CallOptions, ReadOptions, WriteOptions } from './transport.ts'
import { type WaitOptions, waitForPayment } from './wait-for-payment.ts'

/** The interface calls every field of what cancelling returns optional; these six are always there. */
type Always = 'qrCodeId' | 'multipleUse' | 'fixedAmount' | 'status' | 'createdOn' | 'modifiedOn'

/** A UPI QR code. `qrCodeBase64` is a PNG; `create` and `get` return it, lists and `cancel` do not. */
export type QrCode = Schemas['QrCodeRecord']
/** What cancelling returns: the specified fields, and which end the code came to. */
export type CancelledQrCode = Schemas['QrCode'] & Required<Pick<Schemas['QrCode'], Always>> & QrCodeEnd
/** Which end a code came to, as the response's headers say. */
export interface QrCodeEnd {
  /** `already-cancelled`: an earlier call cancelled it. `paid`: its one use is over, so nothing was cancelled. */
  readonly outcome: 'cancelled' | 'already-cancelled' | 'paid' | 'expired'
  /** Accepted payments; `amount` in rupees. */
  readonly payments: { readonly count: number; readonly amount: number }
  /** Compact JWS over the above: no payment is accepted after it. Verify it with `/.well-known/jwks.json`. */
  readonly receipt: string
}

/** A credit that came for a QR code: accepted, or on its way back to its payer. */
export type Payment = Schemas['Payment']
/** What a new QR code shall be. Amounts are rupees with at most two decimals. */
export type NewQrCode = NonNullable<operations['createQrCode']['requestBody']>['content']['application/json']
/** Which QR codes; all by default. `limit` is the size of a page, 50 by default. */
export type QrCodeFilter = Omit<
  NonNullable<operations['searchQrCodes']['requestBody']>['content']['application/json'],
  'after'
>

/** How a code came to its end: paid, with the newest accepted payment, or closed without one. */
export type PaymentOutcome =
  | { readonly outcome: 'paid'; readonly payment: PaymentRecord; readonly code: QrCode }
  | { readonly outcome: 'cancelled' | 'expired'; readonly code: QrCode }

const OUTCOME = /^([a-z-]+); payments=(\d+); amount=(\d+\.\d\d)$/

/** @throws UnexpectedResponseError when a header is missing, such as behind a gateway that removes it */
function endOf(response: Response): QrCodeEnd {
  const [, outcome, count, amount] = OUTCOME.exec(response.headers.get('svc-outcome') ?? '') ?? []
  const receipt = response.headers.get('svc-receipt')
  if (!outcome || !receipt)
    throw new UnexpectedResponseError(
      response,
      `${response.url} returned ${response.status} without the headers svc-outcome and svc-receipt in the service's form: a gateway must pass them on`,
      { body: textOf(response) },
    )
  return {
    outcome: outcome as QrCodeEnd['outcome'],
    payments: { count: Number(count), amount: Number(amount) },
    receipt,
  }
}

/** A merchant's QR codes. */
export class QrCodes {
  readonly #api: Api
  readonly #stream: PaymentStream

  constructor(api: Api) {
    this.#api = api
    this.#stream = new PaymentStream(new Events(api))
  }

  /** Makes a code. With the same `referenceNumber` and request, the existing code is returned. */
  async create(code: NewQrCode, options?: WriteOptions): Promise<QrCode> {
    return payloadOf(await this.#api.http.POST('/api/v0/qr-code', { body: code, ...this.#api.call(options) }))
  }

  /** @throws SvcError `qr_code_not_found` */
  async get(qrCodeId: string, options?: ReadOptions): Promise<QrCode> {
    const params = { path: { qrCodeId }, query: pastQuery(options) }
    const call = this.#api.call(options)
    return payloadOf(await this.#api.http.GET('/api/v0/qr-code/{qrCodeId}', { params, ...call }))
  }

  /**
   * Waits until the code is paid or comes to another end; at once where that has happened before. Of a code for many
   * payments, the first one ends the wait. End it with a signal, such as `AbortSignal.timeout(120_000)`. All waits of a
   * client share one stream of events, which is open while there are any and sent as the client's options say.
   *
   * @throws SvcError `qr_code_not_found`; ConnectionError, UnexpectedResponseError; the signal's reason
   */
  waitForPayment(qrCodeId: string, options: WaitOptions = {}): Promise<PaymentOutcome> {
    const payments = new Payments(this.#api)
    return waitForPayment<PaymentOutcome>(
      {
        poll: async (call) => {
          const code = await this.get(qrCodeId, call)
          if (code.payments.count > 0) {
            const [payment] = await payments.list({ qrCodeId, status: 'ACCEPTED', limit: 1 }, call).take(1)
            if (payment) return { outcome: 'paid', payment, code }
          }
          const { closeReason } = code
          return closeReason === 'cancelled' || closeReason === 'expired'
            ? { outcome: closeReason, code }
            : undefined
        },
        subscribe: (waiter) => this.#stream.subscribe(qrCodeId, waiter),
      },
      options,
    )
  }

  /**
   * After this no payment is accepted through the code; `outcome` and `payments` say whether it was paid before.
   * Cancelling again returns the same record. `get` and lists return the `reason` as `cancelReason`.
   *
   * @throws SvcError `qr_code_not_found`; UnexpectedResponseError when a gateway removed the headers that say how the code
   * ended: it has ended all the same, and `get` returns its `closeReason` and payments
   */
  async cancel(
    qrCodeId: string,
    { reason, ...options }: WriteOptions & { readonly reason?: string } = {},
  ): Promise<CancelledQrCode> {
    const params = { path: { qrCodeId } }
    const call = this.#api.call(options)
    const response = await this.#api.http.PATCH('/api/v0/qr-code/{qrCodeId}/cancel', {
      params,
      body: reason === undefined ? {} : { reason },
      ...call,
    })
    return { ...payloadOf(response), ...endOf(response.response) } as CancelledQrCode
  }

  /** Codes, newest first. */
  list(filter: QrCodeFilter = {}, options?: CallOptions): Paged<QrCode> {
    return new Paged(async (after) => {
      const body = { ...filter, ...(after !== undefined && { after }) }
      const call = this.#api.call(options)
      const page = payloadOf(await this.#api.http.POST('/api/v0/qr-code/search', { body, ...call }))
      return { ...page, data: page.data as QrCode[] }
    })
  }

  /** What came for a code, newest first: accepted, and refunded with the reason. */
  payments(
    qrCodeId: string,
    { limit, ...options }: CallOptions & { readonly limit?: number } = {},
  ): Paged<Payment> {
    return new Paged(async (after) => {
      const params = { path: { qrCodeId }, query: pageQuery(after, limit) }
      const call = this.#api.call(options)
      return payloadOf(await this.#api.http.GET('/api/v0/qr-code/{qrCodeId}/payments', { params, ...call }))
    })
  }
}
