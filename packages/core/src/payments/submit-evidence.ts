import { fail } from '@svc/contract/errors'
import { command } from '@svc/platform/command'
import { type Dispute, disputes } from './dispute.ts'

export interface SubmitEvidence {
  readonly merchantId: string
  readonly disputeId: string
  readonly evidence: string
}

const LOCK = disputes.lock('to_contest')
const saveEvidence = disputes.updates(['status', 'evidence', 'evidenceAt'], 'evidence')

/** Contests a dispute before its deadline, once (decision Q17). A repeat of the same text changes nothing. */
export const submitEvidence = command({
  name: 'submitEvidence',
  prepare: () => (args: SubmitEvidence) => ({ ...args, tenantId: args.merchantId }),
  lock: (tx, commands) => disputes.lockRows<Dispute>(tx, LOCK, commands),

  decide(known, { disputeId, evidence }, now) {
    const dispute = known.get(disputeId) ?? fail('dispute_not_found')
    if (dispute.evidence === evidence) return { dispute, isNew: false }
    if (dispute.status !== 'OPEN' || dispute.evidenceDueAt <= now) fail('dispute_closed')
    return {
      dispute: { ...dispute, status: 'EVIDENCE_SUBMITTED' as const, evidence, evidenceAt: now },
      isNew: true,
    }
  },

  apply: (known, { dispute }) => void known.set(dispute.disputeId, dispute),

  save: (tx, decisions) =>
    saveEvidence(
      tx,
      decisions.flatMap(({ dispute, isNew }) => (isNew ? [dispute] : [])),
    ),
})
