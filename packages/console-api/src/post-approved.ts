import { fail } from '@svc/contract/errors'
import { fundAccount } from '@svc/core/cards/fund-account'
import { reverseJournal } from '@svc/core/cards/reverse-posting'
import { withdrawFunds } from '@svc/core/cards/withdraw-funds'
import { type Approval, decideApproval, findApproval, type ManualPosting } from '@svc/core/ledger/approvals'
import { enterOpeningBalance } from '@svc/core/ledger/enter-opening-balance'
import { OPENED_WITH, type OpenedKind } from '@svc/core/ledger/opening-balance'
import { settleBalance } from '@svc/core/ledger/settle-balance'
import type { SettledKind, SettlementOutcome, Side } from '@svc/core/ledger/settlement'
import { adjustPayment } from '@svc/core/payments/adjust-payment'
import { closeDispute } from '@svc/core/payments/close-dispute'
import { completeRefund } from '@svc/core/payments/complete-refund'
import { resolveSuspense } from '@svc/core/payments/resolve-suspense'
import { findNotice } from '@svc/core/rails/find-notice'
import { required } from '@svc/kernel/invariant'
import { formatRupees, paise, readAmount } from '@svc/kernel/money'
import { valueIn } from '@svc/kernel/reading'
import type { CommandAudit } from '@svc/platform/audit'
import type { Tx } from '@svc/platform/db/database'
import { postAssignment } from './assignment-posting.ts'
import type { PostingActor, PostingTools } from './postings.ts'

type Carry = (tools: PostingTools, approval: Approval, audit: CommandAudit<unknown>) => Promise<unknown>

const named = ({ request }: Approval, name: string): string =>
  required(request[name] ?? undefined, 'an approval names what it is of')

/** What moves to or from a card account. */
const movementOf = (approval: Approval) => ({
  partnerId: approval.tenantId,
  cardAccountId: named(approval, 'cardAccountId'),
  amountPaise: paise(approval.amountPaise),
  reference: approval.reference,
  reason: approval.reason,
  approvalId: approval.approvalId,
})

const settle: Carry = ({ commands }, approval, audit) => {
  const { amountPaise, approvalId, reason, reference, tenantId } = approval
  const [kind] = named(approval, 'ledgerAccountId').split(':')
  const settlement = {
    tenantId,
    kind: kind as SettledKind,
    outcome: named(approval, 'outcome') as SettlementOutcome,
    side: named(approval, 'side') as Side,
  }
  const args = { ...settlement, amountPaise: paise(amountPaise), reference, reason, approvalId }
  return commands.open(settleBalance).run(args, audit)
}

/** How each kind of posting is carried out once it is approved. */
const CARRY: Readonly<Record<ManualPosting, Carry>> = {
  card_funding: async ({ commands, database }, approval, audit) =>
    commands.open(fundAccount).run(
      {
        ...movementOf(approval),
        assigns: await database.operate((tx) => noticeOf(tx, approval)),
      },
      audit,
    ),
  card_withdrawal: ({ commands }, approval, audit) =>
    commands.open(withdrawFunds).run(movementOf(approval), audit),
  payment_adjustment: ({ commands }, approval, audit) => {
    const { approvalId, reason, reference, request, tenantId } = approval
    const amount = required(
      valueIn(readAmount(named(approval, 'amount'))),
      'an approval names the new amount',
    )
    const from = valueIn(readAmount(request['from'] ?? ''))
    return commands.open(adjustPayment).run(
      {
        merchantId: tenantId,
        paymentId: named(approval, 'paymentId'),
        amountPaise: amount,
        reference,
        reason,
        approval: { approvalId, changePaise: from === undefined ? undefined : amount - from },
      },
      audit,
    )
  },
  opening_balance: ({ commands }, approval, audit) => {
    const { amountPaise, approvalId, reason, reference, tenantId } = approval
    const kind = Object.keys(OPENED_WITH).find((known) => known === named(approval, 'account'))
    return commands.open(enterOpeningBalance).run(
      {
        tenantId,
        kind: required(kind, 'an approval names a kind of account') as OpenedKind,
        ownerId: named(approval, 'ownerId'),
        effectiveDate: named(approval, 'effectiveDate'),
        amountPaise: paise(amountPaise),
        reference,
        reason,
        approvalId,
      },
      audit,
    )
  },
  suspense_assigned: resolve,
  suspense_returned: resolve,
  journal_reversal: ({ commands }, { approvalId, reason, reference, tenantId }, audit) =>
    commands.open(reverseJournal).run({ tenantId, journalId: reference, reason, approvalId }, audit),
  exception_settled: settle,
  exception_written_off: settle,
  advance_repaid: settle,
  advance_written_off: settle,
  merchant_refund_failed: async ({ commands, database }, approval, audit) => {
    const { approvalId, reason, request } = approval
    const outcome = {
      refundId: named(approval, 'refundId'),
      utr: request['utr'] ?? null,
      amountPaise: paise(approval.amountPaise),
      failureReason: reason,
    }
    const assigns = await database.operate((tx) => noticeOf(tx, approval))
    return commands.open(completeRefund).run({ read: { outcome }, assigns, approvalId }, audit)
  },
  dispute_won: async ({ commands, database }, approval, audit) =>
    commands.open(closeDispute).run(
      {
        merchantId: approval.tenantId,
        disputeId: named(approval, 'disputeId'),
        paymentId: named(approval, 'paymentId'),
        outcome: 'WON',
        assigns: await database.operate((tx) => noticeOf(tx, approval)),
        approvalId: approval.approvalId,
      },
      audit,
    ),
  notice_assigned: postAssignment,
}

/** The notice that the posting follows; none once it was assigned, when the posting is repeated after a failure. */
async function noticeOf(tx: Tx, { request, requestedBy }: Approval) {
  const noticeId = request['noticeId'] ?? undefined
  const notice = noticeId === undefined ? undefined : await findNotice(tx, noticeId)
  return notice?.status === 'QUARANTINED'
    ? { noticeTenantId: notice.tenantId, noticeId: notice.noticeId, actor: requestedBy, body: notice.body }
    : undefined
}

function resolve(
  { commands }: PostingTools,
  approval: Approval,
  audit: CommandAudit<unknown>,
): Promise<unknown> {
  const { approvalId, reason, request, tenantId } = approval
  const merchantId = request['merchantId'] ?? null
  const paymentId = named(approval, 'paymentId')
  return commands.open(resolveSuspense).run({ tenantId, paymentId, merchantId, reason, approvalId }, audit)
}

/**
 * Posts what was approved, and returns the approval as it is then. To be repeated after a failure. What was entered before,
 * say by the bank's own notice, is not posted again: its approval ends as rejected, since no journal will use it.
 */
export async function postApproved(
  tools: PostingTools,
  approval: Approval,
  { actor, requestId }: PostingActor,
): Promise<Approval> {
  const by = { actor, ...(requestId !== undefined && { requestId }) }
  const { approvalId, amountPaise, kind, outcome, requestedBy, reason, reference, tenantId } = approval
  if (outcome !== 'APPROVED') fail('approval_closed')
  const details = { approvalId, amount: formatRupees(amountPaise), reference, reason, requestedBy }
  await CARRY[kind](tools, approval, {
    ...by,
    action: `${kind}.posted`,
    target: approvalId,
    tenantId,
    details,
  })
  const carried = await tools.database.operate((tx) => findApproval(tx, approvalId))
  if (carried.journalId !== null) return carried
  return tools.database.operate(
    (tx) => decideApproval(tx, approvalId, 'REJECTED', actor),
    'read committed',
    by,
  )
}
