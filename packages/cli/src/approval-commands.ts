import { readConfig } from '@svc/contract/config'
import { type Approval, decideApproval } from '@svc/core/ledger/approvals'
import { WaitingApproval } from '@svc/core/ledger/money-command'
import { approval, approvalToWire, type ListedApproval } from '@svc/server/approvals/approval-record'
import { approvePosting } from '@svc/server/approvals/approve-posting'
import type { Command } from 'commander'
import { withInstallation } from './context.ts'
import { moneyActor } from './money-actor.ts'
import { addNounList, printNoun } from './noun-commands.ts'

interface Json {
  readonly json?: boolean
}

const printApproval = (of: Approval, json: boolean): void =>
  printNoun(approvalToWire(of, readConfig(process.env).BUSINESS_TIME_ZONE), json)

/** Prints what a command did, or that it waits for a second person. */
export function printOutcome<D>(
  outcome: D | WaitingApproval,
  json: boolean,
  print: (decision: D) => void,
): void {
  if (!(outcome instanceof WaitingApproval)) return print(outcome)
  const { approval: waiting } = outcome
  printApproval(waiting, json)
  process.stderr.write(
    `Nothing is posted yet: another operator approves it with: svc admin approval approve ${waiting.approvalId}\n`,
  )
}

export function addApprovalCommands(program: Command): void {
  const group = program
    .command('approval')
    .description('postings above APPROVAL_ABOVE_RUPEES, which wait for a second person')
  addNounList<ListedApproval>(group, approval, {
    description: 'list the postings that wait, newest first',
    example: 'svc admin approval list --status ALL',
  })
  group
    .command('approve <approvalId>')
    .description('approve a posting that another operator requested; it is posted at once')
    .option('--json', 'print JSON')
    .addHelpText('after', '\nExample:\n  svc admin approval approve apv_…')
    .action((approvalId: string, { json }: Json) => decide(approvalId, 'APPROVED', json))
  group
    .command('reject <approvalId>')
    .description('reject a posting, or withdraw your own')
    .option('--json', 'print JSON')
    .addHelpText('after', '\nExample:\n  svc admin approval reject apv_…')
    .action((approvalId: string, { json }: Json) => decide(approvalId, 'REJECTED', json))
}

async function decide(approvalId: string, outcome: 'APPROVED' | 'REJECTED', json = false): Promise<void> {
  const decided = await withInstallation(async (context) => {
    const actor = await moneyActor(context)
    if (outcome === 'APPROVED') return approvePosting(context, approvalId, { actor })
    return context.database.operate(
      (tx) => decideApproval(tx, approvalId, outcome, actor),
      'read committed',
      { actor },
    )
  })
  printApproval(decided, json)
}
