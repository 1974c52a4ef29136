import { completeRefundByOperator } from '@svc/console-api/faces/refund-operations'
import { REFUND_RUNS, REFUND_STEPS } from '@svc/core/payments/bank-runs/refund-runs'
import { type ListedRefund, refund } from '@svc/server/payments/refunds'
import type { Command } from 'commander'
import { addBankFileCommands } from './bank-file.ts'
import { addNounList, addNounShow } from './noun-commands.ts'
import { addOperation } from './operation-command.ts'
import { addResponseImport } from './response-import.ts'

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
  const flags = { noticeId: { name: 'notice' } }
  addOperation(group, completeRefundByOperator, {
    name: 'confirm',
    given: { status: 'REFUNDED', reason: undefined },
    flags,
    description:
      'record that the bank has made a refund, also one that it reported as failed, where no notice says so',
    example: 'svc admin refund confirm rfd_… --utr AXISR0000000042',
  })
  addOperation(group, completeRefundByOperator, {
    name: 'fail',
    given: { status: 'FAILED', utr: undefined },
    flags,
    description:
      'record that the bank cannot make a refund: its money is payable to the merchant again; above APPROVAL_ABOVE_RUPEES, and at any amount once it was sent, a second person approves',
    example: 'svc admin refund fail rfd_… --reason "account closed"',
  })
}
