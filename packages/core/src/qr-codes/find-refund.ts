import { fail } from '@svc/contract/errors'
import type { Tx } from '@svc/platform/db/database'
import { statement } from '@svc/platform/db/statement'
import { findNotice } from './find-notice.ts'
import { type MerchantRefund, merchantRefunds } from './merchant-refund.ts'
import type { Assignment } from './rail-notice.ts'

const FIND = statement<MerchantRefund>(
  'merchant_refunds_by_id',
  `select ${merchantRefunds.columns} from merchant_refunds r where r.refund_id = $1`,
)

/** For operators: a refund of any merchant. */
export const findRefund = async (tx: Tx, refundId: string): Promise<MerchantRefund | undefined> =>
  (await tx.query(FIND, [refundId]))[0]

/** The notice in quarantine that an operator follows when completing a refund, or closing a dispute. */
export async function followedNotice(
  tx: Tx,
  noticeId: string,
  actor: string,
  about: 'refund_notice' | 'dispute_notice' = 'refund_notice',
): Promise<Omit<Assignment, 'paymentId'>> {
  const {
    tenantId: noticeTenantId,
    status,
    flags,
  } = (await findNotice(tx, noticeId)) ?? fail('notice_not_found')
  if (status !== 'QUARANTINED' || !flags.includes(about))
    fail('notice_not_in_quarantine', {
      description: 'The notice is not in quarantine, or is of something else',
    })
  return { noticeTenantId, noticeId, actor }
}
