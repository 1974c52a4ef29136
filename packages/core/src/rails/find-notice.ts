import { fail } from '@svc/contract/errors'
import type { Tx } from '@svc/platform/db/database'
import { statement } from '@svc/platform/db/statement'
import { Type } from 'typebox'
import { StoredBytes } from '../ledger/stored-args.ts'
import { type Assignment, type RailNotice, railNotices, StoredAssignment } from './rail-notice.ts'
import type { NoticeFlag } from './read-notice.ts'

const FIND = statement<RailNotice>(
  'rail_notices_by_id',
  `select ${railNotices.columns} from rail_notices n where n.notice_id = $1
   order by n.status <> 'QUARANTINED', n.status = 'DUPLICATE' limit 1`,
)

/** Notices of disputes of these payments that were carried out; parameters: their tenants and the payments. */
export const APPLIED_DISPUTE_NOTICES = statement<{ body: Buffer }>(
  'rail_notices_of_disputed',
  `select n.body from rail_notices n
   where (n.tenant_id, n.payment_id) in (select * from unnest($1::text[], $2::text[]))
     and n.status in ('DUPLICATE', 'ASSIGNED') and 'dispute_notice' = any (n.flags)`,
)

/** For operators: a notice of any tenant. The same bytes may be kept of two tenants; the one that waits comes first. */
export const findNotice = async (tx: Tx, noticeId: string): Promise<RailNotice | undefined> =>
  (await tx.query(FIND, [noticeId]))[0]

/** A notice in quarantine that an operator follows, as the bank signed it. */
export interface FollowedNotice extends Omit<Assignment, 'paymentId' | 'cardAccountId'> {
  readonly body: Buffer
}

/** The same of a command that waits for a second person. */
export const StoredFollowed = Type.Object({ ...StoredAssignment.properties, body: StoredBytes })

/** The notice in quarantine that an operator follows: what it is about says its flag. */
export async function followedNotice(
  tx: Tx,
  noticeId: string,
  actor: string,
  about: Extract<NoticeFlag, `${string}_notice`>,
): Promise<FollowedNotice> {
  const {
    tenantId: noticeTenantId,
    body,
    status,
    flags,
  } = (await findNotice(tx, noticeId)) ?? fail('notice_not_found')
  if (status !== 'QUARANTINED' || !flags.includes(about))
    fail('notice_not_in_quarantine', {
      description: 'The notice is not in quarantine, or is of something else',
    })
  return { noticeTenantId, noticeId, actor, body }
}
