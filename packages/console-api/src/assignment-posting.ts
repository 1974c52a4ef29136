import { fail } from '@svc/contract/errors'
import { type Approval, findApproval, type Posting } from '@svc/core/ledger/approvals'
import { acceptPayment } from '@svc/core/payments/accept-payment'
import { assignmentOf } from '@svc/core/payments/assign-notice'
import { creditedDirectory } from '@svc/core/payments/credited-directory'
import { findNotice } from '@svc/core/rails/find-notice'
import type { RailNotice } from '@svc/core/rails/rail-notice'
import { paise } from '@svc/kernel/money'
import type { CommandAudit } from '@svc/platform/audit'
import type { Commands } from '@svc/platform/command'
import type { Database } from '@svc/platform/db/database'

interface Tools {
  readonly commands: Commands
  readonly database: Database
}

/** The posting of a notice in quarantine, as an operator reads it: of the tenant whose credit it becomes. */
export async function assignmentPosting(
  { database }: Pick<Tools, 'database'>,
  { noticeId, reason }: RailNotice,
  { read: { credit } }: ReturnType<typeof assignmentOf>,
): Promise<Posting> {
  const { amountPaise, payeeVpa, tr, utr } = credit
  const { tenantId } = await creditedDirectory(database)(credit)
  return {
    tenantId,
    kind: 'notice_assigned',
    amountPaise,
    reference: noticeId,
    request: { utr, tr, payeeVpa },
    reason: `in quarantine: ${reason}`,
  }
}

/** Assigns the notice as it was approved; nothing where this approval was posted before. */
export async function postAssignment(
  { commands, database }: Tools,
  { amountPaise, approvalId, reference, request, requestedBy, tenantId }: Approval,
  audit: CommandAudit<unknown>,
): Promise<void> {
  const notice = (await database.operate((tx) => findNotice(tx, reference))) ?? fail('notice_not_found')
  const { payeeVpa, tr, utr } = request
  const reading = {
    utr: utr ?? undefined,
    amountPaise: paise(amountPaise),
    tr: tr ?? undefined,
    payeeVpa: payeeVpa ?? undefined,
  }
  try {
    const args = assignmentOf(notice, reading, requestedBy)
    await commands.open(acceptPayment).run({ ...args, approval: { approvalId, tenantId } }, audit)
  } catch (error) {
    // A notice is assigned once: perhaps by this approval, which another process posted meanwhile.
    const { journalId } = await database.operate((tx) => findApproval(tx, approvalId))
    if (journalId === null) throw error
  }
}
