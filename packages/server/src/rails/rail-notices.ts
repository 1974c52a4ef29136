import {
  NOTICE_STATUSES,
  NoticeRecord,
  noticeToWire,
  type RailNotice,
  railNotices,
} from '@svc/core/rails/rail-notice'
import { choiceFilter, exactFilter, type Resource } from '../http/resource.ts'

/** Signed notices that are no payment by themselves; operators alone read them (decision Q11). */
export const railNotice = {
  titles: { operator: 'NoticeRecord' },
  record: { schema: NoticeRecord, toWire: noticeToWire },
  from: { columns: railNotices.columns, table: 'rail_notices n', alias: 'n' },
  tenant: 'n.tenant_id',
  keys: [
    { sql: 'n.received_at', type: 'timestamptz' },
    { sql: 'n.notice_id', type: 'text' },
  ],
  fields: {},
  filters: {
    q: {
      schema: exactFilter('Id of the notice, or the bank’s reference'),
      sql: (filters, q) => filters.add(q.startsWith('rnt_') ? 'n.notice_id = ?' : 'n.utr = ?', q),
    },
    status: { schema: choiceFilter(NOTICE_STATUSES), sql: 'n.status = ?' },
  },
} satisfies Resource<RailNotice>
