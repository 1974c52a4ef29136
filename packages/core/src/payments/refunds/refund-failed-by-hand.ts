import { required } from '@svc/kernel/invariant'
import { Type } from 'typebox'
import type { Posting } from '../../ledger/posting.ts'
import { orNull, StoredPaiseOrNone, storedArgs } from '../../ledger/stored-args.ts'
import { type FollowedNotice, StoredFollowed } from '../../rails/find-notice.ts'
import { statingFailed } from './outcome-notice.ts'
import type { RefundOutcome } from './refund-notice.ts'
import { type Changed, isNotified } from './refunded-after-failure.ts'

interface Failed {
  readonly changed: Changed | undefined
  readonly command: {
    readonly assigns?: FollowedNotice | undefined
    readonly file?: string | undefined
    readonly notice?: Buffer
    readonly outcome: RefundOutcome | undefined
  }
}

/** That a refund failed on the word of one person: its money is payable again. */
function failedByHand({ changed, command: { assigns, file, notice, outcome } }: Failed): Posting | undefined {
  if (!changed || changed.refund.status !== 'FAILED' || !isNotified(changed)) return undefined
  const { refund, journals } = changed
  if (notice || statingFailed(assigns, refund)) return undefined
  const { amountPaise, failureReason, refundId, sentAt, utr } = refund
  const followed = assigns && { noticeId: assigns.noticeId }
  return {
    kind: 'merchant_refund_failed',
    amountPaise,
    reference: refundId,
    facts: { refundId, ...(utr !== null && { utr }), ...followed, ...(file !== undefined && { file }) },
    reason: required(outcome?.failureReason ?? failureReason ?? undefined, 'a failure has a reason'),
    journalId: journals[0]!.journalId,
    // The bank may have made it: refunded again, the payer has it twice.
    isUndo: sentAt !== null && file === undefined,
  }
}

/** An operator says that a refund failed (decision R10). */
export const REFUND_FAILED_BY_HAND = {
  kinds: ['merchant_refund_failed'],
  args: storedArgs(
    Type.Object({
      read: Type.Object({
        outcome: Type.Object({
          refundId: Type.String(),
          utr: orNull(Type.String()),
          amountPaise: StoredPaiseOrNone,
          failureReason: orNull(Type.String()),
        }),
      }),
      assigns: Type.Optional(StoredFollowed),
      file: Type.Optional(Type.String()),
    }),
  ),
  moves: failedByHand,
  failures: ['refund_not_found', 'refund_closed', 'notice_not_in_quarantine'],
} as const
