import { newId } from '@svc/contract/id-kinds'
import { sendRefund } from '@svc/core/qr-codes/send-refund'
import { formatRupees, type Paise } from '@svc/kernel/money'
import { statement } from '@svc/platform/db/statement'
import { type Command, InvalidArgumentError, Option } from 'commander'
import { type CommandContext, cliActor, withInstallation } from './context.ts'
import { readCount } from './payment-commands.ts'
import { printRows, printTable } from './print.ts'
import { UsageError } from './usage-error.ts'

interface Pending {
  readonly refund_id: string
  readonly merchant_id: string
}
const CHUNK = 1_000
const PENDING = statement<Pending>(
  'cli_refunds_pending',
  `select r.refund_id, r.merchant_id from merchant_refunds r where r.status = 'PENDING' and r.created_at <= $1
   order by r.created_at, r.refund_id limit ${CHUNK}`,
)
const NOW = statement<{ now: Date }>('cli_refunds_now', 'select clock_timestamp() as now')

interface RunRow {
  readonly refund_id: string
  readonly amount: Paise
  readonly utr: string
  readonly payer_vpa: string | null
}
const OF_RUN = statement<RunRow>(
  'cli_refunds_of_run',
  `select r.refund_id, r.amount_paise as amount, p.utr, p.payer_vpa
   from merchant_refunds r join payments p on p.merchant_id = r.merchant_id and p.payment_id = r.payment_id
   where r.run_id = $1 order by r.refund_id`,
)
const RUNS = statement<{ run_id: string; refunds: bigint; amount: Paise; sent_at: Date }>(
  'cli_refund_runs',
  `select r.run_id, count(*) as refunds, sum(r.amount_paise)::bigint as amount, max(r.sent_at) as sent_at
   from merchant_refunds r where r.run_id is not null group by r.run_id order by r.run_id desc limit $1`,
)

/** What the file can say of a refund. No text of a merchant is among it. */
const FIELDS = {
  refundId: ({ refund_id }) => refund_id,
  amount: ({ amount }) => formatRupees(amount),
  creditUtr: ({ utr }) => utr,
  payerVpa: ({ payer_vpa }) => payer_vpa ?? '',
} as const satisfies Readonly<Record<string, (row: RunRow) => string>>
type Field = keyof typeof FIELDS
const NAMES = Object.keys(FIELDS) as Field[]

interface Column {
  readonly field: Field
  readonly header: string
}

/** `field` or `field=HEADER`, separated by commas. */
function readColumns(text: string): Column[] {
  return text.split(',').map((part) => {
    const [name = '', header = name] = part.trim().split('=')
    const field = NAMES.find((one) => one === name)
    if (!field)
      throw new InvalidArgumentError(`Each must be one of ${NAMES.join(', ')}, or such as amount=AMOUNT.`)
    return { field, header }
  })
}

interface ExportOptions {
  readonly run?: string
  readonly columns: readonly Column[]
  readonly json?: boolean
}

export function addRefundFileCommands(refund: Command): void {
  refund
    .command('export')
    .description('mark all pending refunds as sent, in a new run, and print the run as a file for the bank')
    .option('--run <runId>', 'print this earlier run again and send nothing')
    .addOption(
      new Option('--columns <list>', 'columns in order, each a field or field=HEADER')
        .default(
          NAMES.map((field): Column => ({ field, header: field })),
          NAMES.join(','),
        )
        .argParser(readColumns),
    )
    .option('--json', 'print JSON instead of CSV')
    .addHelpText(
      'after',
      '\nExample:\n  svc refund export --columns creditUtr=RRN,amount=AMOUNT,refundId=REFERENCE > refunds.csv',
    )
    .action(printRun)
  refund
    .command('runs')
    .description('list runs of refunds to the bank, newest first')
    .option('--limit <count>', 'how many', readCount, 50)
    .option('--json', 'print JSON')
    .action(async ({ limit, json = false }: { limit: number; json?: boolean }) => {
      const rows = await withInstallation(({ database }) => database.operate((tx) => tx.query(RUNS, [limit])))
      printRows(
        rows.map(({ run_id, refunds, amount, sent_at }) => ({
          runId: run_id,
          refunds: Number(refunds),
          amount: formatRupees(amount),
          sentAt: sent_at,
        })),
        json,
      )
    })
}

async function printRun({ run, columns, json = false }: ExportOptions): Promise<void> {
  const rows = await withInstallation(async (context) => {
    const runId = run ?? (await sendPending(context))
    const refunds = await context.database.operate((tx) => tx.query(OF_RUN, [runId]))
    if (run !== undefined && refunds.length === 0)
      throw new UsageError(`There is no run ${run}. List them with: svc refund runs`)
    const note =
      refunds.length === 0
        ? 'No refund is pending.'
        : `${refunds.length} refunds in run ${runId}. Print it again with: svc refund export --run ${runId}`
    process.stderr.write(`${note}\n`)
    return refunds
  })
  printTable(
    rows.map((row) => Object.fromEntries(columns.map(({ field, header }) => [header, FIELDS[field](row)]))),
    { csv: !json, json },
  )
}

/** A refund that another run takes meanwhile stays in that run. */
async function sendPending({ commands, database, keyMaker }: CommandContext): Promise<string> {
  const { run } = commands.open(sendRefund)
  const [actor, runId] = [cliActor(), newId('rfr', Date.now(), keyMaker.random)]
  const [{ now }] = (await database.operate((tx) => tx.query(NOW))) as [{ now: Date }]
  for (let pending: Pending[] = []; ; ) {
    pending = await database.operate((tx) => tx.query(PENDING, [now]))
    for (const { refund_id: refundId, merchant_id: merchantId } of pending)
      await run(
        { merchantId, refundId, runId },
        { actor, action: 'refund.sent', target: refundId, tenantId: merchantId },
      )
    if (pending.length < CHUNK) return runId
  }
}
