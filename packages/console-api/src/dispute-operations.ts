import { fail } from '@svc/contract/errors'
import { closeDispute } from '@svc/core/payments/close-dispute'
import { DisputeRecord, disputeToWire } from '@svc/core/payments/dispute'
import { findDispute } from '@svc/core/payments/find-dispute'
import { followedNotice } from '@svc/core/rails/find-notice'
import { ApprovalRecord, wireOrWait } from '@svc/server/approvals/approval-record'
import { query } from '@svc/server/http/operation'
import { listOf } from '@svc/server/http/resource'
import { dispute, type ListedDispute } from '@svc/server/payments/disputes'
import { Type } from 'typebox'
import { actorOf, auditOf } from './as-operator.ts'
import { CONSOLE_API, closed, consoleOperation, idParam } from './console-schema.ts'

const TAG = 'Payments'
const PATH = `${CONSOLE_API}/disputes`

export const listDisputesInConsole = listOf<ListedDispute>(dispute, {
  ...consoleOperation,
  id: 'console.listDisputes',
  path: PATH,
  tag: TAG,
  summary: 'List disputes of all merchants',
  permission: 'view',
})

export const closeDisputeByOperator = query({
  ...consoleOperation,
  id: 'console.closeDispute',
  stepUp: true,
  method: 'POST',
  path: `${PATH}/:disputeId/close`,
  tag: TAG,
  summary: 'Record what the network decided of a dispute',
  description:
    'Where no notice says so, or one in quarantine that an operator has read. A dispute that was won is payable to the merchant again: above the limit of APPROVAL_ABOVE_RUPEES it waits for a second person (202), unless the notice itself states that it was won, with its amount.',
  permission: 'finance',
  params: idParam('disputeId'),
  body: closed({
    outcome: Type.Enum(['WON', 'LOST']),
    noticeId: Type.Optional(Type.String({ description: 'The notice in quarantine' })),
  }),
  result: DisputeRecord,
  accepted: ApprovalRecord,
  errors: [...closeDispute.approval.failures, 'notice_not_found', 'approval_open'],
  mount(services) {
    const { commands, config, database } = services
    const { run } = commands.open(closeDispute)
    return async (input) => {
      const { disputeId } = input.params
      const { outcome, noticeId } = input.body
      const actor = actorOf(input.caller)
      const [found, assigns] = await database.operate(async (tx) => [
        await findDispute(tx, disputeId),
        noticeId === undefined ? undefined : await followedNotice(tx, noticeId, actor, 'dispute_notice'),
      ])
      const { merchantId, paymentId } = found ?? fail('dispute_not_found')
      const audit = auditOf(merchantId, input, { action: 'dispute.closed', target: disputeId })
      const done = await run({ merchantId, disputeId, paymentId, outcome, assigns }, audit)
      return wireOrWait(done, config.BUSINESS_TIME_ZONE, (decided) =>
        disputeToWire(decided.dispute, config.BUSINESS_TIME_ZONE),
      )
    }
  },
})
