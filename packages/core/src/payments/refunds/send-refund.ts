import { fail } from '@svc/contract/errors'
import { command } from '@svc/platform/command'
import { type MerchantRefund, merchantRefunds } from './merchant-refund.ts'

export interface SendRefund {
  readonly merchantId: string
  readonly refundId: string
  /** The run of refunds that it goes with. */
  readonly runId: string
}

const LOCK = merchantRefunds.lock('to_send')
const saveSent = merchantRefunds.updates(['status', 'runId', 'sentAt'], 'send')

/** Marks a refund as sent to the bank, in one run only; the outcome's refund says in which (decision Q14). */
export const sendRefund = command({
  name: 'sendRefund',
  prepare: () => (args: SendRefund) => ({ ...args, tenantId: args.merchantId }),
  lock: (tx, commands) => merchantRefunds.lockRows<MerchantRefund>(tx, LOCK, commands),

  decide(refunds, { refundId, runId }, now) {
    const refund = refunds.get(refundId) ?? fail('refund_not_found')
    const isNew = refund.status === 'PENDING'
    return { isNew, refund: isNew ? { ...refund, status: 'SENT' as const, runId, sentAt: now } : refund }
  },

  apply: (refunds, { refund }) => void refunds.set(refund.refundId, refund),

  save: (tx, decisions) =>
    saveSent(
      tx,
      decisions.flatMap(({ isNew, refund }) => (isNew ? [refund] : [])),
    ),
})
