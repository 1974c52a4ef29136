import { fail } from '@svc/contract/errors'
import type { Tx } from '@svc/platform/db/database'
import { columns, statement } from '@svc/platform/db/statement'
import type { Assignment } from './rail-notice.ts'

type Followed = Pick<Assignment, 'noticeTenantId' | 'noticeId'> | undefined

/** Ids of the notices that operators follow and that are still in quarantine. */
export type WaitingNotices = Set<string>

const LOCK = statement<{ noticeId: string }>(
  'rail_notices_to_assign',
  `select n.notice_id as "noticeId" from rail_notices n
   where (n.tenant_id, n.notice_id) in (select * from unnest($1::text[], $2::text[])) and n.status = 'QUARANTINED'
   order by n.tenant_id, n.notice_id for no key update`,
)

/**
 * Locks the notices that these commands follow, behind all other locks: of two operators, whatever they make of a notice and
 * for whichever tenant, the second one sees what the first one did.
 */
export async function lockWaiting(
  tx: Pick<Tx, 'query'>,
  followed: readonly Followed[],
): Promise<WaitingNotices> {
  const notices = followed.flatMap((assigns) => assigns ?? [])
  if (notices.length === 0) return new Set()
  const found = await tx.query(
    LOCK,
    columns(
      notices,
      ({ noticeTenantId }) => noticeTenantId,
      ({ noticeId }) => noticeId,
    ),
  )
  return new Set(found.map(({ noticeId }) => noticeId))
}

/** The command of the same batch before it may have taken the notice: `apply` deletes it. */
export function requireWaiting(waiting: WaitingNotices, assigns: Followed): void {
  if (assigns && !waiting.has(assigns.noticeId)) fail('notice_not_in_quarantine')
}
