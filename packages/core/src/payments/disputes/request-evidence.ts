import { fail } from '@svc/contract/errors'
import { command } from '@svc/platform/command'
import { saveEvents } from '@svc/platform/outbox'
import { type Dispute, disputeChangedEvent, disputes } from './dispute.ts'
import { requireContestable } from './submit-evidence.ts'

export const EVIDENCE_REQUEST_MAX = 1000

interface RequestEvidence {
  readonly merchantId: string
  readonly disputeId: string
  /** What is missing, for the merchant to read. */
  readonly request: string
}

const LOCK = disputes.lock('to_request_evidence')
const saveRequested = disputes.updates(['evidenceRequest', 'evidenceRequestedAt'], 'request_evidence')

/** Whether the merchant has submitted nothing since it was asked. */
const isUnmet = ({ evidenceAt, evidenceRequestedAt }: Dispute): boolean =>
  evidenceRequestedAt !== null && (evidenceAt === null || evidenceAt < evidenceRequestedAt)

/** Asks a merchant for more evidence. The same again, before the merchant has submitted any, changes nothing (decision Q17). */
export const requestEvidence = command({
  name: 'requestEvidence',

  prepare:
    ({ config, newId }) =>
    (args: RequestEvidence) => ({
      ...args,
      tenantId: args.merchantId,
      eventId: newId('evt'),
      timeZone: config.BUSINESS_TIME_ZONE,
    }),

  lock: (tx, commands) => disputes.lockRows<Dispute>(tx, LOCK, commands),

  decide(state, { disputeId, request, eventId, timeZone }, now) {
    const dispute = state.get(disputeId) ?? fail('dispute_not_found')
    if (dispute.evidenceRequest === request && isUnmet(dispute))
      return { dispute, isNew: false, eventId, timeZone }
    requireContestable(dispute, now)
    const asked = { ...dispute, evidenceRequest: request, evidenceRequestedAt: now }
    return { dispute: asked, isNew: true, eventId, timeZone }
  },

  apply(state, { dispute }) {
    state.set(dispute.disputeId, dispute)
  },

  save(tx, decisions) {
    const made = decisions.filter(({ isNew }) => isNew)
    saveRequested(
      tx,
      made.map(({ dispute }) => dispute),
    )
    saveEvents(
      tx,
      made.flatMap(({ dispute, eventId, timeZone }) =>
        dispute.evidenceRequestedAt
          ? disputeChangedEvent('dispute.evidence_requested', dispute, {
              eventId,
              timeZone,
              at: dispute.evidenceRequestedAt,
            })
          : [],
      ),
    )
  },
})
