import { decideApproval } from '@svc/core/ledger/approvals'
import {
  ApprovalRecord,
  approval,
  approvalToWire,
  type ListedApproval,
} from '@svc/server/approvals/approval-record'
import { approvePosting } from '@svc/server/approvals/approve-posting'
import { APPROVED_COMMANDS } from '@svc/server/approvals/approved-commands'
import { query } from '@svc/server/http/operation'
import { listOf } from '@svc/server/http/resource'
import { actorOf, asOperator } from '../as-operator.ts'
import { CONSOLE_API, closed, consoleOperation, idParam } from '../console-schema.ts'

const TAG = 'Approvals'
const PATH = `${CONSOLE_API}/approvals`

export const listApprovalsInConsole = listOf<ListedApproval>(approval, {
  ...consoleOperation,
  id: 'console.listApprovals',
  path: PATH,
  tag: TAG,
  summary: 'List postings that need a second person',
  permission: 'view',
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
      return { body: JSON.stringify(approvalToWire(posted, services.config.BUSINESS_TIME_ZONE)) }
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
        body: JSON.stringify(approvalToWire(rejected, services.config.BUSINESS_TIME_ZONE)),
      }
    }
  },
})
