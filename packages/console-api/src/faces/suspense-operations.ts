import { fail } from '@svc/contract/errors'
import { enteredReference } from '@svc/core/ledger/entered-reference'
import { PaymentResponse, paymentToWire } from '@svc/core/payments/payment'
import { confirmRefund } from '@svc/core/payments/refunds/confirm-refund'
import { findAssignment, findCredit } from '@svc/core/payments/suspense/find-suspense'
import { resolveSuspense } from '@svc/core/payments/suspense/resolve-suspense'
import { unassignCredit } from '@svc/core/payments/suspense/unassign-credit'
import { followedNotice } from '@svc/core/rails/find-notice'
import { findMerchant } from '@svc/core/tenants/merchant'
import { canonicalReference } from '@svc/kernel/bank-reference'
import { ApprovalRecord, wireOrWait } from '@svc/server/approvals/approval-record'
import { type Caller, query, type Services } from '@svc/server/http/operation'
import { Type } from 'typebox'
import { actorOf, auditOf } from '../as-operator.ts'
import {
  CONSOLE_API,
  closed,
  consoleOperation,
  idParam,
  reasonText,
  record,
  referenceText,
  text,
} from '../console-schema.ts'

const TAG = 'Payments'
const PATH = `${CONSOLE_API}/payments/:paymentId`
const Reason = reasonText('Why; it is in the journal')
const Resolved = record('ResolvedPayment', { payment: PaymentResponse, merchantId: text() })

interface Input {
  readonly params: { readonly paymentId: string }
  readonly caller: Caller
  readonly requestId: string
}

const resolver = (services: Services) => {
  const { commands, config, database } = services
  const { run } = commands.open(resolveSuspense)
  return async (input: Input, merchantId: string | null, reason: string) => {
    const { paymentId: id } = input.params
    const found = await database.operate(async (tx) => {
      if (merchantId !== null && !(await findMerchant(tx, merchantId))) fail('merchant_not_found')
      return findCredit(tx, id, canonicalReference(id))
    })
    const { isReadByHand, merchantId: tenantId, paymentId } = found ?? fail('payment_not_found')
    const action = merchantId === null ? 'suspense.returned' : 'suspense.assigned'
    const audit = auditOf(tenantId, input, { action, target: paymentId })
    const outcome = await run({ tenantId, paymentId, merchantId, isReadByHand, reason }, audit)
    return wireOrWait(outcome, config.BUSINESS_TIME_ZONE, ({ payment }) => ({
      payment: paymentToWire(payment, config.BUSINESS_TIME_ZONE),
      merchantId: payment.merchantId,
    }))
  }
}

export const assignPayment = query({
  ...consoleOperation,
  id: 'console.assignPayment',
  stepUp: true,
  method: 'POST',
  path: `${PATH}/assign`,
  tag: TAG,
  summary: 'Assign a credit in suspense to a merchant',
  description:
    'The merchant is paid for it. Out of the platform’s suspense it becomes a payment of the merchant.',
  permission: 'finance',
  params: idParam('paymentId'),
  body: closed({ merchantId: text(), reason: Reason }),
  result: Resolved,
  accepted: ApprovalRecord,
  errors: [...resolveSuspense.approval.failures, 'merchant_not_found', 'approval_open'],
  mount(services) {
    const resolve = resolver(services)
    return (input) => resolve(input, input.body.merchantId, input.body.reason)
  },
})

export const unassignPayment = query({
  ...consoleOperation,
  id: 'console.unassignPayment',
  stepUp: true,
  method: 'POST',
  path: `${PATH}/unassign`,
  tag: TAG,
  summary: 'Take the assignment of a credit back',
  description:
    'Until its money is paid out or refunded. The credit is in suspense again, under its id, and can be assigned to another merchant. A repeat changes nothing.',
  permission: 'finance',
  params: idParam('paymentId'),
  body: closed({ reason: Reason }),
  result: Resolved,
  accepted: ApprovalRecord,
  errors: [...unassignCredit.approval.failures, 'approval_open'],
  mount({ commands, config, database }) {
    const { run } = commands.open(unassignCredit)
    return async (input) => {
      const { paymentId: id } = input.params
      const find = await database.operate((tx) => findAssignment(tx, id, canonicalReference(id)))
      const found = find ?? fail('payment_not_found')
      const { tenantId, paymentId } = found
      const audit = auditOf(tenantId, input, { action: 'suspense.unassigned', target: paymentId })
      const outcome = await run({ ...found, reason: input.body.reason }, audit)
      return wireOrWait(outcome, config.BUSINESS_TIME_ZONE, ({ payment }) => ({
        payment: paymentToWire(payment, config.BUSINESS_TIME_ZONE),
        merchantId: payment.merchantId,
      }))
    }
  },
})

export const returnPayment = query({
  ...consoleOperation,
  id: 'console.returnPayment',
  stepUp: true,
  method: 'POST',
  path: `${PATH}/return`,
  tag: TAG,
  summary: 'Return a credit in suspense to its payer',
  description:
    'It is `REFUND_PENDING` until a notice of the bank confirms the refund, or an operator records it (`returned`).',
  permission: 'finance',
  params: idParam('paymentId'),
  body: closed({ reason: Reason }),
  result: Resolved,
  accepted: ApprovalRecord,
  errors: [...resolveSuspense.approval.failures, 'approval_open'],
  mount(services) {
    const resolve = resolver(services)
    return (input) => resolve(input, null, input.body.reason)
  },
})

export const confirmReturnByOperator = query({
  ...consoleOperation,
  id: 'console.confirmReturn',
  stepUp: true,
  method: 'POST',
  path: `${PATH}/returned`,
  tag: TAG,
  summary: 'Record that the bank returned a credit to its payer',
  description:
    'Of a credit that is `REFUND_PENDING`, where no notice says so, or one in quarantine that an operator has read. Books and events are those of the bank’s notice; a repeat changes nothing.',
  permission: 'finance',
  params: idParam('paymentId'),
  body: closed({
    reason: reasonText('How the operator knows; it is in the audit'),
    reference: Type.Optional(referenceText('The bank’s own reference of the return; it is in the audit')),
    noticeId: Type.Optional(Type.String({ description: 'The notice in quarantine that says so' })),
  }),
  result: Resolved,
  errors: [
    'payment_not_found',
    'payment_not_returning',
    'notice_not_found',
    'notice_not_in_quarantine',
    'moved',
  ],
  mount({ commands, config, database }) {
    const { run } = commands.open(confirmRefund)
    return async (input) => {
      const { paymentId: id } = input.params
      const { noticeId, reason, reference } = input.body
      const [found, assigns] = await database.operate(async (tx) => [
        await findCredit(tx, id, canonicalReference(id)),
        noticeId === undefined
          ? undefined
          : await followedNotice(tx, noticeId, actorOf(input.caller), 'refund_notice'),
      ])
      const { merchantId, paymentId, utr } = found ?? fail('payment_not_found')
      const details = { reason, ...(reference && { reference: enteredReference(reference) }) }
      const audit = auditOf(merchantId, input, { action: 'payment.returned', target: paymentId, details })
      const { payment } = await run({ credit: { utr, amountPaise: undefined }, assigns }, audit)
      return {
        body: JSON.stringify({
          payment: paymentToWire(payment!, config.BUSINESS_TIME_ZONE),
          merchantId,
        }),
      }
    }
  },
})
