import { closeDisputeByOperator } from '@svc/console-api/faces/dispute-operations'
import { dispute, type ListedDispute } from '@svc/server/payments/disputes'
import type { Command } from 'commander'
import { addEvidenceCommands } from './dispute-evidence-commands.ts'
import { addNounList, addNounShow } from './noun-commands.ts'
import { addOperation } from './operation-command.ts'

export function addDisputeCommands(program: Command): void {
  const group = program
    .command('dispute')
    .description('payments that payers dispute: list, show, send evidence, record what the network decided')
  addNounList<ListedDispute>(group, dispute, {
    by: 'merchantId',
    description: 'list disputes of a merchant, or of all, newest first',
    example: 'svc admin dispute list mer_… --status OPEN',
  })
  addNounShow<ListedDispute>(group, dispute, {
    id: 'disputeId',
    description: 'show a dispute with its evidence',
    example: 'svc admin dispute show dsp_…',
  })
  addEvidenceCommands(group)
  addOperation(group, closeDisputeByOperator, {
    name: 'close',
    flags: { noticeId: { name: 'notice' } },
    description:
      'record what the network decided, where no notice says so; above APPROVAL_ABOVE_RUPEES a second person approves it',
    example: 'svc admin dispute close dsp_… --outcome WON',
  })
}
