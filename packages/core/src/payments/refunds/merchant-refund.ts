import { type Paise, paiseToWire } from '@svc/kernel/money'
import { rfc3339 } from '@svc/kernel/time'
import {
  bytes,
  generated,
  instant,
  nullable,
  paise,
  type RowOf,
  table,
  text,
  textOf,
} from '@svc/platform/db/table'
import type { OutboxEvent } from '@svc/platform/outbox'
import { Type } from 'typebox'
import { type Account, account, accountId } from '../../ledger/accounts.ts'
import type { Journal } from '../../ledger/journals.ts'
import type { JournalKind } from '../../ledger/posting-rules.ts'
import type { Transfer } from '../../ledger/transfers.ts'
import { type CodeFacts, type Payment, PaymentRecord, paymentRecordToWire } from '../payment.ts'

/** Refunds of accepted payments, by their merchants, or by operators on their behalf (decision Q14). */
export const merchantRefunds = table('merchant_refunds', 'r', ['merchantId', 'refundId'], {
  merchantId: text,
  refundId: text,
  paymentId: text,
  amountPaise: paise,
  /** The part beyond what was payable to the merchant. */
  advancedPaise: paise,
  /** The merchant's own reference: names one refund. */
  referenceNumber: text,
  reason: nullable(text),
  /** The operator who made it; null: the merchant itself, or before this was recorded. */
  requestedBy: nullable(text),
  requestHash: bytes,
  status: textOf<'PENDING' | 'SENT' | 'REFUNDED' | 'FAILED'>(),
  failureReason: generated(nullable(text)),
  /** The run that sent it to the bank. */
  runId: generated(nullable(text)),
  /** The bank's own reference of the refund. */
  utr: generated(nullable(text)),
  createdAt: instant,
  sentAt: generated(nullable(instant)),
  completedAt: generated(nullable(instant)),
  /** When it had failed, of one that the bank has made after all. */
  failedAt: generated(nullable(instant)),
  /** When the bank reported that it had made it, though it had failed and its money was spent. */
  refundedLateAt: generated(nullable(instant)),
})
export type MerchantRefund = RowOf<typeof merchantRefunds>

export const RefundRecord = Type.Object(
  {
    refundId: Type.String(),
    paymentId: Type.String(),
    amount: Type.Number({ description: 'Rupees' }),
    referenceNumber: Type.String({ description: 'The merchant’s own reference' }),
    reason: Type.Optional(Type.String()),
    status: Type.Enum(['PENDING', 'SENT', 'REFUNDED', 'FAILED'], {
      description:
        '`SENT`: to the bank. `REFUNDED` is final; a `FAILED` one is `REFUNDED` if the bank made it after all',
    }),
    failureReason: Type.Optional(Type.String({ description: 'Why the bank could not make it' })),
    utr: Type.Optional(Type.String({ description: 'The bank’s own reference of the refund' })),
    createdOn: Type.String({ description: 'RFC 3339 with milliseconds and zone offset' }),
    sentOn: Type.Optional(Type.String({ description: 'When it was sent to the bank' })),
    completedOn: Type.Optional(Type.String({ description: 'When the bank confirmed it or it failed' })),
  },
  { title: 'Refund', additionalProperties: false },
)

export const refundToWire = (refund: MerchantRefund, timeZone: string) => ({
  refundId: refund.refundId,
  paymentId: refund.paymentId,
  amount: paiseToWire(refund.amountPaise),
  referenceNumber: refund.referenceNumber,
  reason: refund.reason ?? undefined,
  status: refund.status,
  failureReason: refund.failureReason ?? undefined,
  utr: refund.utr ?? undefined,
  createdOn: rfc3339(refund.createdAt, timeZone),
  sentOn: refund.sentAt ? rfc3339(refund.sentAt, timeZone) : undefined,
  completedOn: refund.completedAt ? rfc3339(refund.completedAt, timeZone) : undefined,
})

/** What events of a merchant's refund carry. */
export const PaymentWithRefund = Type.Object(
  { ...PaymentRecord.properties, refund: RefundRecord },
  { title: 'PaymentWithRefund', additionalProperties: false },
)

const EVENT_OF = {
  PENDING: 'payment.refund_pending',
  REFUNDED: 'payment.refunded',
  FAILED: 'payment.refund_failed',
} as const

/** The event of a refund that has come to this state; those of one payment are delivered in order. */
export const refundEvent = (
  payment: Payment & CodeFacts,
  refund: MerchantRefund & { readonly status: keyof typeof EVENT_OF },
  eventId: string,
  timeZone: string,
): OutboxEvent => ({
  eventId,
  tenantId: refund.merchantId,
  type: EVENT_OF[refund.status],
  objectId: refund.paymentId,
  payload: { ...paymentRecordToWire(payment, timeZone), refund: refundToWire(refund, timeZone) },
  createdAt: refund.completedAt ?? refund.createdAt,
})

const ID = /^rfd_[0-9a-z]{26}$/
/** Whether the id can exist; any other gets the response of a missing one (decision A12). */
export const looksLikeRefundId = (text: string): boolean => ID.test(text)

/** Every account that a refund may move; the advances of a merchant are opened by its first one. */
export const refundAccounts = (merchantId: string): Account[] =>
  (['payable', 'upi_refunds', 'upi_clearing', 'merchant_advances'] as const).map((kind) =>
    account(kind, merchantId),
  )

type Side = 'payable' | 'upi_refunds' | 'upi_clearing' | 'merchant_advances' | 'refund_exceptions'
const leg = (
  { merchantId, refundId }: MerchantRefund,
  [kind, transferId, createdAt]: readonly [JournalKind, string, Date],
  debit: Side,
  credit: Side,
  amountPaise: Paise,
): Transfer => ({
  transferId,
  tenantId: merchantId,
  kind,
  debitAccountId: accountId(debit, merchantId),
  creditAccountId: accountId(credit, merchantId),
  amountPaise,
  objectId: refundId,
  createdAt,
})

/** Of the journal that took the refund from the merchant. */
export const journalIdOf = ({ refundId }: Pick<MerchantRefund, 'refundId'>): string =>
  `jrn_${refundId.slice(4)}`

/** A journal's id is the refund's under another prefix, with a letter for what happened. */
const journal = (
  { merchantId, refundId, referenceNumber }: MerchantRefund,
  [kind, suffix, at]: readonly [JournalKind, string, Date],
  transfers: readonly Transfer[],
): Journal => ({
  tenantId: merchantId,
  journalId: `${journalIdOf({ refundId })}${suffix}`,
  kind,
  reference: referenceNumber,
  reverses: null,
  reason: null,
  at,
  transfers: transfers.filter(({ amountPaise }) => amountPaise > 0n),
})

/** Ids of the two legs. */
export type LegIds = readonly [string, string]

/** From what is payable to the merchant, and beyond it as an advance. */
function takenJournal(
  refund: MerchantRefund,
  [kind, suffix, at]: readonly [JournalKind, string, Date],
  [first, second]: LegIds,
): Journal {
  const { amountPaise, advancedPaise } = refund
  const payable = (amountPaise - advancedPaise) as Paise
  return journal(
    refund,
    [kind, suffix, at],
    [
      leg(refund, [kind, first, at], 'payable', 'upi_refunds', payable),
      leg(refund, [kind, second, at], 'merchant_advances', 'upi_refunds', advancedPaise),
    ],
  )
}

export const requestedJournal = (refund: MerchantRefund, legs: LegIds): Journal =>
  takenJournal(refund, ['merchant_refund', '', refund.createdAt], legs)

/** The bank has made it after all: what it took is payable no more. */
export const restoredJournal = (refund: MerchantRefund, legs: LegIds, at: Date): Journal =>
  takenJournal(refund, ['merchant_refund_restored', 'a', at], legs)

/** The bank has made it after all, but its money was spent or not left of its payment: the merchant owes it. */
export function lateJournal(refund: MerchantRefund, first: string, at: Date): Journal {
  const kind = 'merchant_refund_late'
  return journal(
    refund,
    [kind, 'l', at],
    [leg(refund, [kind, first, at], 'refund_exceptions', 'upi_clearing', refund.amountPaise)],
  )
}

/** The bank has paid it out of what it owes us. */
export function paidJournal(refund: MerchantRefund, [first]: LegIds, at: Date): Journal {
  const kind = 'merchant_refund_paid'
  return journal(
    refund,
    [kind, 'p', at],
    [leg(refund, [kind, first, at], 'upi_refunds', 'upi_clearing', refund.amountPaise)],
  )
}

/** The mirror of the request. */
export function failedJournal(refund: MerchantRefund, [first, second]: LegIds, at: Date): Journal {
  const { amountPaise, advancedPaise, failureReason } = refund
  const kind = 'merchant_refund_failed'
  const payable = (amountPaise - advancedPaise) as Paise
  return {
    ...journal(
      refund,
      [kind, 'f', at],
      [
        leg(refund, [kind, first, at], 'upi_refunds', 'payable', payable),
        leg(refund, [kind, second, at], 'upi_refunds', 'merchant_advances', advancedPaise),
      ],
    ),
    reverses: journalIdOf(refund),
    reason: failureReason,
  }
}
