import { type Approval, approvals, decideApproval } from '@svc/core/ledger/approvals'
import { ApprovalRecord, approvalToWire } from '@svc/server/approvals/approval-record'
import { approvePosting } from '@svc/server/approvals/approve-posting'
import { APPROVED_COMMANDS } from '@svc/server/approvals/approved-commands'
import { Filters, readList } from '@svc/server/http/list'
import { query } from '@svc/server/http/operation'
import { actorOf, asOperator } from './as-operator.ts'
import {
  BY_TIME,
  CONSOLE_API,
  closed,
  consoleOperation,
  idParam,
  listOf,
  listQuery,
  oneOf,
} from './console-schema.ts'

const TAG = 'Approvals'
const PATH = `${CONSOLE_API}/approvals`
type Listed = Approval & { readonly tenantName: string | null }

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
        columns: `${approvals.columns}, coalesce(m.name, r.name) as "tenantName"`,
        table: 'approvals p',
        alias: 'p',
        joins:
          'left join merchants m on m.merchant_id = p.tenant_id left join partners r on r.partner_id = p.tenant_id',
        filters,
        keys: [{ sql: 'p.approval_id', type: 'text' as const }],
        descending: query.sort !== 'created',
      }
      const now = new Date(clock.now())
      const page = await database.operate((tx) =>
        readList(tx, plan, query, (row: Listed) => approvalToWire(row, timeZone, now)),
      )
      return { body: JSON.stringify(page) }
    }
  },
})

export const approvePostingInConsole = query({
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
    'approval_outdated',
    ...new Set(APPROVED_COMMANDS.flatMap(({ approval: { args, failures } }) => (args ? failures : []))),
  ],
  mount(services) {
    return async (input) => {
      const { approvalId } = input.params
      const by = { actor: actorOf(input.caller), requestId: input.requestId }
      const posted = await approvePosting(services, approvalId, by)
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
