import { carriedOut } from '@svc/core/ledger/money-command'
import { acceptPayment } from '@svc/core/payments/accept-payment'
import { readCreditNotice } from '@svc/core/payments/credit-notice'
import { PaymentResponse, paymentToWire } from '@svc/core/payments/payment'
import { NoticeReceipt } from '@svc/core/rails/rail-notice'
import { required } from '@svc/kernel/invariant'
import { Type } from 'typebox'
import { ok, operation } from '../http/operation.ts'
import { adapterOf, BANK_QUERY, isFresh, noticeReply, SIGNATURE } from '../rails/authenticate-rail.ts'

export const UTR_PATTERN = '^[A-Za-z0-9]{6,35}$'
export const TR_CHARS_MAX = 64

const CreditNotice = Type.Object(
  {
    utr: Type.Unsafe<string | number>({
      type: ['string', 'number'],
      description: 'The bank’s reference of the credit; compared without case and separators',
    }),
    tr: Type.Optional(Type.String({ description: 'The transaction reference of the scanned code' })),
    amount: Type.Unsafe<string | number>({ type: ['string', 'number'], description: 'Rupees' }),
    currency: Type.Optional(
      Type.Unsafe<string | number>({
        type: ['string', 'number'],
        description: '`INR`; a notice in another currency goes to quarantine',
      }),
    ),
    status: Type.Optional(
      Type.String({ description: 'A word of success, such as `SUCCESS`; any other goes to quarantine' }),
    ),
    payerVpa: Type.Optional(Type.String({ description: 'May be masked' })),
    payeeVpa: Type.Optional(
      Type.String({ description: 'Whom the payer paid: names the merchant of a credit that fits no code' }),
    ),
    transactionTime: Type.Optional(
      Type.String({
        description:
          'RFC 3339, or seconds since 1970: when the payer’s bank made the transaction. One without a zone goes to quarantine',
      }),
    ),
  },
  { description: 'Other fields are kept with the notice' },
)

/** Decision Q11. */
export const acceptPaymentOperation = operation({
  id: 'acceptPayment',
  method: 'POST',
  path: '/rails/upi/credits',
  tag: 'UPI rail',
  summary: 'Notify a UPI credit',
  description:
    'Sent by the bank, signed. A signed notice is never rejected for its form or its age: it is stored as it is, then read. Idempotent by `utr`: a repeated notice gets the first response. A credit that its code cannot accept is recorded as `REFUND_PENDING` with a reason, for the bank to return; one whose `tr` fits no code is kept as `SUSPENSE`. A notice of which a field cannot be read or says that no money came, that is of another kind, or that contradicts an earlier one of its `utr`, goes to quarantine: 202 with the `field`. One that the adapter ignores is kept: 200 with the status `IGNORED`.',
  auth: 'rail',
  envelope: 'response_code',
  headers: SIGNATURE,
  body: CreditNotice,
  acceptsAnyBody: true,
  query: BANK_QUERY,
  result: Type.Union([PaymentResponse, NoticeReceipt]),
  accepted: NoticeReceipt,
  errors: [],
  run: acceptPayment,
  args: ({ rawBody, caller, query }, services) => {
    const nowMs = services.clock.now()
    const adapter = adapterOf(services, query)
    return {
      notice: rawBody,
      adapter,
      mayBeElsewhere: caller.mayBeElsewhere,
      read: readCreditNotice(rawBody, new Date(nowMs), isFresh(caller, nowMs), adapter),
    }
  },
  reply(outcome, { timeZone }) {
    const { payment, kept } = carriedOut(outcome)
    return payment
      ? ok(paymentToWire(payment, timeZone))
      : noticeReply(required(kept, 'a notice is a payment or is kept'))
  },
})
