import { approvePostingInConsole, rejectPosting } from '@svc/console-api/faces/approval-operations'
import { readConfig } from '@svc/contract/config'
import { WaitingApproval } from '@svc/core/ledger/money-command'
import { approval, approvalToWire, type ListedApproval } from '@svc/server/approvals/approval-record'
import type { Command } from 'commander'
import { addNounList, printNoun } from './noun-commands.ts'
import { addOperation } from './operation-command.ts'

/** Prints what a command did, or that it waits for a second person. */
export function printOutcome<D>(
  outcome: D | WaitingApproval,
  json: boolean,
  print: (decision: D) => void,
): void {
  if (!(outcome instanceof WaitingApproval)) return print(outcome)
  const { approval: waiting } = outcome
  printNoun(approvalToWire(waiting, readConfig(process.env).BUSINESS_TIME_ZONE), json)
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
  addOperation(group, approvePostingInConsole, {
    name: 'approve',
    description: 'approve a posting that another operator requested; it is posted at once',
    example: 'svc admin approval approve apv_…',
  })
  addOperation(group, rejectPosting, {
    name: 'reject',
    example: 'svc admin approval reject apv_…',
  })
}
