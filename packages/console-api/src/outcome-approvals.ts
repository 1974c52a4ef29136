import type { Approval } from '@svc/core/ledger/approvals'
import type { Dispute } from '@svc/core/payments/dispute'
import type { MerchantRefund } from '@svc/core/payments/merchant-refund'
import { canBeWon, statingFailed, statingWon } from '@svc/core/payments/outcome-notice'
import type { FollowedNotice } from '@svc/core/rails/find-notice'
import {
  disputeWonPosting,
  type PostingActor,
  type PostingTools,
  refundFailedPosting,
  requestApprovalIfNeeded,
} from './postings.ts'

interface Following {
  readonly noticeId?: string | undefined
  readonly assigns?: FollowedNotice | undefined
}

/**
 * The request for a second person where an operator says that a refund above the limit failed; `undefined` where one person
 * may record it, the notice states it, or the refund is completed: the command then changes nothing, or refuses.
 */
export async function requestFailedRefundApproval(
  tools: PostingTools,
  refund: MerchantRefund,
  outcome: Following & { readonly failureReason: string | null; readonly utr: string | null },
  by: PostingActor,
): Promise<Approval | undefined> {
  const { assigns, failureReason, noticeId, utr } = outcome
  if (failureReason === null || refund.completedAt !== null || statingFailed(assigns, refund))
    return undefined
  return requestApprovalIfNeeded(
    tools,
    refundFailedPosting(refund, { noticeId, reason: failureReason, utr }),
    by,
  )
}

/** The same of a dispute that was won. */
export async function requestWonDisputeApproval(
  tools: PostingTools,
  dispute: Dispute,
  { assigns, noticeId }: Following,
  by: PostingActor,
): Promise<Approval | undefined> {
  if (statingWon(assigns, dispute)) return undefined
  if (!(await tools.database.operate((tx) => canBeWon(tx, dispute)))) return undefined
  return requestApprovalIfNeeded(tools, disputeWonPosting(dispute, noticeId), by)
}
