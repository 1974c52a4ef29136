import { adjustPaymentInConsole } from '@svc/console-api/faces/adjust-payment'
import { confirmReturnByOperator } from '@svc/console-api/faces/suspense-operations'
import { type ListedPayment, payment } from '@svc/server/payments/payment-resource'
import type { Command } from 'commander'
import { addNounList, addNounShow } from './noun-commands.ts'
import { addOperation } from './operation-command.ts'
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
  addOperation(group, adjustPaymentInConsole, {
    name: 'adjust',
    description:
      'correct the amount of an accepted payment, by its id or bank reference, as the bank says by a reference of its own',
    more: `What is payable to the merchant changes by the difference; the payment keeps the amount of its notice. A line of the
bank's settlement file that differed and now fits is matched.`,
    example:
      'svc admin payments adjust AXISN0000000042 --amount 249.00 --reference HDFCL00012345 --reason "letter of 1 April"',
  })
  addOperation(group, confirmReturnByOperator, {
    name: 'returned',
    flags: { noticeId: { name: 'notice' } },
    description:
      'record that the bank returned a credit in REFUND_PENDING, by its id or bank reference, to its payer, where no notice says so',
    example:
      'svc admin payments returned AXISN0000000042 --reference AXISR0000000043 --reason "statement of 1 April"',
  })
}
