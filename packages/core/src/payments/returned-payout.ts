import { fail } from '@svc/contract/errors'
import type { BankEntries } from '../ledger/bank-entries.ts'
import type { Payout } from './payout.ts'

/** What the bank says of a payout that it could not make, or whose money came back. */
export interface FailedStep {
  readonly to: 'FAILED'
  readonly reason: string
  /** The bank’s reference of the return, where it had paid. */
  readonly returnUtr?: string | undefined
}

export const failTaken = (utr: string): never =>
  fail('utr_conflict', { description: `The bank’s reference ${utr} is that of another payout or its return` })

interface Returned {
  readonly step: FailedStep
  /** By the bank's reference, the payout that has it. */
  readonly taken: ReadonlyMap<string, string>
  /** Other money that came in under the reference (decision R15). */
  readonly incoming: BankEntries
  readonly now: Date
}

/** A payout whose money came back after the bank had paid it (decision Q15). */
export function returnedPayout(
  payout: Payout,
  { step: { reason, returnUtr }, taken, incoming, now }: Returned,
): Payout {
  const { merchantId, paidLateAt, payoutId } = payout
  if (paidLateAt !== null)
    fail('payout_state', {
      description: `What the bank paid of this payout after it had failed is on payout_exceptions:${merchantId}: if that came back, settle it there`,
    })
  if (returnUtr === undefined)
    fail('payout_state', {
      description:
        'The payout is PAID: if its money came back, record the bank’s reference of the return too',
    })
  if ((taken.get(returnUtr) ?? payoutId) !== payoutId) failTaken(returnUtr)
  if (incoming.everywhere(returnUtr).length > 0)
    fail('utr_conflict', {
      description: `The bank’s reference ${returnUtr} was entered as other money that came in`,
    })
  return { ...payout, status: 'FAILED', failureReason: reason, returnUtr, returnedAt: now }
}
