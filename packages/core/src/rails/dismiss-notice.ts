import { fail } from '@svc/contract/errors'
import { command } from '@svc/platform/command'
import { type RailNotice, railNotices } from './rail-notice.ts'

interface DismissNotice {
  /** Of the notice: the merchant or partner whom it names, or the platform. */
  readonly tenantId: string
  readonly noticeId: string
  readonly actor: string
  readonly reason: string
}

const LOCK = railNotices.lock('to_dismiss')
const saveDismissed = railNotices.updates(['status', 'assignedAt', 'assignedBy', 'dismissal'], 'dismiss')

/**
 * Ends a notice in quarantine without effect: it reports nothing that is to be recorded (decision Q11). It stays stored as
 * it was signed. Fails with `notice_not_in_quarantine` where it was assigned or dismissed before.
 */
export const dismissNotice = command({
  name: 'dismissNotice',
  prepare: () => (args: DismissNotice) => args,
  lock: (tx, commands) => railNotices.lockRows<RailNotice>(tx, LOCK, commands),

  decide(notices, { noticeId, actor, reason }, now): RailNotice {
    const notice = notices.get(noticeId) ?? fail('notice_not_found')
    if (notice.status !== 'QUARANTINED') fail('notice_not_in_quarantine')
    return { ...notice, status: 'DISMISSED', assignedAt: now, assignedBy: actor, dismissal: reason }
  },

  apply: (notices, notice) => void notices.set(notice.noticeId, notice),
  save: (tx, dismissed) => saveDismissed(tx, dismissed),
})
