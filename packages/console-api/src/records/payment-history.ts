import type { PaymentAdjustment } from '@svc/core/payments/adjustments/payment-adjustment'
import type { Payment } from '@svc/core/payments/payment'
import type { MerchantRefund } from '@svc/core/payments/refunds/merchant-refund'
import { type SettlementLine, settlementLines } from '@svc/core/payments/settlements/settlement-line'
import { type Unassignment, unassignmentsOf } from '@svc/core/payments/suspense/unassignment'
import { type RailNotice, railNotices } from '@svc/core/rails/rail-notice'
import { PLATFORM_TENANT } from '@svc/core/tenants/tenant'
import { formatRupees } from '@svc/kernel/money'
import { rfc3339 } from '@svc/kernel/time'
import type { Tx } from '@svc/platform/db/database'
import { statement } from '@svc/platform/db/statement'
import { Type } from 'typebox'
import { instant, record, rupeesText, text } from '../console-schema.ts'
import type { HistoryItem } from './history.ts'
import { maskPerson } from './personal-data.ts'

export const SettlementRecord = record('SettlementLine', {
  fileId: text('Settlement file of the bank'),
  line: Type.Integer({ description: 'Line of the file; the first one is 1' }),
  amount: rupeesText,
  settledOn: text('Day on which the bank paid, `YYYY-MM-DD`'),
  batchId: Type.Optional(text('The transfer of the bank; absent where the file names none')),
  batchUtr: Type.Optional(text('The bank’s reference of that transfer')),
  status: Type.Enum(['MATCHED', 'DIFFERS', 'UNKNOWN'], {
    description: '`DIFFERS`: from the amount of the payment',
  }),
  journalId: Type.Optional(text()),
  recordedOn: instant,
})

/** With the transfer that it is a line of. */
type SettledLine = SettlementLine & { readonly batchUtr: string | null }

const SETTLEMENT = statement<SettledLine>(
  'console_settlement_of_payment',
  `select ${settlementLines.columns}, b.batch_utr as "batchUtr"
   from settlement_lines l left join settlement_batches b
     on b.tenant_id = '${PLATFORM_TENANT}' and b.batch_id = l.batch_id and b.is_awaited
   where l.tenant_id = $1 and l.utr = $2`,
)
export const findSettlementLine = async (
  tx: Tx,
  tenantId: string,
  utr: string,
): Promise<SettledLine | undefined> => (await tx.query(SETTLEMENT, [tenantId, utr]))[0]

export const settlementToWire = (line: SettledLine, timeZone: string) => ({
  ...(line.batchUtr !== null && { batchId: line.batchId ?? undefined, batchUtr: line.batchUtr }),
  fileId: line.fileId,
  line: line.line,
  amount: formatRupees(line.amountPaise),
  settledOn: line.settledOn,
  status: line.status,
  journalId: line.journalId ?? undefined,
  recordedOn: rfc3339(line.recordedAt, timeZone),
})

const NOTICES_MAX = 50
const NOTICES = statement<RailNotice>(
  'console_notices_of_payment',
  `select ${railNotices.columns} from rail_notices n where n.payment_id = $1
   order by n.received_at desc, n.notice_id desc limit ${NOTICES_MAX}`,
)

/** What the bank, the merchant and the settlement say of a payment. */
export async function paymentHistoryItems(
  tx: Tx,
  payment: Payment,
  refunds: readonly MerchantRefund[],
  settlement: SettlementLine | undefined,
  adjustments: readonly PaymentAdjustment[] = [],
): Promise<HistoryItem[]> {
  const notices = await tx.query(NOTICES, [payment.paymentId])
  const takenBack = await unassignmentsOf(tx, payment)
  return [
    ...(payment.transactionAt ? [paidAt(payment, payment.transactionAt)] : []),
    ...recorded(payment),
    ...takenBack.flatMap(unassigned),
    ...notices.flatMap(noticeHistoryItems),
    ...refunds.flatMap(refundHistoryItems),
    ...adjustments.map(adjusted),
    ...(settlement ? [settled(settlement)] : []),
  ]
}

/** The payer stays masked here also when the payment is revealed: its record shows them then. */
const paidAt = ({ payerVpa, utr }: Payment, at: Date): HistoryItem => ({
  at,
  source: 'notice',
  what: 'paid_by_customer',
  detail: [`UTR ${utr}`, payerVpa && `from ${maskPerson(payerVpa)}`].filter(Boolean).join(' '),
})

/** What became of a credit when it came. */
function firstOf({ qrCodeId, assignedFrom, reason }: Payment): string {
  if (assignedFrom !== null) return 'assigned'
  if (qrCodeId === null) return 'suspended'
  return reason === null ? 'accepted' : 'refused'
}

const resolutionOf = ({ status }: Payment): string =>
  status === 'ACCEPTED' || status === 'ASSIGNED' ? 'assigned' : 'returned'

/** A refused credit goes back to its payer at once: that it was refused and that the bank confirmed it are two facts. */
export function recorded(payment: Payment): HistoryItem[] {
  const { amountPaise, createdAt, paymentId, reason, refundedAt } = payment
  const fact = { source: 'payment', id: paymentId, amount: formatRupees(amountPaise) } as const
  const first: HistoryItem = { ...fact, at: createdAt, what: firstOf(payment), detail: reason ?? undefined }
  return [
    first,
    ...(payment.resolvedAt && payment.assignedFrom === null
      ? [{ ...fact, at: payment.resolvedAt, what: resolutionOf(payment) }]
      : []),
    ...(refundedAt ? [{ ...fact, at: refundedAt, what: 'refunded' }] : []),
  ]
}

function unassigned({ amountPaise, assignedAt, paymentId, unassignedAt }: Unassignment): HistoryItem[] {
  const fact = { source: 'payment', id: paymentId, amount: formatRupees(amountPaise) } as const
  return [
    ...(assignedAt ? [{ ...fact, at: assignedAt, what: 'assigned' }] : []),
    { ...fact, at: unassignedAt, what: 'unassigned' },
  ]
}

function noticeHistoryItems(notice: RailNotice): HistoryItem[] {
  const { assignedAt, assignedBy, noticeId, reason, receivedAt, status } = notice
  const what = status === 'DUPLICATE' ? 'notice_repeated' : 'notice_quarantined'
  const received: HistoryItem = {
    at: receivedAt,
    source: 'notice',
    what,
    id: noticeId,
    detail: reason ?? undefined,
  }
  return assignedAt
    ? [
        received,
        {
          at: assignedAt,
          source: 'notice',
          what: 'notice_assigned',
          id: noticeId,
          detail: assignedBy ?? undefined,
        },
      ]
    : [received]
}

/** Requested, sent to the bank, and its outcome. */
export function refundHistoryItems(refund: MerchantRefund): HistoryItem[] {
  const { amountPaise, completedAt, createdAt, failureReason, reason, refundId, runId, sentAt, status, utr } =
    refund
  const { failedAt, refundedLateAt } = refund
  const fact = { source: 'refund', id: refundId, amount: formatRupees(amountPaise) } as const
  const of = (at: Date | null, what: string, ...detail: readonly (string | null)[]): HistoryItem[] =>
    at ? [{ ...fact, at, what, detail: detail.filter(Boolean).join(', ') || undefined }] : []
  return [
    ...of(createdAt, 'refund_requested', `reference ${refund.referenceNumber}`, reason),
    ...of(sentAt, 'refund_sent', runId && `run ${runId}`),
    ...of(failedAt, 'refund_failed'),
    ...of(
      completedAt,
      status === 'FAILED' ? 'refund_failed' : 'refund_completed',
      refundedLateAt ? null : utr && `UTR ${utr}`,
      failureReason,
    ),
    ...of(refundedLateAt, 'refund_made_late', `UTR ${utr}; its money was spent or refunded again`),
  ]
}

const adjusted = ({
  adjustmentId,
  amountPaise,
  createdAt,
  reason,
  reference,
}: PaymentAdjustment): HistoryItem => ({
  at: createdAt,
  source: 'payment',
  what: 'adjusted',
  id: adjustmentId,
  amount: formatRupees(amountPaise),
  detail: `reference ${reference}, ${reason}`,
})

const settled = ({
  amountPaise,
  fileId,
  line,
  recordedAt,
  settledOn,
  status,
}: SettlementLine): HistoryItem => ({
  at: recordedAt,
  source: 'settlement',
  what: `settlement_${status.toLowerCase()}`,
  id: fileId,
  amount: formatRupees(amountPaise),
  detail: `paid by the bank on ${settledOn}, line ${line} of the file`,
})
