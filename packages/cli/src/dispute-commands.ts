import { closeDispute } from '@svc/core/payments/disputes/close-dispute'
import { findDispute } from '@svc/core/payments/disputes/find-dispute'
import { followedNotice } from '@svc/core/rails/find-notice'
import { dispute, type ListedDispute } from '@svc/server/payments/disputes'
import { type Command, Option } from 'commander'
import { printOutcome } from './approval-commands.ts'
import { withInstallation } from './context.ts'
import { addEvidenceCommands, missing } from './dispute-evidence-commands.ts'
import { moneyActor } from './money-actor.ts'
import { addNounList, addNounShow, printNoun, recordAfter } from './noun-commands.ts'
import { UsageError } from './usage-error.ts'

interface Json {
  readonly json?: boolean
}

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
  group
    .command('close <disputeId>')
    .description(
      'record what the network decided, where no notice says so; above APPROVAL_ABOVE_RUPEES a second person approves it',
    )
    .addOption(
      new Option('--outcome <outcome>', 'for or against the merchant')
        .choices(['WON', 'LOST'])
        .makeOptionMandatory(),
    )
    .option('--notice <noticeId>', 'the notice in quarantine that says so')
    .option('--json', 'print JSON')
    .addHelpText('after', '\nExample:\n  svc admin dispute close dsp_… --outcome WON')
    .action(close)
}

async function close(
  disputeId: string,
  { outcome, notice, json = false }: Json & { outcome: 'WON' | 'LOST'; notice?: string },
): Promise<void> {
  const ended = await withInstallation(async (context) => {
    const { commands, database } = context
    const actor = await moneyActor(context)
    const [found, assigns] = await database.operate(async (tx) => [
      await findDispute(tx, disputeId),
      notice === undefined ? undefined : await followedNotice(tx, notice, actor, 'dispute_notice'),
    ])
    if (!found) throw new UsageError(missing(disputeId))
    const { merchantId, paymentId } = found
    const decided = await commands
      .open(closeDispute)
      .run(
        { merchantId, disputeId, paymentId, outcome, assigns },
        { actor, action: 'dispute.closed', target: disputeId, tenantId: merchantId },
      )
    return recordAfter(context, dispute, disputeId, decided)
  })
  printOutcome(ended, json, (record) => printNoun(record, json))
}
