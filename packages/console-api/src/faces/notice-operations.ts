import { fail } from '@svc/contract/errors'
import { acceptPayment } from '@svc/core/payments/accept-payment'
import { DisputeRecord, disputeToWire } from '@svc/core/payments/disputes/dispute'
import { receiveDispute } from '@svc/core/payments/disputes/receive-dispute'
import { PaymentResponse, paymentToWire } from '@svc/core/payments/payment'
import { assignmentOf, disputeAssignmentOf, reportsDispute } from '@svc/core/payments/suspense/assign-notice'
import { dismissNotice } from '@svc/core/rails/dismiss-notice'
import { findNotice } from '@svc/core/rails/find-notice'
import { NoticeRecord, noticeToWire, type RailNotice } from '@svc/core/rails/rail-notice'
import { reopenNotice } from '@svc/core/rails/reopen-notice'
import { required } from '@svc/kernel/invariant'
import { ApprovalRecord, wireOrWait } from '@svc/server/approvals/approval-record'
import { Rupees, readRupees } from '@svc/server/http/fields'
import { query } from '@svc/server/http/operation'
import { listOf } from '@svc/server/http/resource'
import { railNotice } from '@svc/server/rails/rail-notices'
import { Type } from 'typebox'
import { actorOf, auditOf } from '../as-operator.ts'
import { CONSOLE_API, closed, consoleOperation, idParam, reasonText } from '../console-schema.ts'
import { maskNotice } from '../records/mask-notice.ts'
import { isRevealed } from '../records/reveals.ts'

const TAG = 'Payments'
const PATH = `${CONSOLE_API}/rail-notices`

export const listNotices = listOf<RailNotice>(railNotice, {
  ...consoleOperation,
  id: 'console.listRailNotices',
  path: PATH,
  tag: TAG,
  summary: 'List notices of the rail that are no payment by themselves',
  permission: 'finance',
  maskFor: () => maskNotice,
})

export const showNotice = query({
  ...consoleOperation,
  id: 'console.showRailNotice',
  method: 'GET',
  path: `${PATH}/:noticeId`,
  tag: TAG,
  summary: 'Show notice of the rail',
  permission: 'finance',
  params: idParam('noticeId'),
  result: NoticeRecord,
  errors: ['notice_not_found'],
  mount(services) {
    const { config, database } = services
    return async (input) => {
      const notice = await database.operate((tx) => findNotice(tx, input.params.noticeId))
      const record = noticeToWire(notice ?? fail('notice_not_found'), config.BUSINESS_TIME_ZONE)
      return { body: JSON.stringify((await isRevealed(services, input)) ? record : maskNotice(record)) }
    }
  },
})

export const assignNotice = query({
  ...consoleOperation,
  id: 'console.assignRailNotice',
  stepUp: true,
  method: 'POST',
  path: `${PATH}/:noticeId/assign`,
  tag: TAG,
  summary: 'Record what a notice in quarantine reports',
  description:
    'The operator reads what the service could not. The payment follows the rules of any credit: accepted, to be refunded, or in suspense. Above the limit of APPROVAL_ABOVE_RUPEES it waits for a second person: 202. A notice of a dispute is carried out again as the bank signed it, once what stood in its way is gone; the body is then empty, and the response is the dispute.',
  permission: 'finance',
  params: idParam('noticeId'),
  body: closed({
    utr: Type.Optional(
      Type.String({
        minLength: 6,
        maxLength: 64,
        description: 'The bank’s reference; required of a payment, as is `amount`',
      }),
    ),
    amount: Type.Optional(
      Rupees({ minimum: 0.01, maximum: 1e10, description: 'Rupees, such as 249.50; required of a payment' }),
    ),
    tr: Type.Optional(Type.String({ maxLength: 64, description: 'Reference of the code' })),
    payeeVpa: Type.Optional(Type.String({ maxLength: 255, description: 'Or the merchant whom it is for' })),
  }),
  result: Type.Union([PaymentResponse, DisputeRecord]),
  accepted: ApprovalRecord,
  errors: [...acceptPayment.approval.failures, 'notice_not_found', 'notice_not_applied', 'approval_open'],
  mount(services) {
    const { commands, config, database } = services
    const timeZone = config.BUSINESS_TIME_ZONE
    const accept = commands.open(acceptPayment)
    const dispute = commands.open(receiveDispute)
    return async (input) => {
      const { noticeId } = input.params
      const { utr, amount, tr, payeeVpa } = input.body
      const notice = (await database.operate((tx) => findNotice(tx, noticeId))) ?? fail('notice_not_found')
      const amountPaise = amount === undefined ? undefined : readRupees('amount', amount)
      const reading = { utr, amountPaise, tr, payeeVpa }
      const entry = { action: 'rail_notice.assigned', target: noticeId }
      const audit = auditOf(notice.tenantId, input, entry)
      const actor = actorOf(input.caller)
      if (reportsDispute(notice)) {
        const args = disputeAssignmentOf(notice, reading, actor)
        const applied = required(
          (await dispute.run(args, audit)).dispute,
          'an assigned notice has its dispute',
        )
        return { body: JSON.stringify(disputeToWire(applied, timeZone)) }
      }
      const outcome = await accept.run(assignmentOf(notice, reading, actor), audit)
      return wireOrWait(outcome, timeZone, ({ payment }) => paymentToWire(payment!, timeZone))
    }
  },
})

export const dismissNoticeByOperator = query({
  ...consoleOperation,
  id: 'console.dismissRailNotice',
  stepUp: true,
  method: 'POST',
  path: `${PATH}/:noticeId/dismiss`,
  tag: TAG,
  summary: 'End a notice in quarantine without effect',
  description: 'For notices that report nothing that is to be recorded. It stays stored as it was signed.',
  permission: 'finance',
  params: idParam('noticeId'),
  body: closed({ reason: reasonText() }),
  result: NoticeRecord,
  errors: ['notice_not_found', 'notice_not_in_quarantine'],
  mount({ commands, config, database }) {
    const { run } = commands.open(dismissNotice)
    return async (input) => {
      const { noticeId } = input.params
      const { reason } = input.body
      const { tenantId } =
        (await database.operate((tx) => findNotice(tx, noticeId))) ?? fail('notice_not_found')
      const details = { reason }
      const audit = auditOf(tenantId, input, { action: 'rail_notice.dismissed', target: noticeId, details })
      const dismissed = await run({ tenantId, noticeId, actor: actorOf(input.caller), reason }, audit)
      return { body: JSON.stringify(maskNotice(noticeToWire(dismissed, config.BUSINESS_TIME_ZONE))) }
    }
  },
})

export const reopenNoticeByOperator = query({
  ...consoleOperation,
  id: 'console.reopenRailNotice',
  stepUp: true,
  method: 'POST',
  path: `${PATH}/:noticeId/reopen`,
  tag: TAG,
  summary: 'Put a dismissed notice back into quarantine',
  description:
    'For notices that were dismissed by mistake. Who dismissed it and why it was reopened stay in the audit.',
  permission: 'finance',
  params: idParam('noticeId'),
  body: closed({ reason: reasonText() }),
  result: NoticeRecord,
  errors: ['notice_not_found', 'notice_not_dismissed'],
  mount({ commands, config, database }) {
    const { run } = commands.open(reopenNotice)
    return async (input) => {
      const { noticeId } = input.params
      const { reason } = input.body
      const { tenantId } =
        (await database.operate((tx) => findNotice(tx, noticeId))) ?? fail('notice_not_found')
      const details = { reason }
      const audit = auditOf(tenantId, input, { action: 'rail_notice.reopened', target: noticeId, details })
      const reopened = await run({ tenantId, noticeId }, audit)
      return { body: JSON.stringify(maskNotice(noticeToWire(reopened, config.BUSINESS_TIME_ZONE))) }
    }
  },
})
