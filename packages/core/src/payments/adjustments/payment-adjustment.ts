import { type Paise, paiseToWire, paise as toPaise } from '@svc/kernel/money'
import { rfc3339 } from '@svc/kernel/time'
import { instant, paise, type RowOf, table, text } from '@svc/platform/db/table'
import type { OutboxEvent } from '@svc/platform/outbox'
import { Type } from 'typebox'
import { type Account, account, accountId } from '../../ledger/accounts.ts'
import type { Journal } from '../../ledger/journals.ts'
import { type CodeFacts, type Payment, PaymentRecord, paymentRecordToWire } from '../payment.ts'

/** Corrections of the amounts of accepted payments, each by a reference of the bank (decision Q18). */
export const paymentAdjustments = table('payment_adjustments', 'a', ['merchantId', 'adjustmentId'], {
  merchantId: text,
  adjustmentId: text,
  paymentId: text,
  /** What the payment amounts to from then on. */
  amountPaise: paise,
  /** By how much that changed it; below zero when the notice said too much. */
  changePaise: paise,
  /** The part of a change below zero beyond what was payable to the merchant. */
  advancedPaise: paise,
  /** The bank's reference of its correction: names one adjustment of the merchant. */
  reference: text,
  /** The operator's, for operators. */
  reason: text,
  createdAt: instant,
})
export type PaymentAdjustment = RowOf<typeof paymentAdjustments>

export const AdjustmentRecord = Type.Object(
  {
    adjustmentId: Type.String(),
    amount: Type.Number({ description: 'Rupees that the payment amounts to from then on' }),
    change: Type.Number({ description: 'Rupees by which that changed it; below zero: it was too much' }),
    reference: Type.String({ description: 'The bank’s reference of its correction' }),
    createdOn: Type.String({ description: 'RFC 3339 with milliseconds and zone offset' }),
  },
  { title: 'PaymentAdjustment', additionalProperties: false },
)

export const adjustmentToWire = (adjustment: PaymentAdjustment, timeZone: string) => ({
  adjustmentId: adjustment.adjustmentId,
  amount: paiseToWire(adjustment.amountPaise),
  change: paiseToWire(adjustment.changePaise),
  reference: adjustment.reference,
  createdOn: rfc3339(adjustment.createdAt, timeZone),
})

/** What the event of an adjustment carries. */
export const PaymentWithAdjustment = Type.Object(
  { ...PaymentRecord.properties, adjustment: AdjustmentRecord },
  { title: 'PaymentWithAdjustment', additionalProperties: false },
)

/** Events of one payment are delivered in order. */
export const adjustmentEvent = (
  payment: Payment & CodeFacts,
  adjustment: PaymentAdjustment,
  eventId: string,
  timeZone: string,
): OutboxEvent => ({
  eventId,
  tenantId: payment.merchantId,
  type: 'payment.adjusted',
  objectId: payment.paymentId,
  payload: {
    ...paymentRecordToWire(payment, timeZone),
    adjustment: adjustmentToWire(adjustment, timeZone),
  },
  createdAt: adjustment.createdAt,
})

/** Every account that an adjustment may move; the advances of a merchant are opened by the first one. */
export const adjustmentAccounts = (merchantId: string): Account[] =>
  (['payable', 'upi_clearing', 'bank', 'merchant_advances'] as const).map((kind) => account(kind, merchantId))

/** Ids of the two legs, and of that of the settlement. */
export type LegIds = readonly [string, string, string, string]

/** The bank owes more or less than its notice said, and so do we: from what is payable, and beyond it as an advance. */
export function adjustmentJournal(adjustment: PaymentAdjustment, [first, second]: LegIds): Journal {
  const { adjustmentId, advancedPaise, changePaise, createdAt, merchantId, reason, reference } = adjustment
  const isMore = changePaise > 0n
  const payable = toPaise(isMore ? changePaise : 0n - changePaise - advancedPaise)
  const leg = (transferId: string, kind: 'payable' | 'merchant_advances', amountPaise: Paise) => {
    const [clearing, other] = [accountId('upi_clearing', merchantId), accountId(kind, merchantId)]
    return {
      transferId,
      tenantId: merchantId,
      kind: 'payment_adjustment' as const,
      debitAccountId: isMore ? clearing : other,
      creditAccountId: isMore ? other : clearing,
      amountPaise,
      objectId: adjustmentId,
      createdAt,
    }
  }
  return {
    tenantId: merchantId,
    journalId: `jrn_${adjustmentId.slice(4)}`,
    kind: 'payment_adjustment',
    reference,
    reverses: null,
    reason,
    at: createdAt,
    transfers: [leg(first, 'payable', payable), leg(second, 'merchant_advances', advancedPaise)].filter(
      ({ amountPaise }) => amountPaise > 0n,
    ),
  }
}
