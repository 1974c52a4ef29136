import { fail } from '@svc/contract/errors'
import { command } from '@svc/platform/command'
import { saveEvents } from '@svc/platform/outbox'
import { disputeChangedEvent, disputes } from './dispute.ts'
import { disputeEvidence, type Evidence } from './evidence.ts'
import { lockContested } from './submit-evidence.ts'

/** How evidence left: in a file, by a call that the bank acknowledged; or a receipt that came later. */
export type Sending =
  | { readonly runId: string }
  | { readonly evidenceId: string; readonly receipt: string }
  | { readonly receipt: string; readonly evidenceId?: undefined }

/** 1 to 100 characters of ASCII, no space around them. */
export const RECEIPT = '^[\\x21-\\x7e](?:[\\x20-\\x7e]{0,98}[\\x21-\\x7e])?$'
const IS_RECEIPT = new RegExp(RECEIPT)
export const isReceipt = (text: string): boolean => IS_RECEIPT.test(text)

export interface SendEvidence {
  readonly merchantId: string
  readonly disputeId: string
  readonly sending: Sending
}

const saveSent = disputeEvidence.updates(['sentAt', 'runId', 'receipt'], 'send')
const saveNewest = disputes.updates(['evidenceSentAt', 'evidenceReceipt'], 'send')

/** A submission after a sending; the same where that says nothing of it. */
function sent(each: Evidence, sending: Sending, now: Date): Evidence {
  if ('runId' in sending) return each.sentAt ? each : { ...each, sentAt: now, runId: sending.runId }
  const { evidenceId, receipt } = sending
  if (evidenceId === undefined) return each.sentAt && each.receipt === null ? { ...each, receipt } : each
  if (evidenceId !== each.evidenceId) return each
  return { ...each, sentAt: each.sentAt ?? now, receipt: each.receipt ?? receipt }
}

/** Records that evidence was sent to the bank, once, and by which receipt the bank names it (decision Q17). */
export const sendEvidence = command({
  name: 'sendEvidence',

  prepare:
    ({ config, newId }) =>
    (args: SendEvidence) => ({
      ...args,
      tenantId: args.merchantId,
      eventId: newId('evt'),
      timeZone: config.BUSINESS_TIME_ZONE,
    }),

  lock: (tx, commands) => lockContested(tx, commands),

  decide(state, { disputeId, sending, eventId, timeZone }, now) {
    const dispute = state.disputes.get(disputeId) ?? fail('dispute_not_found')
    const before = state.evidence.get(disputeId) ?? []
    if (!('runId' in sending) && sending.evidenceId === undefined && !before.some(({ sentAt }) => sentAt))
      fail('evidence_not_sent')
    // What a decided dispute has is not sent any more; what the bank has taken is on record all the same.
    const isOver = 'runId' in sending && dispute.status !== 'EVIDENCE_SUBMITTED'
    const after = isOver ? before : before.map((each) => sent(each, sending, now))
    const newest = after.at(-1)
    return {
      dispute: {
        ...dispute,
        evidenceSentAt: newest?.sentAt ?? null,
        evidenceReceipt: newest?.receipt ?? null,
      },
      evidence: after,
      changed: after.filter((each, place) => each !== before[place]),
      isNotified: dispute.evidenceSentAt === null && !!newest?.sentAt,
      eventId,
      timeZone,
    }
  },

  apply(state, { dispute, evidence }) {
    state.disputes.set(dispute.disputeId, dispute)
    state.evidence.set(dispute.disputeId, evidence)
  },

  save(tx, decisions) {
    const made = decisions.filter(({ changed }) => changed.length > 0)
    saveSent(
      tx,
      made.flatMap(({ changed }) => changed),
    )
    saveNewest(
      tx,
      made.map(({ dispute }) => dispute),
    )
    saveEvents(
      tx,
      made.flatMap(({ dispute, eventId, isNotified, timeZone }) => {
        const { evidenceSentAt } = dispute
        return isNotified && evidenceSentAt
          ? disputeChangedEvent('dispute.evidence_sent', dispute, { eventId, timeZone, at: evidenceSentAt })
          : []
      }),
    )
  },
})
