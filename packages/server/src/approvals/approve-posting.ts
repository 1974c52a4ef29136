import { fail } from '@svc/contract/errors'
import { type Approval, decideApproval, findApproval } from '@svc/core/ledger/approvals'
import { formatRupees } from '@svc/kernel/money'
import type { AuditedBy } from '@svc/platform/db/database'
import type { CoreServices } from '@svc/platform/services'
import { commandOf } from './approved-commands.ts'

type Tools = Pick<CoreServices, 'commands' | 'database'>

/**
 * Approves what another person requested, and runs the stored arguments through the command that waits. After a failure it
 * is approved again: it is posted once. What was entered before, say by the bank's own notice, is not posted again: its
 * approval ends as rejected, since no journal will use it.
 */
export async function approvePosting(tools: Tools, approvalId: string, by: AuditedBy): Promise<Approval> {
  const { commands, database } = tools
  const as = <T>(work: Parameters<typeof database.operate<T>>[0]) =>
    database.operate(work, 'read committed', by)
  const approved = await as((tx) => decideApproval(tx, approvalId, 'APPROVED', by.actor))
  if (approved.journalId !== null) return approved
  const find = () => database.operate((tx) => findApproval(tx, approvalId))
  const { kind, tenantId, amountPaise, reason, reference, requestedBy } = approved
  const command = commandOf(kind)
  const { approval } = command
  if (approved.arguments === null || !approval.args) return fail('approval_outdated')
  const args = { ...(approval.args.decode(approved.arguments) as object), approvalId }
  const details = { approvalId, amount: formatRupees(amountPaise), reference, reason, requestedBy }
  const audit = { ...by, action: `${kind}.posted`, target: approvalId, tenantId, details }
  try {
    await commands.open(command).run(args as never, audit)
  } catch (error) {
    // Another process may have posted this approval meanwhile.
    const now = await find()
    if (now.journalId === null) throw error
    return now
  }
  const posted = await find()
  if (posted.journalId !== null) return posted
  return as((tx) => decideApproval(tx, approvalId, 'REJECTED', by.actor))
}
