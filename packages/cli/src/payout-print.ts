import { type Payout, taxOf } from '@svc/core/payments/payout'
import { formatRupees } from '@svc/kernel/money'
import { isDay } from '@svc/kernel/time'
import { InvalidArgumentError } from 'commander'
import { UsageError } from './usage-error.ts'

export const shownPayout = (payout: Payout) => ({
  payoutId: payout.payoutId,
  merchantId: payout.merchantId,
  businessDay: payout.businessDay,
  payments: formatRupees(payout.paymentPaise),
  adjustments: formatRupees(payout.adjustmentPaise),
  refunds: formatRupees(payout.refundPaise),
  fees: formatRupees(payout.feePaise),
  tax: formatRupees(taxOf(payout)),
  amount: formatRupees(payout.amountPaise),
  status: payout.status,
  preparedBy: payout.preparedBy,
  approvedBy: payout.approvedBy,
  utr: payout.utr,
  failureReason: payout.failureReason,
  paidLateAt: payout.paidLateAt,
  returnedAt: payout.returnedAt,
  returnUtr: payout.returnUtr,
})

export function readDay(text: string): string {
  if (!isDay(text)) throw new InvalidArgumentError('It must be a day, such as 2026-04-01.')
  return text
}

export const noPayout = (payoutId: string): never => {
  throw new UsageError(`There is no payout ${payoutId}. List them with: svc admin payout list`)
}
