import { type ByTenant, byTenant } from '@svc/kernel/by-tenant'
import type { BatchTx } from '@svc/platform/db/batch'
import { columns, statement } from '@svc/platform/db/statement'
import { noticeIdsOf, type RailNotice } from './rail-notice.ts'
import type { NoticeKind } from './read-notice.ts'

type Kept = Pick<RailNotice, 'status' | 'reason' | 'field' | 'detail'>
type Stored = Kept & Pick<RailNotice, 'tenantId' | 'noticeId'>

/** Notices that were stored before, by id. */
export type StoredNotices = ReadonlyMap<string, Kept>

const STORED = statement<Stored>(
  'rail_notices_stored',
  `select tenant_id as "tenantId", notice_id as "noticeId", status, reason, field, detail from rail_notices
   where (tenant_id, notice_id) in (select * from unnest($1::text[], $2::text[]))`,
)

interface Repeatable {
  readonly tenantId: string
  /** Absent where an operator reports without a notice. */
  readonly notice?: Buffer | undefined
}

/** What was stored of these notices, which came over the route of one kind. */
export async function storedNotices(
  tx: BatchTx,
  notices: readonly Repeatable[],
  kind: NoticeKind,
): Promise<ByTenant<StoredNotices>> {
  const ids = notices.flatMap(({ tenantId, notice }) =>
    notice ? noticeIdsOf(notice, kind).map((noticeId) => ({ tenantId, noticeId })) : [],
  )
  const wanted = columns(
    ids,
    ({ tenantId }) => tenantId,
    ({ noticeId }) => noticeId,
  )
  return byTenant(
    ids.length === 0 ? [] : await tx.query(STORED, wanted),
    ({ tenantId }) => tenantId,
    ({ noticeId }) => noticeId,
    ({ status, reason, field, detail }) => ({ status, reason, field, detail }),
  )
}

/** A notice that was stored before is stored no second time: the response has its status, such as `DISMISSED`. */
export function asStored<D extends { readonly kept: RailNotice | undefined }>(
  stored: StoredNotices,
  decision: D,
): D {
  const { kept } = decision
  const before = kept && stored.get(kept.noticeId)
  return before ? { ...decision, kept: { ...kept, ...before } } : decision
}
