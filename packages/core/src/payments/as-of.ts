import { paise } from '@svc/kernel/money'
import type { Tx } from '@svc/platform/db/database'
import { statement } from '@svc/platform/db/statement'
import type { QrCode } from '../qr-codes/qr-code.ts'
import type { Payment } from './payment.ts'
import type { MerchantRefund } from './refunds/merchant-refund.ts'

const isUntil = (at: Date, when: Date | null): boolean => when !== null && when <= at

const PAID = statement<{ count: number; amountPaise: bigint }>(
  'qr_code_paid_as_of',
  `select count(*)::integer as count, coalesce(sum(p.amount_paise), 0)::bigint as "amountPaise" from payments p
   where p.merchant_id = $1 and p.qr_code_id = $2 and p.reason is null and p.created_at <= $3`,
)

/** The code as it was at the end of an instant; `undefined` before its creation. Its last UTR is the present one. */
export async function qrCodeAsOf(tx: Tx, code: QrCode, at: Date): Promise<QrCode | undefined> {
  if (code.createdAt > at) return undefined
  const [paid] = await tx.query(PAID, [code.merchantId, code.qrCodeId, at])
  // A code changes once, when it is closed; only one that has expired is cancelled later.
  const isChanged = isUntil(at, code.closedAt) && !(code.closeReason === 'expired' && code.modifiedAt > at)
  return {
    ...code,
    acceptedCount: paid!.count,
    acceptedPaise: paise(paid!.amountPaise),
    ...(!isChanged && { status: 'ACTIVE', cancelReason: null, modifiedAt: code.createdAt }),
    ...(!isUntil(at, code.closedAt) && { closeReason: null, closedAt: null }),
  }
}

/** The refund as it was at the end of an instant; `undefined` before it was requested. */
export function refundAsOf<R extends MerchantRefund>(refund: R, at: Date): R | undefined {
  if (refund.createdAt > at) return undefined
  if (isUntil(at, refund.completedAt)) return refund
  if (isUntil(at, refund.failedAt))
    return { ...refund, status: 'FAILED', completedAt: refund.failedAt, utr: null }
  const isSent = isUntil(at, refund.sentAt)
  return {
    ...refund,
    status: isSent ? 'SENT' : 'PENDING',
    sentAt: isSent ? refund.sentAt : null,
    completedAt: null,
    failureReason: null,
    utr: null,
  }
}

const REFUNDED = statement<{ amountPaise: bigint }>(
  'payment_refunds_as_of',
  `select coalesce(sum(r.amount_paise), 0)::bigint as "amountPaise" from merchant_refunds r
   where r.merchant_id = $1 and r.payment_id = $2 and r.created_at <= $3
     and (r.status <> 'FAILED' or r.completed_at > $3)
     and (r.failed_at is null or r.failed_at > $3 or r.completed_at <= $3)`,
)

const DISPUTED = statement<{ amountPaise: bigint }>(
  'payment_disputes_as_of',
  `select coalesce(sum(d.amount_paise), 0)::bigint as "amountPaise" from disputes d
   where d.merchant_id = $1 and d.payment_id = $2 and d.created_at <= $3
     and (d.status <> 'WON' or d.closed_at > $3)`,
)

const ADJUSTED = statement<{ changePaise: bigint }>(
  'payment_adjustments_as_of',
  `select coalesce(sum(a.change_paise), 0)::bigint as "changePaise" from payment_adjustments a
   where a.merchant_id = $1 and a.payment_id = $2 and a.created_at <= $3`,
)

const TAKEN_BACK = statement<{ assignedAt: Date | null }>(
  'payment_unassignments_as_of',
  `select u.assigned_at as "assignedAt" from unassignments u
   where u.tenant_id = $1 and u.payment_id = $2 and u.unassigned_at > $3
   order by u.unassigned_at limit 1`,
)

/** The payment as it was at the end of an instant; `undefined` before its notice came. */
export async function paymentAsOf<P extends Payment>(tx: Tx, payment: P, at: Date): Promise<P | undefined> {
  if (payment.createdAt > at) return undefined
  const values = [payment.merchantId, payment.paymentId, at]
  const [refunds] = await tx.query(REFUNDED, values)
  const [disputed] = await tx.query(DISPUTED, values)
  const [adjusted] = await tx.query(ADJUSTED, values)
  const was = {
    ...payment,
    refundPaise: paise(refunds!.amountPaise),
    disputePaise: paise(disputed!.amountPaise),
    adjustedPaise: paise(adjusted!.changePaise),
  }
  const [takenBack] = await tx.query(TAKEN_BACK, values)
  if (takenBack && (takenBack.assignedAt === null || takenBack.assignedAt <= at))
    return { ...was, status: 'ACCEPTED', reason: null, resolvedAt: takenBack.assignedAt, refundedAt: null }
  // Of a merchant's own suspense: what was assigned out of the platform's has another payment, created then.
  if (payment.resolvedAt !== null && payment.resolvedAt > at && payment.assignedFrom === null)
    return { ...was, status: 'SUSPENSE', reason: 'unknown_code', resolvedAt: null, refundedAt: null }
  if (payment.refundedAt !== null && payment.refundedAt > at)
    return { ...was, status: statusBeforeRefund(payment), refundedAt: null }
  return was
}

/** A credit that fits no code may be returned by the bank without having been resolved. */
const statusBeforeRefund = ({ qrCodeId, resolvedAt }: Payment) =>
  qrCodeId === null && resolvedAt === null ? 'SUSPENSE' : 'REFUND_PENDING'
