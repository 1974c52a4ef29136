import { type Approval, approvalStatus, approvals } from '@svc/core/ledger/approvals'
import { WaitingApproval } from '@svc/core/ledger/money-command'
import { POSTING_KINDS, POSTING_TITLES } from '@svc/core/ledger/posting'
import { formatRupees } from '@svc/kernel/money'
import { rfc3339 } from '@svc/kernel/time'
import type { HttpResponse } from '@svc/platform/db/idempotency-store'
import { Type } from 'typebox'
import { choiceFilter, type Resource } from '../http/resource.ts'

const text = (description?: string) => Type.String(description === undefined ? {} : { description })
const rupees = text('Rupees with two decimals, such as `2495.00`')
const instant = text('RFC 3339 with milliseconds and zone offset')

export const ApprovalRecord = Type.Object(
  {
    approvalId: text(),
    tenantId: text(),
    tenantName: Type.Optional(text('In lists: of the merchant or partner')),
    kind: Type.Enum([...POSTING_KINDS], {
      description:
        'That of the journal; `notice_assigned` of a credit that an operator read in a notice, `payout_failed` of a payout that is due again',
    }),
    title: text('What is done'),
    status: Type.Enum(['PENDING', 'APPROVED', 'POSTED', 'REJECTED', 'EXPIRED'], {
      description:
        '`APPROVED` is to be posted; approve it again after a failure, or reject it. `REJECTED` also where it was entered before, so that nothing was posted',
    }),
    amount: rupees,
    reference: text(
      'The bank’s reference, the journal to be reversed, the refund, dispute or payout that ends, the notice to be assigned, or the file and line of an opening balance',
    ),
    request: Type.Record(Type.String(), Type.Union([Type.String(), Type.Null()]), {
      description: 'What it is of; of a correction also the amounts of the payment, `from` and `amount`',
    }),
    reason: text(),
    requestedBy: text(),
    requestedOn: instant,
    expiresOn: instant,
    decidedBy: Type.Optional(text()),
    decidedOn: Type.Optional(instant),
    journalId: Type.Optional(text('What was posted')),
  },
  { title: 'Approval', additionalProperties: false },
)

/** An approval with the name of its tenant, and the database’s time, by which it expires. */
export interface ListedApproval extends Approval {
  readonly tenantName: string | null
  readonly now: Date
}

/** An approval as callers have it. */
export function approvalToWire(
  approval: Approval & Partial<Omit<ListedApproval, keyof Approval>>,
  timeZone: string,
) {
  const { approvalId, tenantId, kind, amountPaise, reference, request, reason, requestedBy } = approval
  const { decidedAt, decidedBy, journalId, now = new Date(), tenantName } = approval
  return {
    approvalId,
    tenantId,
    tenantName: tenantName ?? undefined,
    kind,
    title: POSTING_TITLES[kind],
    status: approvalStatus(approval, now),
    amount: formatRupees(amountPaise),
    reference,
    request,
    reason,
    requestedBy,
    requestedOn: rfc3339(approval.requestedAt, timeZone),
    expiresOn: rfc3339(approval.expiresAt, timeZone),
    decidedBy: decidedBy ?? undefined,
    decidedOn: decidedAt === null ? undefined : rfc3339(decidedAt, timeZone),
    journalId: journalId ?? undefined,
  }
}

/** Postings that need a second person; operators alone read them (decision R10). */
export const approval = {
  titles: { operator: 'Approval' },
  record: { schema: ApprovalRecord, toWire: approvalToWire },
  from: {
    columns: `${approvals.columns}, coalesce(m.name, r.name) as "tenantName", clock_timestamp() as now`,
    table: 'approvals p',
    alias: 'p',
    joins:
      'left join merchants m on m.merchant_id = p.tenant_id left join partners r on r.partner_id = p.tenant_id',
  },
  tenant: 'p.tenant_id',
  keys: [{ sql: 'p.approval_id', type: 'text' }],
  fields: {},
  filters: {
    status: {
      schema: choiceFilter(['OPEN', 'ALL'], 'By default those that wait', 'OPEN'),
      sql: (filters, status) =>
        status === 'OPEN' &&
        filters.add(
          `(p.outcome is null and p.expires_at > clock_timestamp() or p.outcome = 'APPROVED' and p.journal_id is null)`,
          true,
        ),
    },
  },
} satisfies Resource<ListedApproval>

const waitingReply = ({ approval }: WaitingApproval, timeZone: string): HttpResponse => ({
  status: 202,
  body: JSON.stringify(approvalToWire({ ...approval, now: approval.requestedAt }, timeZone)),
})

/** The response to a command: what `reply` makes of its decision, or 202 with the approval that waits. */
export const replyOrWait = <D>(
  outcome: D | WaitingApproval,
  timeZone: string,
  reply: (decision: D) => HttpResponse,
): HttpResponse => (outcome instanceof WaitingApproval ? waitingReply(outcome, timeZone) : reply(outcome))

/** The same of a decision that is shown as JSON. */
export const wireOrWait = async <D>(
  outcome: D | WaitingApproval,
  timeZone: string,
  toWire: (decision: D) => unknown,
): Promise<HttpResponse> =>
  outcome instanceof WaitingApproval
    ? waitingReply(outcome, timeZone)
    : { status: 200, body: JSON.stringify(await toWire(outcome)) }
