import type { FileFormat } from '@svc/core/bank-files/file-format'
import { readBankFile } from '@svc/core/bank-files/read-bank-file'
import { SETTLEMENT_FIELDS, SettlementReader, type SettlementRow } from '@svc/core/bank-files/settlement-rows'
import { type Batch, SettlementSummary } from '@svc/core/bank-files/settlement-summary'
import { SETTLEMENT_FORMATS } from '@svc/core/bank-files/shipped-formats'
import { importSettlement, previewOf } from '@svc/core/payments/import-settlement'
import { recordSettlement } from '@svc/core/payments/record-settlement'
import type { FileLine } from '@svc/core/payments/settlement-line'
import { formatRupees } from '@svc/kernel/money'
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
}

export function addSettlementImport(settlement: Command): void {
  const command = settlement
    .command('import <file>')
    .description('match a settlement file of the bank (CSV) with payments; again, it changes nothing')
    .option('--utr <column>', 'the column of the bank’s reference')
    .option('--amount <column>', 'the column of the amount')
    .option('--date <column>', 'the column of the day of settlement')
    .addOption(new Option('--unit <unit>', 'what amounts are in').choices(['rupees', 'paise']))
  withFileOptions(command, `${Object.keys(SETTLEMENT_FORMATS).join(', ')}, or a JSON file`)
    .addHelpText(
      'after',
      `
Without --format the file has the columns utr, amount and date, or those that you name. All lines are read before the
first is recorded. The money of each line that fits a payment goes from the merchant's clearing account to its bank
account, in the ledger. Refunds, disputes and charges of a net settlement are listed and not booked.

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
  const reader = new SettlementReader(format)
  const summary = new SettlementSummary()
  const { read, done } = await withInstallation(async (context) => {
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
    const lines = paymentsOf(of.rows())
    return { read: of, done: await importSettlement({ database: context.database, record }, fileId, lines) }
  })
  const { conflicting, matchedPaise, ...counts } = done
  for (const line of conflicting)
    process.stderr.write(
      `line ${line.line}: ${line.utr} was recorded before with another amount than ${formatRupees(line.amountPaise)}\n`,
    )
  if (!options.json) printOthers(summary)
  const record = {
    ...counts,
    conflicting: conflicting.length,
    matchedAmount: formatRupees(matchedPaise),
    notBooked: summary.notBooked,
    skipped: read.skipped,
    unreadable: read.unreadable,
  }
  if (options.json)
    printJson({
      ...record,
      others: summary.others.map(otherToWire),
      batches: summary.batches.map(batchToWire),
      problems: problemsToWire(read.problems),
    })
  else printRecord(record, false)
  if (conflicting.length > 0) process.exitCode = 1
}

/** A dry run records nothing, and needs no operator in whose name money moves. */
async function recorderOf(context: CommandContext, fileId: string, { dryRun = false }: ImportOptions) {
  const { database, commands } = context
  if (dryRun) return previewOf(database)
  const actor = await moneyActor(context)
  const entry = { actor, action: 'settlement.imported', target: fileId }
  await database.operate(async (tx) => recordAudit(tx, [entry]))
  return (args: Parameters<ReturnType<typeof previewOf>>[0]) => commands.open(recordSettlement).run(args)
}

async function* paymentsOf(rows: AsyncIterable<SettlementRow>): AsyncGenerator<FileLine> {
  for await (const { kind, line, reference, amountPaise, settledOn } of rows)
    if (kind === 'payment' && reference !== undefined) yield { utr: reference, line, amountPaise, settledOn }
}

const OTHERS_SHOWN = 20

function printOthers({ others, notBooked, batches }: SettlementSummary): void {
  const shown = others.slice(0, OTHERS_SHOWN).map((row) => {
    const { kind, reference, amount } = otherToWire(row)
    return `line ${row.line}: ${kind.replace('_', ' ')}${reference === '' ? '' : ` ${reference}`} of ${amount} is not booked`
  })
  if (notBooked > OTHERS_SHOWN) shown.push(`and more: ${notBooked} lines are not booked`)
  for (const batch of batches) {
    const { batchUtr, valueDate, lines, total, remainder } = batchToWire(batch)
    shown.push(
      `transfer ${batchUtr} of ${valueDate}: ${lines} lines, ${total}${remainder === '' || remainder === '0.00' ? '' : `; ${remainder} of its net amount is in no line`}`,
    )
  }
  if (shown.length > 0) process.stderr.write(`${shown.join('\n')}\n`)
}

const otherToWire = ({ line, kind, reference, amountPaise, settledOn, batchUtr }: SettlementRow) => ({
  line,
  kind,
  reference: reference ?? '',
  amount: formatRupees(amountPaise),
  date: settledOn,
  batchUtr: batchUtr ?? '',
})

const batchToWire = ({ batchUtr, valueDate, lines, totalPaise, netPaise }: Batch) => ({
  batchUtr,
  valueDate,
  lines,
  total: formatRupees(totalPaise),
  netAmount: netPaise === undefined ? '' : formatRupees(netPaise),
  remainder: netPaise === undefined ? '' : formatRupees(netPaise - totalPaise),
})
