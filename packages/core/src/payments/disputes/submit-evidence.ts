import { fail } from '@svc/contract/errors'
import { ByTenant } from '@svc/kernel/by-tenant'
import { groupBy } from '@svc/kernel/group-by'
import { command } from '@svc/platform/command'
import type { BatchTx } from '@svc/platform/db/batch'
import { columns } from '@svc/platform/db/statement'
import { type Dispute, disputes } from './dispute.ts'
import {
  ATTACHMENTS_OF,
  type Attachment,
  disputeAttachments,
  disputeEvidence,
  EVIDENCE_OF,
  type Evidence,
  SUBMISSIONS_MAX,
} from './evidence.ts'

export interface SubmitEvidence {
  readonly merchantId: string
  readonly disputeId: string
  readonly evidence: string
  /** Uploaded before, for this dispute. */
  readonly attachmentIds: readonly string[]
}

/** Disputes with their evidence and its attachments, oldest first. */
export interface Contested {
  readonly disputes: Map<string, Dispute>
  readonly evidence: Map<string, readonly Evidence[]>
  readonly attachments: Map<string, readonly Attachment[]>
}

/** Locks disputes and reads, behind the lock, what belongs to them. */
export async function lockContested(
  tx: BatchTx,
  wanted: readonly { readonly merchantId: string; readonly disputeId: string }[],
): Promise<ByTenant<Contested>> {
  const keys = columns(
    wanted,
    ({ merchantId }) => merchantId,
    ({ disputeId }) => disputeId,
  )
  const [locked, evidence, attachments] = await Promise.all([
    disputes.lockRows<Dispute>(tx, LOCK, wanted),
    tx.query(EVIDENCE_OF, keys),
    tx.query(ATTACHMENTS_OF, keys),
  ])
  return new ByTenant((tenantId) => ({
    disputes: locked.of(tenantId),
    evidence: ofTenant(evidence, tenantId),
    attachments: ofTenant(attachments, tenantId),
  }))
}

const ofTenant = <Row extends { readonly merchantId: string; readonly disputeId: string }>(
  rows: readonly Row[],
  tenantId: string,
): Map<string, readonly Row[]> =>
  new Map(
    groupBy(
      rows.filter(({ merchantId }) => merchantId === tenantId),
      ({ disputeId }) => disputeId,
    ),
  )

const LOCK = disputes.lock('to_contest')
const saveEvidence = disputes.updates(
  ['status', 'evidence', 'evidenceAt', 'evidenceSentAt', 'evidenceReceipt'],
  'evidence',
)
const saveSubmitted = disputeAttachments.updates(['evidenceId'], 'submit')

/** Whether evidence can still be given: undecided and before its deadline. */
export const requireContestable = ({ status, evidenceDueAt }: Dispute, now: Date): void => {
  if ((status !== 'OPEN' && status !== 'EVIDENCE_SUBMITTED') || evidenceDueAt <= now) fail('dispute_closed')
}

const sameFiles = (some: readonly string[], others: readonly string[]): boolean =>
  some.length === others.length && some.every((id) => others.includes(id))

/** Contests a dispute before its deadline, or adds to what was submitted (decision Q17). A repeat changes nothing. */
export const submitEvidence = command({
  name: 'submitEvidence',

  prepare:
    ({ newId }) =>
    (args: SubmitEvidence) => ({
      ...args,
      attachmentIds: [...new Set(args.attachmentIds)],
      tenantId: args.merchantId,
      evidenceId: newId('evd'),
    }),

  lock: (tx, commands) => lockContested(tx, commands),

  decide(state, { merchantId, disputeId, evidence, evidenceId, attachmentIds }, now) {
    const dispute = state.disputes.get(disputeId) ?? fail('dispute_not_found')
    const uploaded = state.attachments.get(disputeId) ?? []
    const earlier = state.evidence.get(disputeId) ?? []
    const isRepeat = ({ evidenceId: id, evidence: text }: Evidence): boolean => {
      const files = uploaded.filter((each) => each.evidenceId === id)
      return (
        text === evidence &&
        sameFiles(
          files.map(({ attachmentId }) => attachmentId),
          attachmentIds,
        )
      )
    }
    if (earlier.some(isRepeat)) return { dispute, submitted: undefined, attached: [] }
    requireContestable(dispute, now)
    if (earlier.length >= SUBMISSIONS_MAX) fail('evidence_limit_reached')
    const attached = attachmentIds.map((id) => {
      const found = uploaded.find((each) => each.attachmentId === id) ?? fail('attachment_not_found')
      return found.evidenceId === null ? { ...found, evidenceId } : fail('attachment_in_use')
    })
    const submitted: Evidence = {
      merchantId,
      evidenceId,
      disputeId,
      evidence,
      createdAt: now,
      sentAt: null,
      runId: null,
      receipt: null,
      attempts: 0,
      nextAttemptAt: now,
      failure: null,
    }
    const contested = {
      ...dispute,
      status: 'EVIDENCE_SUBMITTED' as const,
      evidence,
      evidenceAt: now,
      evidenceSentAt: null,
      evidenceReceipt: null,
    }
    return { dispute: contested, submitted, attached }
  },

  apply(state, { dispute, submitted, attached }) {
    if (!submitted) return
    const { disputeId } = dispute
    state.disputes.set(disputeId, dispute)
    state.evidence.set(disputeId, [...(state.evidence.get(disputeId) ?? []), submitted])
    const now = new Map(attached.map((each) => [each.attachmentId, each]))
    const before = state.attachments.get(disputeId) ?? []
    state.attachments.set(
      disputeId,
      before.map((each) => now.get(each.attachmentId) ?? each),
    )
  },

  save(tx, decisions) {
    const made = decisions.filter(({ submitted }) => submitted !== undefined)
    saveEvidence(
      tx,
      made.map(({ dispute }) => dispute),
    )
    disputeEvidence.insert(
      tx,
      made.flatMap(({ submitted }) => submitted ?? []),
    )
    saveSubmitted(
      tx,
      made.flatMap(({ attached }) => attached),
    )
  },
})
