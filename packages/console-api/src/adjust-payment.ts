import { fail } from '@svc/contract/errors'
import { adjustPayment } from '@svc/core/payments/adjust-payment'
import { findAdjusting } from '@svc/core/payments/find-adjusting'
import { AdjustmentRecord, adjustmentToWire } from '@svc/core/payments/payment-adjustment'
import { canonicalReference } from '@svc/kernel/bank-reference'
import { formatRupees } from '@svc/kernel/money'
import { Rupees, readRupees } from '@svc/server/http/fields'
import { query } from '@svc/server/http/operation'
import { Type } from 'typebox'
import { ApprovalRecord, waitsForApproval } from './approval-operations.ts'
import { actorOf, auditOf } from './as-operator.ts'
import { CONSOLE_API, closed, consoleOperation, idParam, record, text } from './console-schema.ts'
import { adjustmentPosting, requestApprovalIfNeeded } from './postings.ts'

export const AdjustmentInConsole = record('AdjustmentInConsole', {
  ...AdjustmentRecord.properties,
  reason: text('Why, for operators; it is in the journal'),
})

export const adjustPaymentInConsole = query({
  ...consoleOperation,
  id: 'console.adjustPayment',
  stepUp: true,
  method: 'POST',
  path: `${CONSOLE_API}/payments/:paymentId/adjustments`,
  tag: 'Payments',
  summary: 'Correct the amount of an accepted payment',
  description:
    'The bank says by a reference of its own that the payment should have had another amount. What is payable to the merchant changes by the difference; a repeat of the reference changes nothing. Above the limit of APPROVAL_ABOVE_RUPEES the difference waits for a second person: 202. What was adjusted of the payment before by one person counts too.',
  permission: 'finance',
  params: idParam('paymentId'),
  body: closed({
    amount: Rupees({ minimum: 0.01, description: 'Rupees that the payment should have had' }),
    reference: Type.String({
      pattern: '^[A-Za-z0-9][A-Za-z0-9 /_-]{5,63}$',
      'x-rule': 'must be the bank’s reference: 6 to 64 letters and digits',
      description: 'The bank’s reference of its correction, such as that of its letter',
    }),
    reason: Type.String({ minLength: 1, maxLength: 255, description: 'Why; it is in the journal' }),
  }),
  result: AdjustmentInConsole,
  accepted: ApprovalRecord,
  errors: [
    'payment_not_found',
    'payment_not_accepted',
    'adjustment_refused',
    'adjustment_reference_used',
    'approval_open',
    'approval_required',
  ],
  mount(services) {
    const { commands, config, database } = services
    const { run } = commands.open(adjustPayment)
    return async (input) => {
      const { amount, reason, reference: given } = input.body
      const amountPaise = readRupees('amount', amount)
      const reference = canonicalReference(given)
      const requestedAdjustment = { paymentId: input.params.paymentId, amountPaise, reference }
      const found =
        (await database.operate((tx) => findAdjusting(tx, requestedAdjustment))) ?? fail('payment_not_found')
      const { merchantId, paymentId, beforePaise, changePaise, isRepeat } = found
      const args = { merchantId, paymentId, amountPaise, reference, reason }
      if (!isRepeat) {
        const by = { actor: actorOf(input.caller), requestId: input.requestId }
        const posting = adjustmentPosting({ ...args, changePaise })
        const approval = await requestApprovalIfNeeded(services, posting, by, beforePaise)
        if (approval) return waitsForApproval(approval, services)
      }
      const details = { amount: formatRupees(amountPaise), reference, reason }
      const { adjustment } = await run(
        args,
        auditOf(merchantId, input, { action: 'payment.adjusted', target: paymentId, details }),
      )
      const wire = adjustmentToWire(adjustment, config.BUSINESS_TIME_ZONE)
      return { body: JSON.stringify({ ...wire, reason: adjustment.reason }) }
    }
  },
})
