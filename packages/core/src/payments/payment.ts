import { type Paise, paiseToWire, paise as toPaise } from '@svc/kernel/money'
import { rfc3339 } from '@svc/kernel/time'
import {
  bytes,
  generated,
  instant,
  nullable,
  paise,
  type RowOf,
  secret,
  smallint,
  table,
  text,
  textOf,
  texts,
} from '@svc/platform/db/table'
import type { OutboxEvent } from '@svc/platform/outbox'
import { Type } from 'typebox'
import type { NoticeFlag } from '../rails/read-notice.ts'

/** Why a credit was not accepted. */
export const REFUSAL_REASONS = [
  'qr_code_cancelled',
  'paid_before_cancel',
  'qr_code_expired',
  'qr_code_used',
  'amount_mismatch',
  'amount_over_limit',
  'merchant_disabled',
  'unknown_code',
] as const
export type RefusalReason = (typeof REFUSAL_REASONS)[number]

/**
 * `ASSIGNED`: out of the suspense of the platform or of another merchant; another payment has the credit now.
 * `UNASSIGNED`: the other one, after its assignment was taken back.
 */
export const PAYMENT_STATUSES = [
  'ACCEPTED',
  'REFUND_PENDING',
  'REFUNDED',
  'SUSPENSE',
  'ASSIGNED',
  'UNASSIGNED',
] as const
export type PaymentStatus = (typeof PAYMENT_STATUSES)[number]

/** Credits that the rail reported, whatever became of them (decision Q11). */
export const payments = table(
  'payments',
  'p',
  ['merchantId', 'paymentId'],
  {
    paymentId: text,
    /** The merchant, or the platform for a credit that fits no code. */
    merchantId: text,
    qrCodeId: nullable(text),
    /** The bank's reference: one names one credit, ever. */
    utr: text,
    /** The code's reference as the rail sent it. */
    tr: text,
    amountPaise: paise,
    /** Absent or masked, as the bank reports it. */
    payerVpa: nullable(text),
    status: textOf<PaymentStatus>(),
    reason: nullable(textOf<RefusalReason>()),
    /** When the payer's bank made the transaction; `createdAt` is when we learned of it (decision R4). */
    transactionAt: nullable(instant),
    flags: texts<NoticeFlag>(),
    /** The notice as the bank signed it. */
    notice: secret(nullable(bytes)),
    createdAt: instant,
    refundedAt: generated(nullable(instant)),
    /** What its merchant refunds or has refunded; failed refunds do not count. */
    refundPaise: generated(paise),
    /** What its payer disputes or got back by a dispute; disputes that the merchant won do not count. */
    disputePaise: generated(paise),
    /** By how much adjustments changed it; below zero when its notice said too much. */
    adjustedPaise: generated(paise),
    /** When it was assigned or returned out of suspense. */
    resolvedAt: generated(nullable(instant)),
    /** The payment in the suspense of the platform, or of another merchant, that it was assigned from. */
    assignedFrom: generated(nullable(text)),
    /** How often an assignment of it was taken back. */
    takenBack: generated(smallint),
  },
  ['utr'],
)
export type Payment = RowOf<typeof payments>

/** The reference of journals of an assignment: the bank's, and from the second one on a number. */
export const assignmentReference = ({ takenBack, utr }: Pick<Payment, 'takenBack' | 'utr'>): string =>
  takenBack === 0 ? utr : `${utr}~${takenBack + 1}`

/** What a payment amounts to: what its notice says, with all adjustments (decision Q18). */
export const correctedPaise = ({
  amountPaise,
  adjustedPaise,
}: Pick<Payment, 'amountPaise' | 'adjustedPaise'>): Paise => toPaise(amountPaise + adjustedPaise)

export const PaymentResponse = Type.Object(
  {
    paymentId: Type.String(),
    utr: Type.String({ description: 'The bank’s reference' }),
    amount: Type.Number({ description: 'Rupees, as the bank’s notice says' }),
    adjustedAmount: Type.Optional(
      Type.Number({
        description:
          'Rupees that it amounts to since an operator corrected it by a reference of the bank; absent when it was not corrected',
      }),
    ),
    payerVpa: Type.Optional(
      Type.String({ description: 'As the bank reports it: it may be masked', 'x-personal': 'address' }),
    ),
    status: Type.Enum([...PAYMENT_STATUSES], {
      description:
        '`SUSPENSE`: fits no code and waits to be assigned or returned. `ASSIGNED`: another merchant has the credit. `UNASSIGNED`: an operator had assigned it to the merchant and took that back',
    }),
    reason: Type.Optional(
      Type.Enum([...REFUSAL_REASONS], {
        description: 'Why the credit was not accepted; absent when it was',
      }),
    ),
    transactionOn: Type.Optional(Type.String({ description: 'When the payer’s bank made the transaction' })),
    createdOn: Type.String({
      description: 'When the notice came; RFC 3339 with milliseconds and zone offset',
    }),
    refundedOn: Type.Optional(Type.String({ description: 'When the rail confirmed the refund' })),
    refundedAmount: Type.Optional(
      Type.Number({
        description:
          'Rupees that the merchant refunds or has refunded, without failed refunds; absent when there are none',
      }),
    ),
    disputedAmount: Type.Optional(
      Type.Number({
        description:
          'Rupees that the payer disputes or got back by a dispute, without disputes that the merchant won; absent when there are none',
      }),
    ),
  },
  { title: 'Payment', additionalProperties: false },
)

/** What a payment's record says of its code, so that a merchant finds the order without another request. */
export interface CodeFacts {
  readonly referenceNumber: string | null
  readonly customParams: Readonly<Record<string, string>> | null
}
/** The select list of `CodeFacts`, of a code `q`. */
export const CODE_FACTS = `q.reference_number as "referenceNumber", q.custom_params as "customParams"`

/** A payment as a resource of its own, and what its events carry. */
export const PaymentRecord = Type.Object(
  {
    ...PaymentResponse.properties,
    qrCodeId: Type.Optional(Type.String({ description: 'Absent when the credit fitted no code' })),
    referenceNumber: Type.Optional(Type.String({ description: 'Of the code' })),
    customParams: Type.Optional(
      Type.Record(Type.String(), Type.String(), { description: 'Of the code', 'x-personal': 'text' }),
    ),
  },
  { title: 'PaymentRecord', additionalProperties: false },
)

/** A payment whose money is with our bank. */
export const SettledPayment = Type.Object(
  {
    ...PaymentRecord.properties,
    batchUtr: Type.Optional(
      Type.String({ description: 'The bank’s reference of the transfer that it was settled with' }),
    ),
  },
  { title: 'SettledPayment', additionalProperties: false },
)

export const paymentRecordToWire = (payment: Payment & CodeFacts, timeZone: string) => ({
  ...paymentToWire(payment, timeZone),
  qrCodeId: payment.qrCodeId ?? undefined,
  referenceNumber: payment.referenceNumber ?? undefined,
  customParams: payment.customParams ?? undefined,
})

/** An event about a payment; those of one payment are delivered in order. */
export const paymentEvent = (
  type: 'refund_pending' | 'refunded' | 'suspended' | 'assigned' | 'unassigned',
  payment: Payment & CodeFacts,
  eventId: string,
  timeZone: string,
): OutboxEvent => ({
  eventId,
  tenantId: payment.merchantId,
  type: `payment.${type}`,
  objectId: payment.paymentId,
  payload: paymentRecordToWire(payment, timeZone),
  createdAt: type === 'refunded' ? payment.refundedAt! : (payment.resolvedAt ?? payment.createdAt),
})

const ID = /^pay_[0-9a-z]{26}$/
/** Whether the id has the form of our ids; any other gets the response for a missing one (decision A12). */
export const looksLikePaymentId = (text: string): boolean => ID.test(text)

export const paymentToWire = (payment: Payment, timeZone: string) => ({
  paymentId: payment.paymentId,
  utr: payment.utr,
  amount: paiseToWire(payment.amountPaise),
  adjustedAmount: payment.adjustedPaise === 0n ? undefined : paiseToWire(correctedPaise(payment)),
  payerVpa: payment.payerVpa ?? undefined,
  status: payment.status,
  reason: payment.reason ?? undefined,
  transactionOn: payment.transactionAt ? rfc3339(payment.transactionAt, timeZone) : undefined,
  createdOn: rfc3339(payment.createdAt, timeZone),
  refundedOn: payment.refundedAt ? rfc3339(payment.refundedAt, timeZone) : undefined,
  refundedAmount: payment.refundPaise > 0n ? paiseToWire(payment.refundPaise) : undefined,
  disputedAmount: payment.disputePaise > 0n ? paiseToWire(payment.disputePaise) : undefined,
})
