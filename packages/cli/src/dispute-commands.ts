import { closeDispute } from '@svc/core/payments/close-dispute'
import { DISPUTE_STATUSES, type Dispute, disputes } from '@svc/core/payments/dispute'
import { findDispute } from '@svc/core/payments/find-dispute'
import { followedNotice } from '@svc/core/rails/find-notice'
import { formatRupees } from '@svc/kernel/money'
import { statement } from '@svc/platform/db/statement'
import { type Command, Option } from 'commander'
import { printOutcome } from './approval-commands.ts'
import { withInstallation } from './context.ts'
import { moneyActor } from './money-actor.ts'
import { printRecord, printRows } from './print.ts'
import { readCount } from './read-count.ts'
import { UsageError } from './usage-error.ts'

interface Json {
  readonly json?: boolean
}

const LIST = statement<Dispute>(
  'cli_disputes',
  `select ${disputes.columns} from disputes d
   where d.merchant_id = $1 and ($2::text is null or d.status = $2)
   order by d.created_at desc, d.dispute_id desc limit $3`,
)

export const shownDispute = (dispute: Dispute) => ({
  disputeId: dispute.disputeId,
  merchantId: dispute.merchantId,
  paymentId: dispute.paymentId,
  caseReference: dispute.caseReference,
  amount: formatRupees(dispute.amountPaise),
  status: dispute.status,
  reason: dispute.reason,
  evidence: dispute.evidence,
  evidenceDueAt: dispute.evidenceDueAt,
  createdAt: dispute.createdAt,
  closedAt: dispute.closedAt,
})

const known = (dispute: Dispute | undefined, disputeId: string): Dispute => {
  if (dispute) return dispute
  throw new UsageError(
    `There is no dispute ${disputeId}. List them with: svc admin dispute list <merchantId>`,
  )
}

export function addDisputeCommands(program: Command): void {
  const dispute = program
    .command('dispute')
    .description('payments that payers dispute: list, show, record what the network decided')
  dispute
    .command('list <merchantId>')
    .description('list disputes of a merchant, newest first')
    .addOption(new Option('--status <status>', 'only these').choices(DISPUTE_STATUSES))
    .option('--limit <count>', 'how many', readCount, 50)
    .option('--json', 'print JSON')
    .addHelpText('after', '\nExample:\n  svc admin dispute list mer_… --status OPEN')
    .action(async (merchantId: string, options: Json & { status?: string; limit: number }) => {
      const { status, limit, json = false } = options
      const rows = await withInstallation(({ database }) =>
        database.operate((tx) => tx.query(LIST, [merchantId, status, limit])),
      )
      printRows(rows.map(shownDispute), json)
    })
  dispute
    .command('show <disputeId>')
    .description('show a dispute with its evidence')
    .option('--json', 'print JSON')
    .addHelpText('after', '\nExample:\n  svc admin dispute show dsp_…')
    .action(async (disputeId: string, { json = false }: Json) => {
      const found = await withInstallation(({ database }) =>
        database.operate((tx) => findDispute(tx, disputeId)),
      )
      printRecord(shownDispute(known(found, disputeId)), json)
    })
  dispute
    .command('close <disputeId>')
    .description(
      'record what the network decided, where no notice says so; above APPROVAL_ABOVE_RUPEES a second person approves that it was won',
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
    const open = known(found, disputeId)
    const { merchantId, paymentId } = open
    return commands
      .open(closeDispute)
      .run(
        { merchantId, disputeId, paymentId, outcome, assigns },
        { actor, action: 'dispute.closed', target: disputeId, tenantId: merchantId },
      )
  })
  printOutcome(ended, json, (decided) => printRecord(shownDispute(decided.dispute), json))
}
