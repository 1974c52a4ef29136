import { type Approval, approvalStatus, approvals, decideApproval } from '@svc/core/ledger/approvals'
import { formatRupees } from '@svc/kernel/money'
import { rfc3339 } from '@svc/kernel/time'
import { Filters, readList } from '@svc/server/http/list'
import { query, type Services } from '@svc/server/http/operation'
import { Type } from 'typebox'
import { actorOf, asOperator } from './as-operator.ts'
import {
  BY_TIME,
  CONSOLE_API,
  closed,
  consoleOperation,
  idParam,
  instant,
  listOf,
  listQuery,
  maybe,
  maybeInstant,
  oneOf,
  record,
  rupeesText,
  text,
} from './console-schema.ts'
import { postApproved } from './post-approved.ts'

const TAG = 'Approvals'
const PATH = `${CONSOLE_API}/approvals`
const STATUSES = ['PENDING', 'APPROVED', 'POSTED', 'REJECTED', 'EXPIRED'] as const

export const ApprovalRecord = record('Approval', {
  approvalId: text(),
  tenantId: text(),
  kind: text(
    'Kind of the journal: `card_funding`, `card_withdrawal`, `suspense_assigned`, `suspense_returned`, `journal_reversal`, `opening_balance`, `payment_adjustment`, `exception_settled`, `exception_written_off`, `advance_repaid`, `advance_written_off`, `merchant_refund_failed`, `dispute_won`; `notice_assigned` of a credit that an operator read in a notice',
  ),
  status: Type.Enum([...STATUSES], {
    description:
      '`APPROVED` is to be posted; approve it again after a failure, or reject it. `REJECTED` also where it was entered before, so that nothing was posted',
  }),
  amount: rupeesText,
  reference: text(
    'The bank’s reference, the journal to be reversed, the refund or dispute that ends, the notice to be assigned, or the file and line of an opening balance',
  ),
  request: Type.Record(Type.String(), Type.Union([Type.String(), Type.Null()]), {
    description: 'What it is of; of a correction also the amounts of the payment, `from` and `amount`',
  }),
  reason: text(),
  requestedBy: text(),
  requestedOn: instant,
  expiresOn: instant,
  decidedBy: maybe(),
  decidedOn: maybeInstant,
  journalId: maybe('What was posted'),
})

/** An approval as the console has it. */
export function approvalToWire(approval: Approval, timeZone: string, now: Date) {
  const { approvalId, tenantId, kind, amountPaise, reference, request, reason, requestedBy } = approval
  const { decidedAt, decidedBy, journalId } = approval
  return {
    approvalId,
    tenantId,
    kind,
    status: approvalStatus(approval, now),
    amount: formatRupees(amountPaise),
    reference,
    request,
    reason,
    requestedBy,
    requestedOn: rfc3339(approval.requestedAt, timeZone),
    expiresOn: rfc3339(approval.expiresAt, timeZone),
    ...(decidedBy !== null && { decidedBy }),
    ...(decidedAt !== null && { decidedOn: rfc3339(decidedAt, timeZone) }),
    ...(journalId !== null && { journalId }),
  }
}

/** What an operation returns whose posting waits for a second person. */
export const waitsForApproval = (approval: Approval, { clock, config }: Services) => ({
  status: 202,
  body: JSON.stringify(approvalToWire(approval, config.BUSINESS_TIME_ZONE, new Date(clock.now()))),
})

const OPEN = `(p.outcome is null and p.expires_at > clock_timestamp() or p.outcome = 'APPROVED' and p.journal_id is null)`

export const listApprovalsInConsole = query({
  ...consoleOperation,
  id: 'console.listApprovals',
  method: 'GET',
  path: PATH,
  tag: TAG,
  summary: 'List postings that need a second person',
  permission: 'view',
  query: listQuery(BY_TIME, { status: oneOf(['OPEN', 'ALL'], 'By default those that wait') }),
  result: listOf(ApprovalRecord),
  errors: [],
  mount({ clock, config: { BUSINESS_TIME_ZONE: timeZone }, database }) {
    return async ({ query }) => {
      const filters = new Filters()
      if (query.status !== 'ALL') filters.add(OPEN, true)
      const plan = {
        columns: approvals.columns,
        table: 'approvals p',
        alias: 'p',
        filters,
        keys: [{ sql: 'p.approval_id', type: 'text' as const }],
        descending: query.sort !== 'created',
      }
      const now = new Date(clock.now())
      const page = await database.operate((tx) =>
        readList(tx, plan, query, (row: Approval) => approvalToWire(row, timeZone, now)),
      )
      return { body: JSON.stringify(page) }
    }
  },
})

export const approvePosting = query({
  ...consoleOperation,
  id: 'console.approvePosting',
  stepUp: true,
  method: 'POST',
  path: `${PATH}/:approvalId/approve`,
  tag: TAG,
  summary: 'Approve a posting that another operator requested',
  description:
    'It is posted at once. After a failure approve it again: it is posted once. What was entered before is not posted again: the approval is then `REJECTED`.',
  permission: 'finance',
  params: idParam('approvalId'),
  result: ApprovalRecord,
  errors: [
    'approval_not_found',
    'approval_closed',
    'approval_same_person',
    'journal_not_reversible',
    'opening_balance_entered',
    'effective_date_not_open',
    'tenant_closing',
    'settlement_reference_used',
    'balance_not_open',
    'refund_closed',
    'dispute_closed',
    'adjustment_refused',
    'adjustment_reference_used',
    'payment_not_accepted',
    'notice_not_in_quarantine',
    'notice_not_applied',
    'notice_not_found',
    'utr_conflict',
    'card_account_not_found',
    'dispute_not_found',
    'funding_reference_used',
    'insufficient_funds',
    'journal_not_found',
    'ledger_account_not_found',
    'payment_not_found',
    'refund_not_found',
    'suspense_resolved',
    'withdrawal_reference_used',
  ],
  mount(services) {
    return async (input) => {
      const { approvalId } = input.params
      const by = actorOf(input.caller)
      const approved = await asOperator(services, input, (tx) =>
        decideApproval(tx, approvalId, 'APPROVED', by),
      )
      const posted = await postApproved(services, approved, { actor: by, requestId: input.requestId })
      return { body: JSON.stringify(approvalToWire(posted, services.config.BUSINESS_TIME_ZONE, new Date())) }
    }
  },
})

export const rejectPosting = query({
  ...consoleOperation,
  id: 'console.rejectPosting',
  method: 'POST',
  path: `${PATH}/:approvalId/reject`,
  tag: TAG,
  summary: 'Reject a posting, or withdraw your own',
  permission: 'finance',
  params: idParam('approvalId'),
  body: closed({}),
  result: ApprovalRecord,
  errors: ['approval_not_found', 'approval_closed'],
  mount(services) {
    return async (input) => {
      const { approvalId } = input.params
      const by = actorOf(input.caller)
      const rejected = await asOperator(services, input, (tx) =>
        decideApproval(tx, approvalId, 'REJECTED', by),
      )
      return {
        body: JSON.stringify(approvalToWire(rejected, services.config.BUSINESS_TIME_ZONE, new Date())),
      }
    }
  },
})
