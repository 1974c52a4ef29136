import { fail } from '@svc/contract/errors'
import { formatRupees, type Paise, paise } from '@svc/kernel/money'
import { correctedPaise, type Payment } from '../payment.ts'
import type { SettlementLine } from '../settlements/settlement-line.ts'

const refuse = (description: string): never => fail('adjustment_refused', { description })

/** By how much a payment changes that is to have this amount. Throws where it must not (decision Q18). */
export function adjustmentChange(
  payment: Payment,
  line: Pick<SettlementLine, 'status' | 'amountPaise'> | undefined,
  amountPaise: Paise,
): Paise {
  if (payment.status !== 'ACCEPTED') fail('payment_not_accepted')
  if (payment.assignedFrom !== null)
    refuse('The payment was assigned out of the platform’s suspense, whose account has the bank’s money')
  if (line?.status === 'MATCHED')
    refuse(`The bank has paid ${formatRupees(line.amountPaise)} for it, as its settlement file says`)
  const change = paise(amountPaise - correctedPaise(payment))
  if (change === 0n) refuse(`The payment amounts to ${formatRupees(amountPaise)} already`)
  const given = payment.refundPaise + payment.disputePaise
  if (amountPaise < given)
    refuse(`${formatRupees(given)} of the payment are refunded or disputed: that is more than the new amount`)
  return change
}
