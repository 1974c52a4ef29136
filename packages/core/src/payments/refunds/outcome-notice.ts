import type { Writes } from '@svc/platform/db/database'
import { columns, type Statement, statement } from '@svc/platform/db/statement'
import type { FollowedNotice } from '../../rails/find-notice.ts'
import type { Dispute } from '../disputes/dispute.ts'
import { readDisputeNotice } from '../disputes/dispute-notice.ts'
import type { MerchantRefund } from './merchant-refund.ts'
import { readRefundNotice } from './refund-notice.ts'

type Followed = Pick<FollowedNotice, 'body'> | undefined

/** The notice that an operator follows, where it states by itself that this refund of this amount failed. */
export function statingFailed(
  followed: Followed,
  { amountPaise, refundId }: Pick<MerchantRefund, 'amountPaise' | 'refundId'>,
): Buffer | undefined {
  const read = followed && readRefundNotice(followed.body)
  if (!read || !('outcome' in read)) return undefined
  const { outcome } = read
  const isStated =
    outcome.refundId === refundId && outcome.failureReason !== null && outcome.amountPaise === amountPaise
  return isStated ? followed.body : undefined
}

/** The same of a dispute of this case and amount that was won. */
export function statingWon(
  followed: Followed,
  { amountPaise, caseReference }: Pick<Dispute, 'amountPaise' | 'caseReference'>,
): Buffer | undefined {
  const read = followed && readDisputeNotice(followed.body)
  if (!read || !('report' in read)) return undefined
  const { report } = read
  const isStated =
    report.caseReference === caseReference && report.outcome === 'WON' && report.amountPaise === amountPaise
  return isStated ? followed.body : undefined
}

interface Outcome {
  readonly merchantId: string
  readonly id: string
  /** As the bank signed it; absent where an operator says so. */
  readonly notice: Buffer | undefined
}

const store =
  (update: Statement) =>
  (tx: Writes, outcomes: readonly Outcome[]): void => {
    const signed = outcomes.filter(({ notice }) => notice !== undefined)
    if (signed.length === 0) return
    tx.write(
      update,
      columns(
        signed,
        ({ merchantId }) => merchantId,
        ({ id }) => id,
        ({ notice }) => notice,
      ),
    )
  }

/** Stores by which signed notices refunds failed, before their journals: the database requires it above the limit (R10). */
export const storeFailedNotices = store(
  statement(
    'merchant_refunds_outcome_notice',
    `update merchant_refunds r set outcome_notice = n.notice
     from unnest($1::text[], $2::text[], $3::bytea[]) as n (merchant_id, refund_id, notice)
     where r.merchant_id = n.merchant_id and r.refund_id = n.refund_id`,
  ),
)

/** The same of disputes that were won. */
export const storeWonNotices = store(
  statement(
    'disputes_outcome_notice',
    `update disputes d set outcome_notice = n.notice
     from unnest($1::text[], $2::text[], $3::bytea[]) as n (merchant_id, dispute_id, notice)
     where d.merchant_id = n.merchant_id and d.dispute_id = n.dispute_id`,
  ),
)
