import { vpaTaken } from '@svc/console-api/faces/merchant-operations'
import { approveChange, type ChangeRequest, rejectChange } from '@svc/core/payments/payouts/change-requests'
import type { Tx } from '@svc/platform/db/database'
import { changeRequest, type ListedChange } from '@svc/server/payments/change-requests'
import type { Command } from 'commander'
import { withInstallation } from './context.ts'
import { moneyActor } from './money-actor.ts'
import { addNounList, printNoun, recordAfter } from './noun-commands.ts'
import { readReason } from './read-reason.ts'

interface Json {
  readonly json?: boolean
}

/** What merchants ask for by themselves, and an operator approves (decision O8). */
export function addChangeRequestCommands(program: Command): void {
  const group = program
    .command('change-request')
    .description('bank accounts, payment addresses and fees that merchants ask for: list, approve, reject')
  addNounList<ListedChange>(group, changeRequest, {
    by: 'merchantId',
    description: 'list what waits for an operator, newest first',
    example: 'svc admin change-request list --all',
    only: { status: 'PENDING' },
    all: 'also what was approved, rejected or withdrawn',
  })
  group
    .command('approve <approvalId>')
    .description(
      'set the bank account or the fee, or begin the waiting time of the payment address; who approves a bank account approves no payouts to it',
    )
    .option('--json', 'print JSON')
    .addHelpText('after', '\nExample:\n  svc admin change-request approve apv_…')
    .action((approvalId: string, { json = false }: Json) =>
      decide(approvalId, json, (tx, context) => approveChange(tx, approvalId, context)),
    )
  group
    .command('reject <approvalId>')
    .description('leave what is there; the merchant reads the reason')
    .requiredOption('--reason <text>', 'why', readReason)
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      '\nExample:\n  svc admin change-request reject apv_… --reason "the holder has another name"',
    )
    .action((approvalId: string, { reason, json = false }: Json & { readonly reason: string }) =>
      decide(approvalId, json, (tx) => rejectChange(tx, approvalId, reason)),
    )
}

async function decide(
  approvalId: string,
  json: boolean,
  work: (tx: Tx, context: Parameters<typeof approveChange>[2]) => Promise<ChangeRequest>,
): Promise<void> {
  const decided = await withInstallation(async (context) => {
    const actor = await moneyActor(context)
    const decision = (tx: Tx) => work(tx, context)
    const outcome = await context.database.operate(decision, 'read committed', { actor }).catch(vpaTaken)
    return recordAfter<ListedChange>(context, changeRequest, approvalId, outcome)
  })
  printNoun(decided, json)
}
