import { fail } from '@svc/contract/errors'
import { WaitingApproval } from '@svc/core/ledger/money-command'
import { acceptPayment } from '@svc/core/payments/accept-payment'
import {
  assignmentOf,
  disputeAssignmentOf,
  type Reading,
  reportsDispute,
} from '@svc/core/payments/assign-notice'
import { receiveDispute } from '@svc/core/payments/receive-dispute'
import { dismissNotice } from '@svc/core/rails/dismiss-notice'
import { findNotice } from '@svc/core/rails/find-notice'
import { type RailNotice, railNotices } from '@svc/core/rails/rail-notice'
import { reopenNotice } from '@svc/core/rails/reopen-notice'
import { required } from '@svc/kernel/invariant'
import { formatRupees, readAmount } from '@svc/kernel/money'
import { valueIn } from '@svc/kernel/reading'
import { statement } from '@svc/platform/db/statement'
import { dispute } from '@svc/server/payments/disputes'
import type { Command } from 'commander'
import { printOutcome } from './approval-commands.ts'
import { type CommandContext, withInstallation } from './context.ts'
import { moneyActor } from './money-actor.ts'
import { printNoun, recordAfter } from './noun-commands.ts'
import { printRecord, printRows } from './print.ts'
import { readCount } from './read-count.ts'
import { readReason } from './read-reason.ts'
import { UsageError } from './usage-error.ts'

interface Json {
  readonly json?: boolean
}

const LIST = statement<RailNotice>(
  'cli_rail_notices',
  `select ${railNotices.columns} from rail_notices n where $1 or n.status = 'QUARANTINED'
   order by n.received_at desc, n.notice_id desc limit $2`,
)

const shown = (notice: RailNotice) => ({
  noticeId: notice.noticeId,
  status: notice.status,
  reason: notice.reason,
  field: notice.field,
  detail: notice.detail,
  utr: notice.utr,
  paymentId: notice.paymentId,
  cardAccountId: notice.cardAccountId,
  flags: notice.flags.join(' ') || null,
  receivedAt: notice.receivedAt,
  assignedBy: notice.assignedBy,
  dismissal: notice.dismissal,
})

interface AssignOptions extends Json {
  readonly utr?: string
  readonly amount?: string
  readonly tr?: string
  readonly payeeVpa?: string
}

export function addNoticeCommands(program: Command): void {
  const notice = program
    .command('notice')
    .description('list, show, assign, dismiss and reopen notices of the bank that are or were in quarantine')
  notice
    .command('list')
    .description('list notices that wait to be assigned, newest first')
    .option('--all', 'also those that were assigned, dismissed or ignored, and repeats in other words')
    .option('--limit <count>', 'how many', readCount, 50)
    .option('--json', 'print JSON')
    .action(async ({ all = false, limit, json = false }: Json & { all?: boolean; limit: number }) => {
      const rows = await withInstallation(({ database }) =>
        database.operate((tx) => tx.query(LIST, [all, limit])),
      )
      printRows(rows.map(shown), json)
    })
  notice
    .command('show <noticeId>')
    .description('show a notice with its body as the bank signed it')
    .option('--json', 'print JSON')
    .action(async (noticeId: string, { json = false }: Json) => {
      const found = await withInstallation(({ database }) =>
        database.operate((tx) => findNotice(tx, noticeId)),
      )
      if (!found)
        throw new UsageError(`There is no notice ${noticeId}. List them with: svc admin notice list --all`)
      printRecord({ ...shown(found), body: found.body.toString('utf8') }, json)
    })
  notice
    .command('assign <noticeId>')
    .description(
      'record the payment that a notice in quarantine reports; it follows the rules of any credit. ' +
        'Above APPROVAL_ABOVE_RUPEES it waits for a second person. A notice of a dispute is carried out again as the bank signed it, without further options',
    )
    .option('--utr <reference>', 'the bank’s reference; required for a payment')
    .option('--amount <rupees>', 'such as 249.50; required for a payment')
    .option('--tr <reference>', 'reference of the QR code')
    .option('--payee-vpa <vpa>', 'or the address of the merchant whom it is for')
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      '\nExamples:\n  svc admin notice assign rnt_… --utr AXISN0000000042 --amount 249.50 --tr SVC…\n' +
        '  svc admin notice assign rnt_…    # a notice of a dispute',
    )
    .action(assign)
  addEndings(notice)
}

function addEndings(notice: Command): void {
  notice
    .command('dismiss <noticeId>')
    .description('end a notice in quarantine without effect: it reports nothing that is to be recorded')
    .requiredOption('--reason <text>', 'why; it is in the audit', readReason)
    .option('--json', 'print JSON')
    .addHelpText('after', '\nExample:\n  svc admin notice dismiss rnt_… --reason "the bank sent a test"')
    .action(dismiss)
  notice
    .command('reopen <noticeId>')
    .description('put a notice that was dismissed by mistake back into quarantine')
    .requiredOption('--reason <text>', 'why; it is in the audit', readReason)
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      '\nExample:\n  svc admin notice reopen rnt_… --reason "the bank confirms the credit"',
    )
    .action(reopen)
}

async function dismiss(noticeId: string, { reason, json = false }: Json & { reason: string }): Promise<void> {
  const dismissed = await withInstallation(async (context) => {
    const { commands, database } = context
    const actor = await moneyActor(context)
    const { tenantId } =
      (await database.operate((tx) => findNotice(tx, noticeId))) ?? fail('notice_not_found')
    const audit = { actor, action: 'rail_notice.dismissed', target: noticeId, tenantId, details: { reason } }
    return commands.open(dismissNotice).run({ tenantId, noticeId, actor, reason }, audit)
  })
  printRecord(shown(dismissed), json)
}

async function reopen(noticeId: string, { reason, json = false }: Json & { reason: string }): Promise<void> {
  const reopened = await withInstallation(async (context) => {
    const { commands, database } = context
    const actor = await moneyActor(context)
    const { tenantId } =
      (await database.operate((tx) => findNotice(tx, noticeId))) ?? fail('notice_not_found')
    const audit = { actor, action: 'rail_notice.reopened', target: noticeId, tenantId, details: { reason } }
    return commands.open(reopenNotice).run({ tenantId, noticeId }, audit)
  })
  printRecord(shown(reopened), json)
}

async function assign(
  noticeId: string,
  { utr, amount, tr, payeeVpa, json = false }: AssignOptions,
): Promise<void> {
  const amountPaise = amount === undefined ? undefined : valueIn(readAmount(amount))
  if (amount !== undefined && !amountPaise)
    throw new UsageError('--amount must be rupees above 0, with at most two decimals')
  const outcome = await withInstallation(async (context) => {
    const actor = await moneyActor(context)
    const notice =
      (await context.database.operate((tx) => findNotice(tx, noticeId))) ?? fail('notice_not_found')
    const reading = { utr, amountPaise, tr, payeeVpa }
    if (reportsDispute(notice)) return carryOutAgain(context, notice, reading, actor)
    if (utr === undefined || amountPaise === undefined)
      throw new UsageError('Give --utr and --amount: the notice does not report a dispute.')
    return recordPayment(context, notice, reading, actor)
  })
  printOutcome(outcome, json, (assigned) => printNoun(assigned, json))
}

const auditOf = ({ noticeId, tenantId }: RailNotice, actor: string) => ({
  actor,
  action: 'rail_notice.assigned',
  target: noticeId,
  tenantId,
})

async function recordPayment(context: CommandContext, notice: RailNotice, reading: Reading, actor: string) {
  const args = assignmentOf(notice, reading, actor)
  const outcome = await context.commands.open(acceptPayment).run(args, auditOf(notice, actor))
  if (outcome instanceof WaitingApproval) return outcome
  const { paymentId, merchantId, status, reason, amountPaise } = outcome.payment!
  return { paymentId, merchantId, amount: formatRupees(amountPaise), status, reason }
}

async function carryOutAgain(context: CommandContext, notice: RailNotice, reading: Reading, actor: string) {
  const args = disputeAssignmentOf(notice, reading, actor)
  const received = await context.commands.open(receiveDispute).run(args, auditOf(notice, actor))
  const { disputeId } = required(received.dispute, 'an assigned notice has its dispute')
  return recordAfter(context, dispute, disputeId, received)
}
