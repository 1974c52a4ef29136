import { fail } from '@svc/contract/errors'
import { looksLikePaymentId } from '@svc/core/payments/payment'
import { createRefund } from '@svc/core/payments/refunds/create-refund'
import { RefundRecord, refundToWire } from '@svc/core/payments/refunds/merchant-refund'
import { statement } from '@svc/platform/db/statement'
import { ApprovalRecord, replyOrWait } from '@svc/server/approvals/approval-record'
import { Rupees, readRupees } from '@svc/server/http/fields'
import { createRefundOperation } from '@svc/server/payments/refunds'
import { Type } from 'typebox'
import { actorOf } from '../as-operator.ts'
import { CONSOLE_API, closed, consoleOperation, idParam, Name } from '../console-schema.ts'
import { keyedQuery, onceOnBehalf } from '../once.ts'

const PATH = `${CONSOLE_API}/payments/:paymentId/refunds`

const MERCHANT = statement<{ merchantId: string }>(
  'console_merchant_of_payment',
  'select merchant_id as "merchantId" from payments where payment_id = $1',
)

export const refundPaymentInConsole = keyedQuery({
  ...consoleOperation,
  id: 'console.refundPayment',
  stepUp: true,
  method: 'POST',
  path: PATH,
  tag: 'Payments',
  summary: 'Refund payment on behalf of its merchant',
  description:
    'As the merchant itself does: from what is payable to it, all that is left of the payment or `amount`. Above the limit of APPROVAL_ABOVE_RUPEES, with what you posted for the merchant within 24 hours and what operators refunded of the payment before, it waits for a second person: 202. The merchant itself refunds any amount.',
  permission: 'finance',
  params: idParam('paymentId'),
  body: closed({
    amount: Type.Optional(Rupees({ minimum: 0.01, description: 'Rupees; by default all that is left' })),
    referenceNumber: Type.String({
      minLength: 1,
      maxLength: 64,
      description: 'Names one refund of the merchant',
    }),
    reason: Name,
  }),
  result: RefundRecord,
  accepted: ApprovalRecord,
  errors: [...createRefundOperation.errors, 'approval_open'],
  mount({ commands, config, database }) {
    const { respond } = commands.open(createRefund)
    const timeZone = config.BUSINESS_TIME_ZONE
    return async (input) => {
      const { paymentId } = input.params
      const { amount, referenceNumber, reason } = input.body
      const amountPaise = readRupees('amount', amount)
      const merchantId = await database.operate(async (tx) => {
        const [payment] = looksLikePaymentId(paymentId) ? await tx.query(MERCHANT, [paymentId]) : []
        if (!payment) return fail('payment_not_found')
        return payment.merchantId
      })
      return respond(
        { merchantId, paymentId, amountPaise, referenceNumber, reason, requestedBy: actorOf(input.caller) },
        {
          reply: (outcome) =>
            replyOrWait(outcome, timeZone, ({ refund }) => ({
              status: 200,
              body: JSON.stringify(refundToWire(refund, timeZone)),
            })),
          ...onceOnBehalf(merchantId, { method: 'POST', path: PATH }, input, {
            action: 'payment.refund_created',
            target: ({ refund }: { refund: { refundId: string } }) => refund.refundId,
            details: { paymentId, reason },
          }),
        },
      )
    }
  },
})
