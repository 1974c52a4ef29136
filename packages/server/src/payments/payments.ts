import { fail } from '@svc/contract/errors'
import { paymentAsOf } from '@svc/core/payments/as-of'
import { ADJUSTMENTS_SHOWN, adjustmentsOf } from '@svc/core/payments/find-adjustments'
import { RefundRecord, refundToWire } from '@svc/core/payments/merchant-refund'
import {
  CODE_FACTS,
  looksLikePaymentId,
  PaymentRecord,
  paymentRecordToWire,
  payments,
} from '@svc/core/payments/payment'
import { AdjustmentRecord, adjustmentToWire } from '@svc/core/payments/payment-adjustment'
import { CSV_MEDIA_TYPE } from '@svc/kernel/csv'
import { BatchedLookup } from '@svc/platform/db/batched-lookup'
import { statement } from '@svc/platform/db/statement'
import { Type } from 'typebox'
import { preferredType } from '../http/accept.ts'
import { AsOfQuery, readAsOf } from '../http/as-of.ts'
import { query, streamingQuery, succeed } from '../http/operation.ts'
import { PAGE_IN_QUERY, PageOf, page, readPage } from '../http/page.ts'
import { StreamSlots } from '../http/stream-slots.ts'
import { filterValues, type ListedPayment, PAYMENT_FILTERS, PAYMENT_PAGE } from './payment-filters.ts'
import { paymentsCsv } from './payments-csv.ts'
import { newestRefunds, REFUNDS_SHOWN } from './refunds.ts'

/** CSV exports that one merchant may stream at a time. */
const STREAMS_MAX = 2

export const PaymentParams = Type.Object({
  paymentId: Type.String({ description: 'The id of the payment' }),
})

const FIND = statement<ListedPayment>(
  'payments_by_id',
  `select ${payments.columns}, ${CODE_FACTS} from payments p
     left join qr_codes q on q.merchant_id = p.merchant_id and q.qr_code_id = p.qr_code_id
   where (p.merchant_id, p.payment_id) in (select * from unnest($1::text[], $2::text[]))`,
)

const PaymentDetail = Type.Object(
  {
    ...PaymentRecord.properties,
    adjustments: Type.Optional(
      Type.Array(AdjustmentRecord, {
        description: `Corrections of its amount, newest first, at most ${ADJUSTMENTS_SHOWN}; absent when there are none`,
      }),
    ),
    refunds: Type.Optional(
      Type.Array(RefundRecord, {
        description: `The newest refunds by the merchant, at most ${REFUNDS_SHOWN}; absent when there are none`,
      }),
    ),
  },
  { title: 'PaymentDetail', additionalProperties: false },
)

/** Ours: one payment. */
export const getPayment = query({
  id: 'getPayment',
  method: 'GET',
  path: '/api/v0/payments/:paymentId',
  tag: 'Payments',
  summary: 'Get payment',
  auth: 'merchant',
  scope: 'payments:read',
  envelope: 'response_code',
  params: PaymentParams,
  query: AsOfQuery,
  result: PaymentDetail,
  errors: ['payment_not_found'],
  mount({ clock, database, config }) {
    const found = new BatchedLookup<ListedPayment>(
      (keys) => {
        const tenants = keys.map(({ tenantId }) => tenantId)
        return database.read(tenants, (tx) => tx.query(FIND, [tenants, keys.map(({ id }) => id)]))
      },
      ({ merchantId, paymentId }) => ({ tenantId: merchantId, id: paymentId }),
    )
    return async ({ caller: { tenantId }, params: { paymentId }, query }) => {
      const at = readAsOf(query, clock, tenantId)
      const known =
        (looksLikePaymentId(paymentId) ? await found.get(tenantId, paymentId) : undefined) ??
        fail('payment_not_found')
      const payment = at ? await database.read([tenantId], (tx) => paymentAsOf(tx, known, at)) : known
      if (!payment) fail('payment_not_found')
      const timeZone = config.BUSINESS_TIME_ZONE
      const refunds =
        payment.status === 'ACCEPTED' ? await newestRefunds(database, tenantId, paymentId, at) : []
      const adjustments =
        payment.status === 'ACCEPTED'
          ? await database.read([tenantId], (tx) => adjustmentsOf(tx, known, at))
          : []
      return {
        body: succeed({
          ...paymentRecordToWire(payment, timeZone),
          adjustments:
            adjustments.length > 0 ? adjustments.map((each) => adjustmentToWire(each, timeZone)) : undefined,
          refunds: refunds.length > 0 ? refunds.map((refund) => refundToWire(refund, timeZone)) : undefined,
        }),
      }
    }
  },
})

/** Ours: what came for a merchant through all of its codes. */
export const findPayments = streamingQuery({
  id: 'findPayments',
  method: 'GET',
  path: '/api/v0/payments',
  tag: 'Payments',
  summary: 'List payments',
  description:
    'All filters are optional and must all match. Newest first; pass `next` back as `after` for the next page. With `Accept: text/csv` all payments of the filter are returned as CSV (RFC 4180) in one response, which takes no `limit` and no `after`.',
  auth: 'merchant',
  scope: 'payments:read',
  envelope: 'response_code',
  query: Type.Object({ ...PAYMENT_FILTERS, ...PAGE_IN_QUERY }, { additionalProperties: false }),
  result: PageOf(PaymentRecord),
  alsoProduces: CSV_MEDIA_TYPE,
  errors: ['too_many_streams'],
  mount({ database, config: { BUSINESS_TIME_ZONE: timeZone } }) {
    const streams = new StreamSlots(STREAMS_MAX)
    return async ({ caller, query, headers }) => {
      const { tenantId } = caller
      const { limit: requestedLimit, after: cursor, ...filter } = query
      if (preferredType(headers, ['application/json', CSV_MEDIA_TYPE]) === CSV_MEDIA_TYPE) {
        if (requestedLimit !== undefined || cursor !== undefined)
          fail('validation_failed', { description: 'limit, after: must be absent for CSV' })
        // Bad dates fail before the first byte is sent.
        filterValues(tenantId, filter, undefined, 1)
        const pages = () => paymentsCsv(database, timeZone, tenantId, filter)
        const body = streams.stream(tenantId, caller, pages)
        return { headers: { 'content-type': `${CSV_MEDIA_TYPE}; charset=utf-8` }, body }
      }
      const { limit, after } = readPage(query)
      const rows = await database.read([tenantId], (tx) =>
        tx.query(PAYMENT_PAGE(filter), filterValues(tenantId, filter, after, limit + 1)),
      )
      const positionOf = (payment: ListedPayment) => ({ at: payment.createdAt, id: payment.paymentId })
      return {
        body: succeed(page(rows, limit, positionOf, (payment) => paymentRecordToWire(payment, timeZone))),
      }
    }
  },
})
