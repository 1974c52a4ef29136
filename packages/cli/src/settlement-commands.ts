import { BATCH_STATUSES, SETTLEMENT_RAILS, type SettlementRail } from '@svc/core/payments/settlements/batch'
import {
  type DifferenceKind,
  type SettlementDifference,
  settlementDifferences,
} from '@svc/core/payments/settlements/differences'
import { countBatch } from '@svc/core/payments/settlements/import-settlement'
import {
  batchLineToWire,
  findBatch,
  linesOfBatch,
  listBatches,
  settlementBatchToWire,
} from '@svc/core/payments/settlements/list-batches'
import { formatRupees } from '@svc/kernel/money'
import { type Command, InvalidArgumentError, Option } from 'commander'
import { withInstallation } from './context.ts'
import { type Printed, printJson, printTable } from './print.ts'
import { addSettlementImport } from './settlement-import.ts'
import { UsageError } from './usage-error.ts'

interface DifferencesOptions extends Printed {
  readonly days: number
}

const DAY_MS = 86_400_000
const DIFFERENCES_MAX = 10_000

const WHAT_TO_DO: Readonly<Record<DifferenceKind, string>> = {
  unknown: 'ask the bank for its notice; then import the file again',
  differs: 'compare with the bank; import the line with which it corrects its own',
  missing: 'wait for a later file, then claim it from the bank',
  remainder: 'ask the bank for the lines of this transfer that are missing',
}

export function addSettlementCommands(program: Command): void {
  const settlement = program
    .command('settlement')
    .description('what the bank has paid: import its settlement files, list what does not fit')
  addSettlementImport(settlement)
  settlement
    .command('differences')
    .description(
      'list lines without a payment, lines of another amount, and payments that the bank has not paid',
    )
    .option('--days <days>', 'payments count as missing after so many days', readDays, 2)
    .option('--csv', 'print CSV')
    .option('--json', 'print JSON')
    .addHelpText('after', '\nExample:\n  svc admin settlement differences --days 3 --csv > differences.csv')
    .action(printDifferences)
  addBatchCommands(settlement)
}

function addBatchCommands(settlement: Command): void {
  settlement
    .command('batches')
    .description('list the transfers of the bank and the card network, newest first')
    .addOption(new Option('--status <status>', 'only these').choices([...BATCH_STATUSES]))
    .addOption(new Option('--rail <rail>', 'only of this rail').choices([...SETTLEMENT_RAILS]))
    .option('--csv', 'print CSV')
    .option('--json', 'print JSON')
    .action(async ({ status, rail, ...printed }: BatchesOptions) =>
      printTable(
        await withInstallation(({ database }) =>
          database.report((tx) => listBatches(tx, { status, rail, limit: DIFFERENCES_MAX })),
        ),
        printed,
      ),
    )
  settlement
    .command('batch <id>')
    .description('show a transfer with its lines, by its id or its reference')
    .option('--csv', 'print CSV')
    .option('--json', 'print JSON')
    .addHelpText('after', '\nExample:\n  svc admin settlement batch HDFCN526001')
    .action(printBatch)
}

interface BatchesOptions extends Printed {
  readonly status?: string
  readonly rail?: SettlementRail
}

async function printBatch(id: string, printed: Printed): Promise<void> {
  const { record, lines } = await withInstallation(async ({ database }) => {
    const batch = await database.report((tx) => findBatch(tx, id))
    if (!batch) throw new UsageError(`There is no transfer ${id}: svc admin settlement batches`)
    const counts = await countBatch(database, batch.batchId)
    const found = await database.report((tx) => linesOfBatch(tx, batch.batchId, DIFFERENCES_MAX))
    return { record: settlementBatchToWire(batch, counts), lines: found.map(batchLineToWire) }
  })
  if (printed.json) printJson({ ...record, lineItems: lines })
  else printTable(lines, printed)
}

function readDays(text: string): number {
  if (!/^\d{1,4}$/.test(text)) throw new InvalidArgumentError('It must be a whole number of days.')
  return Number(text)
}

async function printDifferences({ days, ...printed }: DifferencesOptions): Promise<void> {
  const nowMs = Date.now()
  const found = await withInstallation(({ database }) =>
    database.report((tx) => settlementDifferences(tx, new Date(nowMs - days * DAY_MS), DIFFERENCES_MAX)),
  )
  printTable(
    found.map((each) => shown(each, nowMs)),
    printed,
  )
}

const rupees = (amount: bigint | null) => (amount === null ? '' : formatRupees(amount))

const shown = (
  {
    kind,
    utr,
    batchUtr,
    lineKind,
    tenantId,
    paymentId,
    bankPaise,
    paymentPaise,
    since,
  }: SettlementDifference,
  nowMs: number,
) => ({
  kind,
  utr,
  batchUtr: batchUtr ?? '',
  lineKind: lineKind ?? '',
  tenantId,
  paymentId: paymentId ?? '',
  bankAmount: rupees(bankPaise),
  paymentAmount: rupees(paymentPaise),
  days: Math.floor((nowMs - since.getTime()) / DAY_MS),
  whatToDo: WHAT_TO_DO[kind],
})
