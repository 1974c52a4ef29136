import { type ListedPayment, payment } from '@svc/server/payments/payment-resource'
import type { Command } from 'commander'
import { addAdjustCommand } from './adjust-payment.ts'
import { addReturnedCommand } from './confirm-return.ts'
import { addNounList, addNounShow } from './noun-commands.ts'
import { readTenant } from './read-tenant.ts'

export function addPaymentCommands(program: Command): void {
  const group = program
    .command('payments')
    .description('list and show credits of the UPI rail, correct their amounts, record their return')
  addNounList<ListedPayment>(group, payment, {
    by: 'merchantId',
    read: readTenant,
    description:
      'list payments of a merchant, or of all, newest first; platform for credits that fit no merchant',
    example: 'svc admin payments list mer_… --status REFUND_PENDING',
  })
  addNounShow<ListedPayment>(group, payment, {
    id: 'paymentIdOrUtr',
    or: 'utr',
    description: 'show a payment, by its id or by the bank’s reference',
    example: 'svc admin payments show AXISN0000000042',
  })
  addAdjustCommand(group)
  addReturnedCommand(group)
}
