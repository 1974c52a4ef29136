import { type Approval, approvalStatus, decideApproval, listApprovals } from '@svc/core/ledger/approvals'
import { WaitingApproval } from '@svc/core/ledger/money-command'
import { POSTING_TITLES } from '@svc/core/ledger/posting'
import { formatRupees } from '@svc/kernel/money'
import { approvePosting } from '@svc/server/approvals/approve-posting'
import type { Command } from 'commander'
import { withInstallation } from './context.ts'
import { moneyActor } from './money-actor.ts'
import { printRecord, printRows } from './print.ts'
import { readCount } from './read-count.ts'

interface Json {
  readonly json?: boolean
}

const shown = (approval: Approval) => ({
  approvalId: approval.approvalId,
  tenantId: approval.tenantId,
  kind: approval.kind,
  title: POSTING_TITLES[approval.kind],
  status: approvalStatus(approval, new Date()),
  amount: formatRupees(approval.amountPaise),
  reference: approval.reference,
  reason: approval.reason,
  requestedBy: approval.requestedBy,
  requestedAt: approval.requestedAt,
  expiresAt: approval.expiresAt,
  decidedBy: approval.decidedBy,
  journalId: approval.journalId,
})

/** Prints what a command did, or that it waits for a second person. */
export function printOutcome<D>(
  outcome: D | WaitingApproval,
  json: boolean,
  print: (decision: D) => void,
): void {
  if (!(outcome instanceof WaitingApproval)) return print(outcome)
  const { approval } = outcome
  printRecord(shown(approval), json)
  process.stderr.write(
    `Nothing is posted yet: another operator approves it with: svc admin approval approve ${approval.approvalId}\n`,
  )
}

export function addApprovalCommands(program: Command): void {
  const approval = program
    .command('approval')
    .description('postings above APPROVAL_ABOVE_RUPEES, which wait for a second person')
  approval
    .command('list')
    .description('list the postings that wait, newest first')
    .option('--all', 'also those that were posted, rejected or have expired')
    .option('--limit <count>', 'how many', readCount, 50)
    .option('--json', 'print JSON')
    .addHelpText('after', '\nExample:\n  svc admin approval list')
    .action(async ({ all = false, limit, json = false }: Json & { all?: boolean; limit: number }) => {
      const found = await withInstallation(({ database }) =>
        database.operate((tx) => listApprovals(tx, !all, limit)),
      )
      printRows(found.map(shown), json)
    })
  approval
    .command('approve <approvalId>')
    .description('approve a posting that another operator requested; it is posted at once')
    .option('--json', 'print JSON')
    .addHelpText('after', '\nExample:\n  svc admin approval approve apv_…')
    .action((approvalId: string, { json }: Json) => decide(approvalId, 'APPROVED', json))
  approval
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
  printRecord(shown(decided), json)
}
