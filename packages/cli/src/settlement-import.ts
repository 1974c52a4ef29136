import { randomBytes } from 'node:crypto'
import { idMaker } from '@svc/contract/id-kinds'
import type { FileFormat } from '@svc/core/bank-files/file-format'
import { type ReadFile, readBankFile } from '@svc/core/bank-files/read-bank-file'
import { SETTLEMENT_FIELDS, SettlementReader } from '@svc/core/bank-files/settlement-rows'
import { SettlementSummary } from '@svc/core/bank-files/settlement-summary'
import { SETTLEMENT_FORMATS } from '@svc/core/bank-files/shipped-formats'
import {
  type BatchCounts,
  SETTLEMENT_RAILS,
  type SettlementBatch,
  type SettlementRail,
} from '@svc/core/payments/settlements/batch'
import {
  countBatch,
  importSettlement,
  type SettlementImport,
} from '@svc/core/payments/settlements/import-settlement'
import { settlementBatchToWire } from '@svc/core/payments/settlements/list-batches'
import {
  previewBatch,
  type RecordBatch,
  type RecordedBatch,
  recordBatch,
} from '@svc/core/payments/settlements/record-batch'
import { formatRupees } from '@svc/kernel/money'
import { systemClock } from '@svc/kernel/time'
import { recordAudit } from '@svc/platform/audit'
import { type Command, Option } from 'commander'
import {
  type BankFileOptions,
  chooseFormat,
  fileSource,
  problemsToWire,
  readingDays,
  rejecting,
  reportProblems,
  withFileOptions,
} from './bank-file-input.ts'
import { type CommandContext, withInstallation } from './context.ts'
import { moneyActor } from './money-actor.ts'
import { printJson, printRecord } from './print.ts'
import { UsageError } from './usage-error.ts'

const { svc: SVC } = SETTLEMENT_FORMATS as Readonly<Record<'svc', FileFormat>>

interface ImportOptions extends BankFileOptions {
  readonly utr?: string
  readonly amount?: string
  readonly date?: string
  readonly unit?: 'rupees' | 'paise'
  readonly rail: SettlementRail
}

export function addSettlementImport(settlement: Command): void {
  const command = settlement
    .command('import <file>')
    .description('match a settlement file of the bank (CSV) with payments; again, it changes nothing')
    .option('--utr <column>', 'the column of the bank’s reference')
    .option('--amount <column>', 'the column of the amount')
    .option('--date <column>', 'the column of the day of settlement')
    .addOption(new Option('--unit <unit>', 'what amounts are in').choices(['rupees', 'paise']))
    .addOption(
      new Option('--rail <rail>', 'whose transfers they are: the bank’s of payments, or the card network’s')
        .choices([...SETTLEMENT_RAILS])
        .default('upi'),
    )
  withFileOptions(command, `${Object.keys(SETTLEMENT_FORMATS).join(', ')}, or a JSON file`)
    .addHelpText(
      'after',
      `
Without --format the file has the columns utr, amount and date, or those that you name; with batchUtr, valueDate,
netAmount and kind it has whole transfers of the bank. All lines are read before the first is recorded. The bank account
moves by the net amount of each transfer: lines that fit a payment, refund or dispute go to its merchant, charges to ours,
and what fits nothing waits until it does: svc admin settlement differences.

Examples:
  svc admin settlement import settlement-2026-04-01.csv --utr RRN --amount "Settled Amount" --date "Value Date"
  svc admin settlement import recon.csv --format razorpay --dry-run`,
    )
    .action(runImport)
}

/** The format, with the columns that options name in the place of its own. */
async function formatOf({ format, utr, amount, date, unit }: ImportOptions): Promise<FileFormat> {
  const chosen = (await chooseFormat(format, SETTLEMENT_FORMATS, SETTLEMENT_FIELDS)) ?? SVC
  if (amount !== undefined && chosen.sign === 'debit-credit')
    throw new UsageError('--amount names one column, and amounts of this format are in two.')
  const columns = {
    ...chosen.columns,
    ...(utr !== undefined && { reference: utr }),
    ...(amount !== undefined && { amount }),
    ...(date !== undefined && { date }),
  }
  return { ...chosen, columns, ...(unit !== undefined && { unit }) }
}

async function runImport(file: string, options: ImportOptions): Promise<void> {
  const format = await formatOf(options)
  const source = await fileSource(file)
  const reader = new SettlementReader(format, options.rail)
  const summary = new SettlementSummary()
  await withInstallation(async (context) => {
    const days = await readingDays(context)
    const reading = {
      format,
      days,
      reference: 'reference',
      read: reader.read.bind(reader),
      seen: summary.add.bind(summary),
    }
    const of = await rejecting(
      () => readBankFile(source, reading),
      'Name its columns with --utr, --amount and --date, or give --format.',
    )
    reportProblems(file, of, options)
    const fileId = `stf_${of.hash.slice(0, 26)}`
    const record = await recorderOf(context, fileId, options)
    const transfers = { rail: options.rail, fileId, linesOf: summary.linesOf.bind(summary) }
    const done = await importSettlement(record, transfers, of.rows())
    const batches: [SettlementBatch, BatchCounts][] = []
    for (const batch of done.batches) {
      const would = options.dryRun ? done.done.get(batch.batchId) : undefined
      batches.push([batch, would ?? (await countBatch(context.database, batch.batchId))])
    }
    report({ fileId, done, batches, read: of }, options)
  })
}

interface Report {
  readonly fileId: string
  readonly done: SettlementImport
  readonly batches: readonly (readonly [SettlementBatch, BatchCounts])[]
  readonly read: Pick<ReadFile<unknown>, 'skipped' | 'unreadable' | 'problems'>
}

function report({ fileId, done, batches, read }: Report, { json = false }: ImportOptions): void {
  const { conflicting, matchedPaise, batches: _batches, done: _done, ...counts } = done
  for (const { line, reference, kind, amountPaise } of conflicting)
    process.stderr.write(
      `line ${line}: ${reference ?? kind} was recorded before with another amount than ${formatRupees(amountPaise)}\n`,
    )
  const record = {
    fileId,
    ...counts,
    conflicting: conflicting.length,
    matchedAmount: formatRupees(matchedPaise),
    skipped: read.skipped,
    unreadable: read.unreadable,
  }
  if (json)
    printJson({
      ...record,
      batches: batches.map(([batch, of]) => settlementBatchToWire(batch, of)),
      problems: problemsToWire(read.problems),
    })
  else {
    for (const [batch, of] of batches) if (batch.isAwaited) process.stderr.write(`${inWords(batch, of)}\n`)
    printRecord(record, false)
  }
  if (conflicting.length > 0) process.exitCode = 1
}

const inWords = (batch: SettlementBatch, of: BatchCounts): string => {
  const { batchUtr, valueDate, netAmount, status, remainder, unmatched } = settlementBatchToWire(batch, of)
  const waiting = unmatched > 0 ? `; ${unmatched} lines fit nothing yet` : ''
  return `transfer ${batchUtr} of ${valueDate}: ${netAmount} ${status}${waiting}${remainder === '0.00' ? '' : `; ${remainder} is in no line`}`
}

/** A dry run records nothing, and needs no operator in whose name money moves. */
async function recorderOf(context: CommandContext, fileId: string, { dryRun = false }: ImportOptions) {
  const { database, commands, config } = context
  if (dryRun)
    return previewBatch({ config, database, clock: systemClock, newId: idMaker(systemClock, randomBytes) })
  const actor = await moneyActor(context)
  const entry = { actor, action: 'settlement.imported', target: fileId }
  await database.operate(async (tx) => recordAudit(tx, [entry]))
  const audit = {
    actor,
    action: 'settlement_batch.recorded',
    target: ({ batch }: RecordedBatch) => batch.batchId,
  }
  return (batch: RecordBatch) => commands.open(recordBatch).run(batch, audit)
}
