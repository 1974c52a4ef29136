import { randomBytes } from 'node:crypto'
import { idMaker } from '@svc/contract/id-kinds'
import type { FileFormat } from '@svc/core/bank-files/file-format'
import { SETTLEMENT_FIELDS } from '@svc/core/bank-files/settlement-rows'
import { SETTLEMENT_FORMATS } from '@svc/core/bank-files/shipped-formats'
import {
  SETTLEMENT_RAILS,
  type SettlementRail,
  type settlementBatchToWire,
} from '@svc/core/payments/settlements/batch'
import {
  type ImportedSettlement,
  importedSettlementToWire,
} from '@svc/core/payments/settlements/import-settlement'
import {
  importSettlementFile,
  previewSettlementFile,
  readSettlementFile,
  type SettlementFile,
} from '@svc/core/payments/settlements/settlement-file'
import { formatRupees } from '@svc/kernel/money'
import { systemClock } from '@svc/kernel/time'
import { type Command, Option } from 'commander'
import {
  type BankFileOptions,
  chooseFormat,
  fileSource,
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
  await withInstallation(async (context) => {
    const days = await readingDays(context)
    const of = await rejecting(
      () => readSettlementFile(source, { format, rail: options.rail, days }),
      'Name its columns with --utr, --amount and --date, or give --format.',
    )
    reportProblems(file, of.read, options)
    report(await importedBy(context, of, options), options)
  })
}

/** A dry run records nothing, and needs no operator in whose name money moves. */
async function importedBy(
  context: CommandContext,
  file: SettlementFile,
  { dryRun = false }: ImportOptions,
): Promise<ImportedSettlement> {
  const { config, database } = context
  const newId = idMaker(systemClock, randomBytes)
  if (dryRun) return previewSettlementFile({ config, database, clock: systemClock, newId }, file)
  return importSettlementFile(context, file, { actor: await moneyActor(context) })
}

function report(imported: ImportedSettlement, { json = false }: ImportOptions): void {
  const { conflicting } = imported.done
  for (const { line, reference, kind, amountPaise } of conflicting)
    process.stderr.write(
      `line ${line}: ${reference ?? kind} was recorded before with another amount than ${formatRupees(amountPaise)}\n`,
    )
  const { batches, problems, waiting, ...record } = importedSettlementToWire(imported)
  if (json) printJson({ ...record, batches, waiting, problems })
  else {
    for (const [i, [{ isAwaited }]] of imported.batches.entries())
      if (isAwaited) process.stderr.write(`${inWords(batches[i]!)}\n`)
    printRecord(record, false)
  }
  for (const { amount, approvalId, batchUtr } of waiting)
    process.stderr.write(
      `transfer ${batchUtr}: ${amount} in charges and lines that fit nothing waits; another operator approves it with: svc admin approval approve ${approvalId}\n`,
    )
  if (conflicting.length > 0) process.exitCode = 1
}

type Transfer = ReturnType<typeof settlementBatchToWire>

const inWords = ({ batchUtr, valueDate, netAmount, status, remainder, unmatched }: Transfer): string => {
  const waiting = unmatched > 0 ? `; ${unmatched} lines fit nothing yet` : ''
  return `transfer ${batchUtr} of ${valueDate}: ${netAmount} ${status}${waiting}${remainder === '0.00' ? '' : `; ${remainder} is in no line`}`
}
