import { fail } from '@svc/contract/errors'
import { closeDispute } from '@svc/core/payments/close-dispute'
import {
  DISPUTE_STATUSES,
  type Dispute,
  DisputeRecord,
  disputes,
  disputeToWire,
} from '@svc/core/payments/dispute'
import { findDispute } from '@svc/core/payments/find-dispute'
import { followedNotice } from '@svc/core/rails/find-notice'
import { canonicalReference } from '@svc/kernel/bank-reference'
import { ApprovalRecord, wireOrWait } from '@svc/server/approvals/approval-record'
import { Filters, type ListPlan, readList } from '@svc/server/http/list'
import { query } from '@svc/server/http/operation'
import { Type } from 'typebox'
import { actorOf, auditOf } from './as-operator.ts'
import {
  BY_TIME,
  CONSOLE_API,
  closed,
  consoleOperation,
  exact,
  idParam,
  listOf,
  listQuery,
  oneOf,
  record,
  text,
} from './console-schema.ts'

const TAG = 'Payments'
const PATH = `${CONSOLE_API}/disputes`
const DisputeRow = record('DisputeRow', {
  dispute: DisputeRecord,
  merchantId: text(),
  merchantName: text(),
})

type ListedDispute = Dispute & { readonly merchantName: string }

const rowToWire = (row: ListedDispute, timeZone: string) => ({
  dispute: disputeToWire(row, timeZone),
  merchantId: row.merchantId,
  merchantName: row.merchantName,
})

export const listDisputesInConsole = query({
  ...consoleOperation,
  id: 'console.listDisputes',
  method: 'GET',
  path: PATH,
  tag: TAG,
  summary: 'List disputes of all merchants',
  permission: 'view',
  query: listQuery(BY_TIME, {
    q: exact('Id of the dispute or of its payment, or the network’s reference of the case in any case', 64),
    merchantId: exact('Of this merchant'),
    status: oneOf([...DISPUTE_STATUSES], 'Only these'),
  }),
  result: listOf(DisputeRow),
  errors: [],
  mount({ config: { BUSINESS_TIME_ZONE: timeZone }, database }) {
    return async ({ query }) => {
      const { merchantId, q, sort, status } = query
      const filters = new Filters().add('d.merchant_id = ?', merchantId).add('d.status = ?', status)
      if (q?.startsWith('pay_')) filters.add('d.payment_id = ?', q)
      else if (q?.startsWith('dsp_')) filters.add('d.dispute_id = ?', q)
      else if (q !== undefined) filters.add('d.case_reference = ?', canonicalReference(q))
      const plan: ListPlan = {
        columns: `${disputes.columns}, m.name as "merchantName"`,
        table: 'disputes d',
        alias: 'd',
        joins: 'join merchants m on m.merchant_id = d.merchant_id',
        filters,
        keys: [{ sql: 'd.dispute_id', type: 'text' }],
        descending: sort !== 'created',
      }
      const page = await database.operate((tx) =>
        readList(tx, plan, query, (row: ListedDispute) => rowToWire(row, timeZone)),
      )
      return { body: JSON.stringify(page) }
    }
  },
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
      return wireOrWait(done, config.BUSINESS_TIME_ZONE, ({ dispute }) =>
        disputeToWire(dispute, config.BUSINESS_TIME_ZONE),
      )
    }
  },
})
