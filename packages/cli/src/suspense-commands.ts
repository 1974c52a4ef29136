import { assignPayment, returnPayment, unassignPayment } from '@svc/console-api/faces/suspense-operations'
import { type ListedPayment, payment } from '@svc/server/payments/payment-resource'
import type { Command } from 'commander'
import { addNounList } from './noun-commands.ts'
import { addOperation } from './operation-command.ts'

export function addSuspenseCommands(program: Command): void {
  const suspense = program
    .command('suspense')
    .description(
      'credits that fit no QR code: list them, assign them to a merchant and take that back, return them',
    )
  addNounList<ListedPayment>(suspense, payment, {
    only: { status: 'SUSPENSE' },
    description:
      'list the credits in suspense, newest first; those with the merchantId house, the platform, fit no merchant',
    example: 'svc admin suspense list',
  })
  addOperation(suspense, assignPayment, {
    name: 'assign',
    flags: { merchantId: { name: 'merchant', description: 'whose it is' } },
    description: 'assign a credit, by its id or bank reference, to a merchant, who is paid for it',
    example: 'svc admin suspense assign pay_… --merchant mer_… --reason "till 4, by phone"',
  })
  addOperation(suspense, unassignPayment, {
    name: 'unassign',
    description: 'take an assignment back, also of a notice, until its money is paid out or refunded',
    example: 'svc admin suspense unassign pay_… --reason "the till was of another shop"',
  })
  addOperation(suspense, returnPayment, {
    name: 'return',
    description:
      'mark a credit to be returned to its payer; a notice of the bank ends it, or svc admin payments returned',
    example: 'svc admin suspense return pay_… --reason "payer asked for it"',
  })
}
