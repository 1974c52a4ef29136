import { enteredReference } from '@svc/core/ledger/entered-reference'
import { confirmRefund } from '@svc/core/payments/refunds/confirm-refund'
import { findCredit } from '@svc/core/payments/suspense/find-suspense'
import { followedNotice } from '@svc/core/rails/find-notice'
import { canonicalReference } from '@svc/kernel/bank-reference'
import { formatRupees } from '@svc/kernel/money'
import type { Command } from 'commander'
import { withInstallation } from './context.ts'
import { moneyActor } from './money-actor.ts'
import { printRecord } from './print.ts'
import { readReason } from './read-reason.ts'
import { UsageError } from './usage-error.ts'

interface Options {
  readonly reference?: string
  readonly reason: string
  readonly notice?: string
  readonly json?: boolean
}

export function addReturnedCommand(payment: Command): void {
  payment
    .command('returned <paymentIdOrUtr>')
    .description(
      'record that the bank returned a credit in REFUND_PENDING to its payer, where no notice says so',
    )
    .requiredOption('--reason <text>', 'how you know; it is in the audit', readReason)
    .option('--reference <reference>', 'the bank’s own reference of the return; it is in the audit')
    .option('--notice <noticeId>', 'the notice in quarantine that says so')
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      '\nExample:\n  svc admin payments returned AXISN0000000042 --reference AXISR0000000043 --reason "statement of 1 April"',
    )
    .action(confirm)
}

async function confirm(id: string, { reason, notice, json = false, ...options }: Options): Promise<void> {
  const details = {
    reason,
    ...(options.reference !== undefined && { reference: enteredReference(options.reference, '--reference') }),
  }
  const returned = await withInstallation(async (context) => {
    const { commands, database } = context
    const actor = await moneyActor(context)
    const [found, assigns] = await database.operate(async (tx) => [
      await findCredit(tx, id, canonicalReference(id)),
      notice === undefined ? undefined : await followedNotice(tx, notice, actor, 'refund_notice'),
    ])
    if (!found)
      throw new UsageError(`There is no payment ${id}. List them with: svc admin payments list <merchantId>`)
    const { merchantId: tenantId, paymentId: target, utr } = found
    const decided = await commands
      .open(confirmRefund)
      .run(
        { credit: { utr, amountPaise: undefined }, assigns },
        { actor, action: 'payment.returned', target, tenantId, details },
      )
    return decided.payment!
  })
  printRecord(
    {
      paymentId: returned.paymentId,
      merchantId: returned.merchantId,
      utr: returned.utr,
      amount: formatRupees(returned.amountPaise),
      status: returned.status,
      refundedAt: returned.refundedAt,
    },
    json,
  )
}
