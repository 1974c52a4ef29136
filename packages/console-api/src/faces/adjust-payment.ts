import { fail } from '@svc/contract/errors'
import { enteredReference } from '@svc/core/ledger/entered-reference'
import { adjustPayment } from '@svc/core/payments/adjustments/adjust-payment'
import { AdjustmentRecord, adjustmentToWire } from '@svc/core/payments/adjustments/payment-adjustment'
import { findAssigned } from '@svc/core/payments/suspense/find-suspense'
import { canonicalReference } from '@svc/kernel/bank-reference'
import { formatRupees } from '@svc/kernel/money'
import { ApprovalRecord, wireOrWait } from '@svc/server/approvals/approval-record'
import { Rupees, readRupees } from '@svc/server/http/fields'
import { query } from '@svc/server/http/operation'
import { auditOf } from '../as-operator.ts'
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
    reference: referenceText('The bank’s reference of its correction, such as that of its letter'),
    reason: reasonText('Why; it is in the journal'),
  }),
  result: AdjustmentInConsole,
  accepted: ApprovalRecord,
  errors: [...adjustPayment.approval.failures, 'approval_open'],
  mount(services) {
    const { commands, config, database } = services
    const { run } = commands.open(adjustPayment)
    const timeZone = config.BUSINESS_TIME_ZONE
    return async (input) => {
      const { paymentId: id } = input.params
      const { amount, reason, reference: given } = input.body
      const amountPaise = readRupees('amount', amount)
      const reference = enteredReference(given)
      const found = await database.operate((tx) => findAssigned(tx, id, canonicalReference(id)))
      const { merchantId, paymentId } = found ?? fail('payment_not_found')
      const details = { amount: formatRupees(amountPaise), reference, reason }
      const outcome = await run(
        { merchantId, paymentId, amountPaise, reference, reason },
        auditOf(merchantId, input, { action: 'payment.adjusted', target: paymentId, details }),
      )
      return wireOrWait(outcome, timeZone, ({ adjustment }) => ({
        ...adjustmentToWire(adjustment, timeZone),
        reason: adjustment.reason,
      }))
    }
  },
})
