import { enteredReference } from '@svc/core/ledger/entered-reference'
import { adjustPayment } from '@svc/core/payments/adjustments/adjust-payment'
import type { PaymentAdjustment } from '@svc/core/payments/adjustments/payment-adjustment'
import { findAssigned } from '@svc/core/payments/suspense/find-suspense'
import { canonicalReference } from '@svc/kernel/bank-reference'
import { formatRupees, readAmount } from '@svc/kernel/money'
import { valueIn } from '@svc/kernel/reading'
import type { Command } from 'commander'
import { printOutcome } from './approval-commands.ts'
import { withInstallation } from './context.ts'
import { moneyActor } from './money-actor.ts'
import { printRecord } from './print.ts'
import { readReason } from './read-reason.ts'
import { UsageError } from './usage-error.ts'

interface Options {
  readonly amount: string
  readonly reference: string
  readonly reason: string
  readonly json?: boolean
}

const shown = (adjustment: PaymentAdjustment) => ({
  adjustmentId: adjustment.adjustmentId,
  paymentId: adjustment.paymentId,
  merchantId: adjustment.merchantId,
  amount: formatRupees(adjustment.amountPaise),
  change: formatRupees(adjustment.changePaise),
  reference: adjustment.reference,
  reason: adjustment.reason,
  createdAt: adjustment.createdAt,
})

export function addAdjustCommand(payment: Command): void {
  payment
    .command('adjust <paymentIdOrUtr>')
    .description('correct the amount of an accepted payment, as the bank says by a reference of its own')
    .requiredOption('--amount <rupees>', 'what the payment should have had')
    .requiredOption('--reference <reference>', 'the bank’s reference of its correction; it is entered once')
    .requiredOption('--reason <text>', 'why; it is in the journal', readReason)
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      `
What is payable to the merchant changes by the difference; the payment keeps the amount of its notice. A line of the
bank's settlement file that differed and now fits is matched.

Example:
  svc admin payments adjust AXISN0000000042 --amount 249.00 --reference HDFCL00012345 --reason "letter of 1 April"`,
    )
    .action(adjust)
}

async function adjust(id: string, { json = false, ...options }: Options): Promise<void> {
  const amountPaise = valueIn(readAmount(options.amount))
  if (!amountPaise) throw new UsageError('--amount must be rupees above 0, with at most two decimals')
  const reference = enteredReference(options.reference, '--reference')
  const { reason } = options
  const outcome = await withInstallation(async (context) => {
    const actor = await moneyActor(context)
    const found = await context.database.operate((tx) => findAssigned(tx, id, canonicalReference(id)))
    if (!found)
      throw new UsageError(`There is no payment ${id}. List them with: svc admin payments list <merchantId>`)
    const { merchantId, paymentId } = found
    return context.commands.open(adjustPayment).run(
      { merchantId, paymentId, amountPaise, reference, reason },
      {
        actor,
        action: 'payment.adjusted',
        target: paymentId,
        tenantId: merchantId,
        details: { amount: formatRupees(amountPaise), reference, reason },
      },
    )
  })
  printOutcome(outcome, json, ({ adjustment }) => printRecord(shown(adjustment), json))
}
