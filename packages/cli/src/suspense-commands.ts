import { WaitingApproval } from '@svc/core/ledger/money-command'
import type { Payment } from '@svc/core/payments/payment'
import { findAssignment, findCredit } from '@svc/core/payments/suspense/find-suspense'
import { resolveSuspense } from '@svc/core/payments/suspense/resolve-suspense'
import { unassignCredit } from '@svc/core/payments/suspense/unassign-credit'
import { canonicalReference } from '@svc/kernel/bank-reference'
import { type ListedPayment, payment } from '@svc/server/payments/payment-resource'
import type { Command } from 'commander'
import { printOutcome } from './approval-commands.ts'
import { type CommandContext, withInstallation } from './context.ts'
import { moneyActor } from './money-actor.ts'
import { addNounList, printNoun, recordAfter } from './noun-commands.ts'
import { readReason } from './read-reason.ts'
import { requireMerchant } from './require-merchant.ts'
import { UsageError } from './usage-error.ts'

interface Json {
  readonly json?: boolean
}

const REASON = ['--reason <text>', 'why; it is in the journal', readReason] as const

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
  suspense
    .command('assign <paymentIdOrUtr>')
    .description('assign a credit to a merchant, who is paid for it')
    .requiredOption('--merchant <merchantId>', 'whose it is')
    .requiredOption(...REASON)
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      '\nExample:\n  svc admin suspense assign pay_… --merchant mer_… --reason "till 4, by phone"',
    )
    .action((id: string, { merchant, reason, json }: Json & { merchant: string; reason: string }) =>
      resolve(id, merchant, reason, json),
    )
  suspense
    .command('unassign <paymentIdOrUtr>')
    .description('take an assignment back, also of a notice, until its money is paid out or refunded')
    .requiredOption(...REASON)
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      '\nExample:\n  svc admin suspense unassign pay_… --reason "the till was of another shop"',
    )
    .action((id: string, { reason, json }: Json & { reason: string }) => unassign(id, reason, json))
  suspense
    .command('return <paymentIdOrUtr>')
    .description(
      'mark a credit to be returned to its payer; a notice of the bank ends it, or svc admin payments returned',
    )
    .requiredOption(...REASON)
    .option('--json', 'print JSON')
    .addHelpText('after', '\nExample:\n  svc admin suspense return pay_… --reason "payer asked for it"')
    .action((id: string, { reason, json }: Json & { reason: string }) => resolve(id, null, reason, json))
}

const paymentAfter = (
  context: CommandContext,
  outcome: WaitingApproval | { readonly payment: Payment },
): Promise<WaitingApproval | object> => {
  const id = outcome instanceof WaitingApproval ? '' : outcome.payment.paymentId
  return recordAfter<ListedPayment>(context, payment, id, outcome)
}

async function resolve(id: string, merchantId: string | null, reason: string, json = false): Promise<void> {
  const outcome = await withInstallation(async (context) => {
    const actor = await moneyActor(context)
    const found = await context.database.operate(async (tx) => {
      if (merchantId !== null) await requireMerchant(tx, merchantId)
      return findCredit(tx, id, canonicalReference(id))
    })
    if (!found) throw new UsageError(`There is no payment ${id}. List them with: svc admin suspense list`)
    const { isReadByHand, merchantId: tenantId, paymentId } = found
    const action = merchantId === null ? 'suspense.returned' : 'suspense.assigned'
    const args = { tenantId, paymentId, merchantId, isReadByHand, reason }
    const audit = { actor, action, target: paymentId, tenantId }
    return paymentAfter(context, await context.commands.open(resolveSuspense).run(args, audit))
  })
  printOutcome(outcome, json, (record) => printNoun(record, json))
}

async function unassign(id: string, reason: string, json = false): Promise<void> {
  const outcome = await withInstallation(async (context) => {
    const actor = await moneyActor(context)
    const found = await context.database.operate((tx) => findAssignment(tx, id, canonicalReference(id)))
    if (!found) throw new UsageError(`There is no payment ${id}. List them with: svc admin payments list`)
    const { tenantId, paymentId } = found
    const audit = { actor, action: 'suspense.unassigned', target: paymentId, tenantId }
    const { run } = context.commands.open(unassignCredit)
    return paymentAfter(context, await run({ ...found, reason }, audit))
  })
  printOutcome(outcome, json, (record) => printNoun(record, json))
}
