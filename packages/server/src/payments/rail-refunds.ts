import { carriedOut } from '@svc/core/ledger/money-command'
import { PaymentResponse, paymentToWire } from '@svc/core/payments/payment'
import { completeRefund } from '@svc/core/payments/refunds/complete-refund'
import { confirmRefund } from '@svc/core/payments/refunds/confirm-refund'
import { RefundRecord, refundToWire } from '@svc/core/payments/refunds/merchant-refund'
import { readRefundNotice } from '@svc/core/payments/refunds/refund-notice'
import { NoticeReceipt, type RailNotice } from '@svc/core/rails/rail-notice'
import { required } from '@svc/kernel/invariant'
import { Type } from 'typebox'
import { ok, query } from '../http/operation.ts'
import { noticeReply, SIGNATURE } from '../rails/authenticate-rail.ts'

const text = (description: string) => Type.Optional(Type.String({ description }))

const RefundNotice = Type.Object(
  {
    utr: text(
      'Without `refundId` the bank’s reference of the credit that it returned; with it the bank’s own reference of the refund. Compared without case and separators',
    ),
    refundId: text('The refund of a merchant, as the refund file has it'),
    status: text('With `refundId`: `REFUNDED` or `FAILED`'),
    amount: Type.Optional(
      Type.Unsafe<string | number>({ type: ['string', 'number'], description: 'Rupees' }),
    ),
    currency: Type.Optional(
      Type.Unsafe<string | number>({
        type: ['string', 'number'],
        description: '`INR`; a notice in another currency goes to quarantine',
      }),
    ),
    reason: text('Why it failed'),
  },
  { description: 'Other fields are kept with a notice that goes to quarantine' },
)

const contract = {
  id: 'confirmRefund',
  method: 'POST',
  path: '/rails/upi/refunds',
  tag: 'UPI rail',
  summary: 'Notify that a UPI credit was returned',
  description:
    'Sent by the bank, signed. With `utr` alone: a credit that was not accepted went back to its payer. With `refundId`: a refund by a merchant was made, or failed. A repeat changes nothing. A notice that cannot be read, is of another kind, names no such credit or refund, or contradicts what is recorded goes to quarantine: 202.',
  auth: 'rail',
  envelope: 'response_code',
  headers: SIGNATURE,
  body: RefundNotice,
  acceptsAnyBody: true,
  result: Type.Union([PaymentResponse, RefundRecord]),
  accepted: NoticeReceipt,
  errors: [],
} as const

const keptReply = (kept: RailNotice | undefined) =>
  noticeReply(required(kept, 'a notice changes something or is kept'))

/** Decisions Q11 and Q14: two commands, by what the notice names. */
export const confirmRefundOperation = {
  ...query({
    ...contract,
    mount({ commands, config }) {
      const ofCredit = commands.open(confirmRefund)
      const ofMerchant = commands.open(completeRefund)
      const timeZone = config.BUSINESS_TIME_ZONE
      return async ({ rawBody: notice, deadlineMs, caller: { mayBeElsewhere } }) => {
        const read = readRefundNotice(notice)
        const waiting = { retry: undefined, deadlineMs }
        if ('credit' in read)
          return ofCredit.respond(
            { credit: read.credit, notice, mayBeElsewhere },
            {
              ...waiting,
              reply: ({ payment, kept }) =>
                payment ? ok(paymentToWire(payment, timeZone)) : keptReply(kept),
            },
          )
        return ofMerchant.respond(
          { read, notice, mayBeElsewhere },
          {
            ...waiting,
            reply(outcome) {
              const { refund, kept } = carriedOut(outcome)
              return refund ? ok(refundToWire(refund, timeZone)) : keptReply(kept)
            },
          },
        )
      }
    },
  }),
  acceptsIdempotencyKey: true,
}
