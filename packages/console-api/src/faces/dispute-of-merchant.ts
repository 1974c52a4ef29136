import { carriedOut } from '@svc/core/ledger/money-command'
import { ApprovalRecord, replyOrWait } from '@svc/server/approvals/approval-record'
import { uploadAttachmentContract } from '@svc/server/payments/dispute-evidence'
import { acceptDisputeContract, submitEvidenceContract } from '@svc/server/payments/disputes'
import { onBehalf } from '../on-behalf.ts'
import { merchantOf, ONE, WAITS } from './dispute-operations.ts'

export const uploadAttachmentInConsole = onBehalf(uploadAttachmentContract, {
  id: 'console.uploadAttachment',
  path: `${ONE}/attachments`,
  permission: 'contest',
  action: 'dispute.attachment_uploaded',
  tenantOf: merchantOf,
  target: ({ attachment }) => attachment.disputeId,
})

export const submitEvidenceInConsole = onBehalf(submitEvidenceContract, {
  id: 'console.submitEvidence',
  path: `${ONE}/evidence`,
  permission: 'contest',
  action: 'dispute.evidence_submitted',
  tenantOf: merchantOf,
  target: ({ dispute: { disputeId } }) => disputeId,
})

export const acceptDisputeInConsole = onBehalf(
  {
    ...acceptDisputeContract,
    description: `${acceptDisputeContract.description} ${WAITS} The merchant itself accepts any amount.`,
    accepted: ApprovalRecord,
    reply: (outcome, context) =>
      replyOrWait(outcome, context.timeZone, (done) => acceptDisputeContract.reply(done, context)),
  },
  {
    id: 'console.acceptDispute',
    path: `${ONE}/accept`,
    permission: 'finance',
    stepUp: true,
    action: 'dispute.accepted',
    errors: ['approval_open'],
    tenantOf: merchantOf,
    target: (done) => carriedOut(done).dispute.disputeId,
  },
)
