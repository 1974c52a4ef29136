import { fail } from '@svc/contract/errors'
import { ADJUSTMENTS_SHOWN, adjustmentsOf } from '@svc/core/payments/adjustments/find-adjustments'
import { AdjustmentRecord, adjustmentToWire } from '@svc/core/payments/adjustments/payment-adjustment'
import { paymentAsOf } from '@svc/core/payments/as-of'
import { looksLikePaymentId, PaymentRecord, paymentRecordToWire } from '@svc/core/payments/payment'
import { RefundRecord, refundToWire } from '@svc/core/payments/refunds/merchant-refund'
import { BatchedLookup } from '@svc/platform/db/batched-lookup'
import { Type } from 'typebox'
import { AsOfQuery, readAsOf } from '../http/as-of.ts'
import { listWithCsv } from '../http/list-csv.ts'
import { query, succeed } from '../http/operation.ts'
import { rowsById } from '../http/resource.ts'
import { PAYMENT_COLUMNS } from './payment-columns.ts'
import { type ListedPayment, payment } from './payment-resource.ts'
import { newestRefunds, REFUNDS_SHOWN } from './refunds.ts'

export const PaymentParams = Type.Object({
  paymentId: Type.String({ description: 'The id of the payment' }),
})

const FIND = rowsById<ListedPayment>(payment, 'payments_by_id')

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
      const shown = at ? await database.read([tenantId], (tx) => paymentAsOf(tx, known, at)) : known
      if (!shown) fail('payment_not_found')
      const timeZone = config.BUSINESS_TIME_ZONE
      const refunds =
        shown.status === 'ACCEPTED' ? await newestRefunds(database, tenantId, paymentId, at) : []
      const adjustments =
        shown.status === 'ACCEPTED'
          ? await database.read([tenantId], (tx) => adjustmentsOf(tx, known, at))
          : []
      return {
        body: succeed({
          ...paymentRecordToWire(shown, timeZone),
          adjustments:
            adjustments.length > 0 ? adjustments.map((each) => adjustmentToWire(each, timeZone)) : undefined,
          refunds: refunds.length > 0 ? refunds.map((refund) => refundToWire(refund, timeZone)) : undefined,
        }),
      }
    }
  },
})

/** Ours: what came for a merchant through all of its codes. */
export const findPayments = listWithCsv<ListedPayment>(
  payment,
  {
    id: 'findPayments',
    path: '/api/v0/payments',
    tag: 'Payments',
    summary: 'List payments',
    description:
      'All filters are optional and must all match. Newest first; pass `next` back as `after` for the next page.',
    auth: 'merchant',
    scope: 'payments:read',
    envelope: 'response_code',
  },
  PAYMENT_COLUMNS,
)
