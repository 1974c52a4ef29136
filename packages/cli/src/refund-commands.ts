import { enteredReference } from '@svc/core/ledger/entered-reference'
import { completeRefund } from '@svc/core/payments/complete-refund'
import { findRefund } from '@svc/core/payments/find-refund'
import { type MerchantRefund, merchantRefunds } from '@svc/core/payments/merchant-refund'
import { followedNotice } from '@svc/core/rails/find-notice'
import { PLATFORM_TENANT } from '@svc/core/tenants/tenant'
import { formatRupees } from '@svc/kernel/money'
import { statement } from '@svc/platform/db/statement'
import { type Command, InvalidArgumentError } from 'commander'
import { printOutcome } from './approval-commands.ts'
import { withInstallation } from './context.ts'
import { moneyActor } from './money-actor.ts'
import { printRecord, printRows } from './print.ts'
import { readCount } from './read-count.ts'
import { readReason } from './read-reason.ts'
import { addRefundFileCommands } from './refund-file.ts'
import { addRefundImport } from './refund-import.ts'
import { UsageError } from './usage-error.ts'

interface Json {
  readonly json?: boolean
}

const STATUSES = ['PENDING', 'SENT', 'REFUNDED', 'FAILED'] as const
const LIST = statement<MerchantRefund>(
  'cli_refunds',
  `select ${merchantRefunds.columns} from merchant_refunds r
   where ($1::text is null or r.merchant_id = $1) and ($2::text is null or r.status = $2)
   order by r.created_at desc, r.refund_id desc limit $3`,
)

const shown = (refund: MerchantRefund) => ({
  refundId: refund.refundId,
  merchantId: refund.merchantId,
  paymentId: refund.paymentId,
  amount: formatRupees(refund.amountPaise),
  referenceNumber: refund.referenceNumber,
  status: refund.status,
  failureReason: refund.failureReason,
  utr: refund.utr,
  runId: refund.runId,
  createdAt: refund.createdAt,
  completedAt: refund.completedAt,
  refundedLateAt: refund.refundedLateAt,
})

function readStatus(text: string): string {
  if (!STATUSES.some((status) => status === text))
    throw new InvalidArgumentError(`It must be one of ${STATUSES.join(', ')}.`)
  return text
}

export function addRefundCommands(program: Command): void {
  const refund = program
    .command('refund')
    .description('refunds by merchants: list, send to the bank, complete')
  refund
    .command('list [merchantId]')
    .description('list refunds of a merchant, or of all, newest first')
    .option('--status <status>', `only these: ${STATUSES.join(', ')}`, readStatus)
    .option('--limit <count>', 'how many', readCount, 50)
    .option('--json', 'print JSON')
    .action(async (merchantId: string | undefined, options: Json & { status?: string; limit: number }) => {
      const { status, limit, json = false } = options
      const rows = await withInstallation(({ database }) =>
        database.operate((tx) => tx.query(LIST, [merchantId, status, limit])),
      )
      printRows(rows.map(shown), json)
    })
  refund
    .command('show <refundId>')
    .description('show a refund')
    .option('--json', 'print JSON')
    .action(async (refundId: string, { json = false }: Json) => {
      const found = await withInstallation(({ database }) =>
        database.operate((tx) => findRefund(tx, refundId)),
      )
      if (!found)
        throw new UsageError(`There is no refund ${refundId}. List them with: svc admin refund list`)
      printRecord(shown(found), json)
    })
  addRefundFileCommands(refund)
  addRefundImport(refund)
  refund
    .command('confirm <refundId>')
    .description(
      'record that the bank has made a refund, also one that it reported as failed, where no notice says so',
    )
    .option('--utr <reference>', 'the bank’s own reference of the refund')
    .option('--notice <noticeId>', 'the notice in quarantine that says so')
    .option('--json', 'print JSON')
    .addHelpText('after', '\nExample:\n  svc admin refund confirm rfd_… --utr AXISR0000000042')
    .action((refundId: string, options: Outcome) => complete(refundId, options, null))
  refund
    .command('fail <refundId>')
    .description(
      'record that the bank cannot make a refund: its money is payable to the merchant again; above APPROVAL_ABOVE_RUPEES, and at any amount once it was sent, a second person approves',
    )
    .requiredOption('--reason <text>', 'why', readReason)
    .option('--notice <noticeId>', 'the notice in quarantine that says so')
    .option('--json', 'print JSON')
    .addHelpText('after', '\nExample:\n  svc admin refund fail rfd_… --reason "account closed"')
    .action((refundId: string, options: Outcome & { reason: string }) =>
      complete(refundId, options, options.reason),
    )
}

interface Outcome extends Json {
  readonly utr?: string
  readonly notice?: string
}

async function complete(
  refundId: string,
  { utr, notice, json = false }: Outcome,
  failureReason: string | null,
): Promise<void> {
  const reference = utr === undefined ? null : enteredReference(utr, 'utr')
  const completed = await withInstallation(async (context) => {
    const { commands, database } = context
    const actor = await moneyActor(context)
    const [refund, assigns] = await database.operate(async (tx) => [
      await findRefund(tx, refundId),
      notice === undefined ? undefined : await followedNotice(tx, notice, actor, 'refund_notice'),
    ])
    const outcome = { refundId, utr: reference, amountPaise: undefined, failureReason }
    return commands.open(completeRefund).run(
      { read: { outcome }, assigns },
      {
        actor,
        action: 'refund.completed',
        target: refundId,
        tenantId: refund?.merchantId ?? PLATFORM_TENANT,
      },
    )
  })
  printOutcome(completed, json, (decided) => printRecord(shown(decided.refund!), json))
}
