import { fail } from '@svc/contract/errors'
import { command } from '@svc/platform/command'
import { type RailNotice, railNotices } from './rail-notice.ts'

interface ReopenNotice {
  /** Of the notice: the merchant or partner whom it names, or the platform. */
  readonly tenantId: string
  readonly noticeId: string
}

const LOCK = railNotices.lock('to_reopen')
const saveReopened = railNotices.updates(['status', 'assignedAt', 'assignedBy', 'dismissal'], 'reopen')

/**
 * Puts a notice that was dismissed by mistake back into quarantine, as it was before (decision Q11). Who dismissed it and
 * why stays in the audit. Fails with `notice_not_dismissed` in every other state.
 */
export const reopenNotice = command({
  name: 'reopenNotice',
  prepare: () => (args: ReopenNotice) => args,
  lock: (tx, commands) => railNotices.lockRows<RailNotice>(tx, LOCK, commands),

  decide(notices, { noticeId }): RailNotice {
    const notice = notices.get(noticeId) ?? fail('notice_not_found')
    if (notice.status !== 'DISMISSED') fail('notice_not_dismissed')
    return { ...notice, status: 'QUARANTINED', assignedAt: null, assignedBy: null, dismissal: null }
  },

  apply: (notices, notice) => void notices.set(notice.noticeId, notice),
  save: (tx, reopened) => saveReopened(tx, reopened),
})
