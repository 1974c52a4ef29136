import type { Payment } from '@svc/core/payments/payment'
import type { QrCode } from '@svc/core/qr-codes/qr-code'
import { formatRupees } from '@svc/kernel/money'
import { rfc3339 } from '@svc/kernel/time'
import { Type } from 'typebox'
import { instant, maybe, record } from '../console-schema.ts'

export const TimelineEntry = record('TimelineEntry', {
  at: instant,
  what: Type.Enum([
    'created',
    'payment_accepted',
    'payment_refused',
    'refunded',
    'cancelled',
    'used_up',
    'expired',
  ]),
  amount: maybe('Rupees with two decimals, such as `2495.00`'),
  reason: maybe(),
  paymentId: maybe(),
})

/** What became of a code, from the code and its payments. */
export function timelineOf(code: QrCode, payments: readonly Payment[], now: Date, timeZone: string) {
  const entries: { at: Date; what: string; amount?: string; reason?: string; paymentId?: string }[] = [
    { at: code.createdAt, what: 'created' },
  ]
  for (const { paymentId, amountPaise, reason, createdAt, refundedAt } of payments) {
    const [amount, what] = [formatRupees(amountPaise), reason ? 'payment_refused' : 'payment_accepted']
    entries.push({ at: createdAt, what, amount, ...(reason && { reason }), paymentId })
    if (refundedAt) entries.push({ at: refundedAt, what: 'refunded', amount, paymentId })
  }
  if (code.status === 'CANCELLED') {
    const usedUp = !code.multipleUse && code.acceptedCount > 0
    entries.push({ at: code.modifiedAt, what: usedUp ? 'used_up' : 'cancelled' })
  } else if (code.expiryAt && code.expiryAt <= now) entries.push({ at: code.expiryAt, what: 'expired' })
  return entries
    .map((entry, i) => ({ entry, i }))
    .sort((a, b) => a.entry.at.getTime() - b.entry.at.getTime() || a.i - b.i)
    .map(({ entry: { at, ...rest } }) => ({ at: rfc3339(at, timeZone), ...rest }))
}
