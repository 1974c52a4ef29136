import { enteredReference } from '@svc/core/ledger/entered-reference'
import { REFUND_RUNS, REFUND_STEPS } from '@svc/core/payments/bank-runs/refund-runs'
import { completeRefund } from '@svc/core/payments/refunds/complete-refund'
import { findRefund } from '@svc/core/payments/refunds/find-refund'
import { followedNotice } from '@svc/core/rails/find-notice'
import { PLATFORM_TENANT } from '@svc/core/tenants/tenant'
import { type ListedRefund, refund } from '@svc/server/payments/refunds'
import type { Command } from 'commander'
import { printOutcome } from './approval-commands.ts'
import { addBankFileCommands } from './bank-file.ts'
import { withInstallation } from './context.ts'
import { moneyActor } from './money-actor.ts'
import { addNounList, addNounShow, printNoun, recordAfter } from './noun-commands.ts'
import { readReason } from './read-reason.ts'
import { addResponseImport } from './response-import.ts'

interface Json {
  readonly json?: boolean
}

export function addRefundCommands(program: Command): void {
  const group = program
    .command('refund')
    .description('refunds by merchants: list, send to the bank, complete')
  addNounList<ListedRefund>(group, refund, {
    by: 'merchantId',
    description: 'list refunds of a merchant, or of all, newest first',
    example: 'svc admin refund list mer_… --status SENT',
  })
  addNounShow<ListedRefund>(group, refund, {
    id: 'refundId',
    description: 'show a refund',
    example: 'svc admin refund show rfd_…',
  })
  addBankFileCommands(group, REFUND_RUNS, REFUND_STEPS, 'creditUtr=RRN,amount=AMOUNT,refundId=REFERENCE')
  addResponseImport(group, REFUND_RUNS, REFUND_STEPS, {
    outcomes: {
      refunded: 'when it was made',
      failed: 'when it could not be made; any other changes nothing',
    },
    after:
      '\nA refund that failed is payable to its merchant again; above APPROVAL_ABOVE_RUPEES a second person approves it.\n\nExample:\n  svc admin refund import response.csv --refund REFERENCE --status STATUS --refunded SUCCESS --utr RRN',
  })
  group
    .command('confirm <refundId>')
    .description(
      'record that the bank has made a refund, also one that it reported as failed, where no notice says so',
    )
    .option('--utr <reference>', 'the bank’s own reference of the refund')
    .option('--notice <noticeId>', 'the notice in quarantine that says so')
    .option('--json', 'print JSON')
    .addHelpText('after', '\nExample:\n  svc admin refund confirm rfd_… --utr AXISR0000000042')
    .action((refundId: string, options: Outcome) => complete(refundId, options, null))
  group
    .command('fail <refundId>')
    .description(
      'record that the bank cannot make a refund: its money is payable to the merchant again; above APPROVAL_ABOVE_RUPEES, and at any amount once it was sent, a second person approves',
    )
    .requiredOption('--reason <text>', 'why', readReason)
    .option('--notice <noticeId>', 'the notice in quarantine that says so')
    .option('--json', 'print JSON')
    .addHelpText('after', '\nExample:\n  svc admin refund fail rfd_… --reason "account closed"')
    .action((refundId: string, options: Outcome & { reason: string }) =>
      complete(refundId, options, options.reason),
    )
}

interface Outcome extends Json {
  readonly utr?: string
  readonly notice?: string
}

async function complete(
  refundId: string,
  { utr, notice, json = false }: Outcome,
  failureReason: string | null,
): Promise<void> {
  const reference = utr === undefined ? null : enteredReference(utr, 'utr')
  const completed = await withInstallation(async (context) => {
    const { commands, database } = context
    const actor = await moneyActor(context)
    const [found, assigns] = await database.operate(async (tx) => [
      await findRefund(tx, refundId),
      notice === undefined ? undefined : await followedNotice(tx, notice, actor, 'refund_notice'),
    ])
    const outcome = { refundId, utr: reference, amountPaise: undefined, failureReason }
    const decided = await commands.open(completeRefund).run(
      { read: { outcome }, assigns },
      {
        actor,
        action: 'refund.completed',
        target: refundId,
        tenantId: found?.merchantId ?? PLATFORM_TENANT,
      },
    )
    return recordAfter(context, refund, refundId, decided)
  })
  printOutcome(completed, json, (record) => printNoun(record, json))
}
