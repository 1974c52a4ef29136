import { fail } from '@svc/contract/errors'
import { carriedOut } from '@svc/core/ledger/money-command'
import { refundAsOf } from '@svc/core/payments/as-of'
import { createRefund } from '@svc/core/payments/create-refund'
import {
  looksLikeRefundId,
  type MerchantRefund,
  merchantRefunds,
  RefundRecord,
  refundToWire,
} from '@svc/core/payments/merchant-refund'
import { looksLikePaymentId } from '@svc/core/payments/payment'
import type { Database } from '@svc/platform/db/database'
import { statement } from '@svc/platform/db/statement'
import { Type } from 'typebox'
import { AsOfQuery, readAsOf } from '../http/as-of.ts'
import { Rupees, readRupees } from '../http/fields.ts'
import { ok, operation, query, succeed } from '../http/operation.ts'
import { PageOf, PageQuery, page, readPage } from '../http/page.ts'

const PATH = '/api/v0/payments/:paymentId/refunds'
const TAG = 'Payments'
/** Refunds that a payment's own record has. */
export const REFUNDS_SHOWN = 50

const paymentId = Type.String({ description: 'The id of the payment' })
const PaymentParams = Type.Object({ paymentId })
const RefundParams = Type.Object({
  paymentId,
  refundId: Type.String({ description: 'The id of the refund' }),
})

/** Not in the specification (decision Q14). */
export const createRefundOperation = operation({
  id: 'createRefund',
  method: 'POST',
  path: PATH,
  tag: TAG,
  summary: 'Refund payment',
  description:
    'Refunds an accepted payment from the balance that is payable to the merchant: all that is left of it, or `amount`. A payment can be refunded several times up to its amount. Repeating a `referenceNumber` with the same request returns its refund as it is now. The bank’s outcome follows as an event: `payment.refunded` or `payment.refund_failed`.',
  auth: 'merchant',
  scope: 'refunds:write',
  envelope: 'response_code',
  params: PaymentParams,
  body: Type.Object(
    {
      amount: Type.Optional(
        Rupees({ minimum: 0.01, description: 'Rupees; by default all that is left of the payment' }),
      ),
      referenceNumber: Type.String({
        minLength: 1,
        maxLength: 64,
        description: 'The merchant’s own reference: names one refund',
      }),
      reason: Type.Optional(
        Type.String({ minLength: 1, maxLength: 255, description: 'For the merchant’s own use' }),
      ),
    },
    { additionalProperties: false },
  ),
  result: RefundRecord,
  errors: [
    'payment_not_found',
    'payment_not_accepted',
    'refund_over_payment',
    'payable_too_low',
    'refund_reference_in_use',
  ],
  run: createRefund,
  args: ({ caller, params, body: { amount, referenceNumber, reason } }) => ({
    merchantId: caller.tenantId,
    paymentId: looksLikePaymentId(params.paymentId) ? params.paymentId : fail('payment_not_found'),
    amountPaise: readRupees('amount', amount),
    referenceNumber,
    reason,
  }),
  reply: (outcome, { timeZone }) => ok(refundToWire(carriedOut(outcome).refund, timeZone)),
})

const FIND = statement<MerchantRefund>(
  'merchant_refund',
  `select ${merchantRefunds.columns} from merchant_refunds r
   where r.merchant_id = $1 and r.payment_id = $2 and r.refund_id = $3`,
)

/** Not in the specification (decision Q14). */
export const getRefund = query({
  id: 'getRefund',
  method: 'GET',
  path: `${PATH}/:refundId`,
  tag: TAG,
  summary: 'Get refund',
  auth: 'merchant',
  scope: 'payments:read',
  envelope: 'response_code',
  params: RefundParams,
  query: AsOfQuery,
  result: RefundRecord,
  errors: ['refund_not_found'],
  mount({ clock, database, config }) {
    return async ({ caller: { tenantId }, params: { paymentId, refundId }, query }) => {
      const at = readAsOf(query, clock, tenantId)
      const isPossible = looksLikePaymentId(paymentId) && looksLikeRefundId(refundId)
      const [known] = isPossible
        ? await database.read([tenantId], (tx) => tx.query(FIND, [tenantId, paymentId, refundId]))
        : []
      const refund = known && at ? refundAsOf(known, at) : known
      return {
        body: succeed(refundToWire(refund ?? fail('refund_not_found'), config.BUSINESS_TIME_ZONE)),
      }
    }
  },
})

const PAYMENT = statement<{ found: boolean }>(
  'payment_of_refunds',
  'select exists (select from payments p where p.merchant_id = $1 and p.payment_id = $2) as found',
)
const LIST = statement<MerchantRefund>(
  'merchant_refunds_of_payment',
  `select ${merchantRefunds.columns} from merchant_refunds r
   where r.merchant_id = $1 and r.payment_id = $2
     and ($3::timestamptz is null or (r.created_at, r.refund_id) < ($3, $4::text))
   order by r.created_at desc, r.refund_id desc limit $5`,
)

const AFTER_ALL_IDS = '~'

/** The newest refunds of a payment, or those that were the newest at the end of an instant, as they were then. */
export async function newestRefunds(
  database: Database,
  merchantId: string,
  paymentId: string,
  at?: Date,
): Promise<MerchantRefund[]> {
  const values = [merchantId, paymentId, at ?? null, at ? AFTER_ALL_IDS : null, REFUNDS_SHOWN]
  const refunds = await database.read([merchantId], (tx) => tx.query(LIST, values))
  return at ? refunds.flatMap((refund) => refundAsOf(refund, at) ?? []) : refunds
}

/** Not in the specification (decision Q14). */
export const listRefunds = query({
  id: 'listRefunds',
  method: 'GET',
  path: PATH,
  tag: TAG,
  summary: 'List refunds of a payment',
  description: 'Newest first; pass `next` back as `after` for the next page.',
  auth: 'merchant',
  scope: 'payments:read',
  envelope: 'response_code',
  params: PaymentParams,
  query: PageQuery,
  result: PageOf(RefundRecord),
  errors: ['payment_not_found'],
  mount({ database, config }) {
    return async ({ caller: { tenantId }, params: { paymentId }, query }) => {
      const { limit, after } = readPage(query)
      if (!looksLikePaymentId(paymentId)) fail('payment_not_found')
      const rows = await database.read([tenantId], async (tx) => {
        const [payment] = await tx.query(PAYMENT, [tenantId, paymentId])
        if (!payment?.found) fail('payment_not_found')
        return tx.query(LIST, [tenantId, paymentId, after?.at, after?.id, limit + 1])
      })
      const positionOf = (refund: MerchantRefund) => ({ at: refund.createdAt, id: refund.refundId })
      return {
        body: succeed(
          page(rows, limit, positionOf, (refund) => refundToWire(refund, config.BUSINESS_TIME_ZONE)),
        ),
      }
    }
  },
})
