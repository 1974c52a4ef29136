import { fail } from '@svc/contract/errors'
import { WaitingApproval } from '@svc/core/ledger/money-command'
import { acceptPayment } from '@svc/core/payments/accept-payment'
import { receiveDispute } from '@svc/core/payments/disputes/receive-dispute'
import {
  assignmentOf,
  disputeAssignmentOf,
  type Reading,
  reportsDispute,
} from '@svc/core/payments/suspense/assign-notice'
import { dismissNotice } from '@svc/core/rails/dismiss-notice'
import { findNotice } from '@svc/core/rails/find-notice'
import type { RailNotice } from '@svc/core/rails/rail-notice'
import { reopenNotice } from '@svc/core/rails/reopen-notice'
import { required } from '@svc/kernel/invariant'
import { formatRupees, readAmount } from '@svc/kernel/money'
import { valueIn } from '@svc/kernel/reading'
import { toRecord } from '@svc/server/http/resource'
import { dispute } from '@svc/server/payments/disputes'
import { railNotice } from '@svc/server/rails/rail-notices'
import type { Command } from 'commander'
import { printOutcome } from './approval-commands.ts'
import { type CommandContext, withInstallation } from './context.ts'
import { moneyActor } from './money-actor.ts'
import { addNounList, printNoun, recordAfter } from './noun-commands.ts'
import { readReason } from './read-reason.ts'
import { UsageError } from './usage-error.ts'

interface Json {
  readonly json?: boolean
}

const toWire = toRecord<RailNotice>(railNotice, 'operator')

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
  addNounList<RailNotice>(notice, railNotice, {
    description: 'list notices that wait to be assigned, newest first',
    example: 'svc admin notice list --all --q AXISN0000000042',
    only: { status: 'QUARANTINED' },
    all: 'also those that were assigned, dismissed or ignored, and repeats in other words',
  })
  notice
    .command('show <noticeId>')
    .description('show a notice with its body as the bank signed it')
    .option('--json', 'print JSON')
    .action(async (noticeId: string, { json = false }: Json) => {
      const found = await withInstallation(async ({ config, database }) => {
        const row = await database.operate((tx) => findNotice(tx, noticeId))
        return row && toWire(row, config.BUSINESS_TIME_ZONE)
      })
      if (!found)
        throw new UsageError(`There is no notice ${noticeId}. List them with: svc admin notice list --all`)
      printNoun(found, json)
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
    .action((noticeId: string, reasoned: Reasoned) => decide(noticeId, reasoned, 'dismissed'))
  notice
    .command('reopen <noticeId>')
    .description('put a notice that was dismissed by mistake back into quarantine')
    .requiredOption('--reason <text>', 'why; it is in the audit', readReason)
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      '\nExample:\n  svc admin notice reopen rnt_… --reason "the bank confirms the credit"',
    )
    .action((noticeId: string, reasoned: Reasoned) => decide(noticeId, reasoned, 'reopened'))
}

type Reasoned = Json & { readonly reason: string }

const existing = async ({ database }: CommandContext, noticeId: string): Promise<RailNotice> =>
  (await database.operate((tx) => findNotice(tx, noticeId))) ?? fail('notice_not_found')

/** Runs what an operator decides about a notice. */
async function decide(
  noticeId: string,
  { reason, json = false }: Reasoned,
  action: 'dismissed' | 'reopened',
): Promise<void> {
  const decided = await withInstallation(async (context) => {
    const actor = await moneyActor(context)
    const { tenantId } = await existing(context, noticeId)
    const args = { tenantId, noticeId, actor, reason }
    const audit = { ...args, action: `rail_notice.${action}`, target: noticeId, details: { reason } }
    const { run } = context.commands.open(action === 'dismissed' ? dismissNotice : reopenNotice)
    return toWire(await run(args, audit), context.config.BUSINESS_TIME_ZONE)
  })
  printNoun(decided, json)
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
    const notice = await existing(context, noticeId)
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
