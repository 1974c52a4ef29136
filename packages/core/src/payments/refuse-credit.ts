import type { Paise } from '@svc/kernel/money'
import type { QrCode } from '../qr-codes/qr-code.ts'
import type { Credit } from './credit-notice.ts'
import type { RefusalReason } from './payment.ts'

/** A code with what the decision needs of its merchant. */
export interface Payable extends QrCode {
  readonly mcc: string
  readonly disabledAt: Date | null
}

interface Rules {
  readonly capPaiseOf: (mcc: string) => Paise
  readonly graceMs: number
}

/** Why this code cannot accept this credit, `undefined` when it can (decisions Q3 to Q6, Q10, Q11). */
export function refusalOf(
  code: Payable,
  credit: Credit,
  { capPaiseOf, graceMs }: Rules,
  now: Date,
): RefusalReason | undefined {
  const { amountPaise, transactionAt } = credit
  if (!code.multipleUse && code.acceptedCount > 0) return 'qr_code_used'
  // Cancelling is decided by the serial order alone (spec section 3.1); the reason says which came first at the bank.
  if (code.status === 'CANCELLED')
    return transactionAt && code.closedAt && transactionAt < code.closedAt
      ? 'paid_before_cancel'
      : 'qr_code_cancelled'
  if (isTooLate(code, transactionAt, graceMs, now)) return 'qr_code_expired'
  if (code.disabledAt !== null) return 'merchant_disabled'
  if (code.fixedAmount && amountPaise !== code.amountPaise) return 'amount_mismatch'
  if (code.minimumPaise !== null && amountPaise < code.minimumPaise) return 'amount_mismatch'
  if (amountPaise > capPaiseOf(code.mcc)) return 'amount_over_limit'
  return undefined
}

/** Expiry is decided by the bank's time within the rail's grace, unless a newer code has taken the reference (Q9). */
function isTooLate(
  { closeReason, expiryAt, holdsReference, referenceNumber }: QrCode,
  transactionAt: Date | null,
  graceMs: number,
  now: Date,
): boolean {
  if (closeReason === 'expired') return true
  if (expiryAt === null || now < expiryAt) return false
  const isReplaced = referenceNumber !== null && !holdsReference
  const isInTime = transactionAt !== null && transactionAt < expiryAt
  return isReplaced || !isInTime || now.getTime() > expiryAt.getTime() + graceMs
}
