import { fail } from '@svc/contract/errors'
import { Type } from 'typebox'
import type { BankEntries } from '../../ledger/bank-entries.ts'
import type { Journal } from '../../ledger/journals.ts'
import type { Posting } from '../../ledger/posting.ts'
import { StoredTextOrNone, storedArgs } from '../../ledger/stored-args.ts'
import type { Payout } from './payout.ts'

/** What the bank says of a payout that it could not make, or whose money came back. */
export interface FailedStep {
  readonly to: 'FAILED'
  readonly reason: string
  /** The bank’s reference of the return, where it had paid. */
  readonly returnUtr?: string | undefined
  /** SHA-256 of the file of the bank that says so, in hexadecimal. */
  readonly file?: string | undefined
}

/** Of an operator who says so, or imports a file that does. */
const STORED = storedArgs(
  Type.Object({
    merchantId: Type.String(),
    payoutId: Type.String(),
    step: Type.Object({
      to: Type.Enum(['FAILED']),
      reason: Type.String(),
      returnUtr: StoredTextOrNone,
      file: StoredTextOrNone,
    }),
  }),
)

/** An operator says that a payout failed (decision R10). */
export const PAYOUT_FAILED_BY_HAND = {
  kinds: ['payout_failed'],
  args: STORED,
  failures: ['payout_not_found', 'payout_state', 'utr_conflict'],
} as const

/**
 * That a payout failed on the word of one person. The bank may have made it: what it was made of is due again, and is
 * paid out a second time. A file of the bank is one person's word as well, which counts up to the limit.
 */
export function failedByHand(
  { isRepeat, payout, command: { step } }: ChangedByStep,
  [journal]: readonly Journal[],
): Posting | undefined {
  if (isRepeat || step.to !== 'FAILED' || !journal) return undefined
  const { file } = step
  const { amountPaise, payoutId, returnUtr } = payout
  return {
    kind: 'payout_failed',
    amountPaise,
    reference: payoutId,
    facts: { payoutId, ...(returnUtr !== null && { returnUtr }), ...(file !== undefined && { file }) },
    reason: step.reason,
    journalId: journal.journalId,
    isUndo: file === undefined,
  }
}

interface ChangedByStep {
  readonly isRepeat: boolean
  readonly payout: Payout
  readonly command: {
    readonly step: FailedStep | { readonly to: 'APPROVED' | 'SENT' | 'PAID' | 'CANCELLED' }
  }
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
