import {
  type DifferenceKind,
  importSettlement,
  type SettlementDifference,
  settlementDifferences,
} from '@svc/core/payments/import-settlement'
import { recordSettlement } from '@svc/core/payments/record-settlement'
import { formatRupees } from '@svc/kernel/money'
import { recordAudit } from '@svc/platform/audit'
import { type Command, InvalidArgumentError, Option } from 'commander'
import { withInstallation } from './context.ts'
import { moneyActor } from './money-actor.ts'
import { type Printed, printRecord, printTable } from './print.ts'
import { checkSettlementFile, type SettlementFormat, settlementLinesOf } from './settlement-file.ts'

interface ImportOptions {
  readonly utr: string
  readonly amount: string
  readonly date: string
  readonly unit: SettlementFormat['unit']
  readonly json?: boolean
}

interface DifferencesOptions extends Printed {
  readonly days: number
}

const DAY_MS = 86_400_000
const DIFFERENCES_MAX = 10_000

const WHAT_TO_DO: Readonly<Record<DifferenceKind, string>> = {
  unknown: 'ask the bank for its notice; then import the file again',
  differs: 'compare with the bank; import the line with which it corrects its own',
  missing: 'wait for a later file, then claim it from the bank',
}

export function addSettlementCommands(program: Command): void {
  const settlement = program
    .command('settlement')
    .description('what the bank has paid: import its settlement files, list what does not fit')
  settlement
    .command('import <file>')
    .description('match a settlement file of the bank (CSV) with payments; again, it changes nothing')
    .option('--utr <column>', 'the column of the bank’s reference', 'utr')
    .option('--amount <column>', 'the column of the amount', 'amount')
    .option('--date <column>', 'the column of the day of settlement', 'date')
    .addOption(
      new Option('--unit <unit>', 'what amounts are in').choices(['rupees', 'paise']).default('rupees'),
    )
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      `
All lines are checked before the first is recorded. The money of each line that fits a payment goes from the merchant's
clearing account to its bank account, in the ledger.

Example:
  svc admin settlement import settlement-2026-04-01.csv --utr RRN --amount "Settled Amount" --date "Value Date"`,
    )
    .action(runImport)
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
}

function readDays(text: string): number {
  if (!/^\d{1,4}$/.test(text)) throw new InvalidArgumentError('It must be a whole number of days.')
  return Number(text)
}

async function runImport(
  file: string,
  { utr, amount, date, unit, json = false }: ImportOptions,
): Promise<void> {
  const format = { columns: { utr, amount, date }, unit }
  const fileId = await checkSettlementFile(file, format)
  const { conflicting, matchedPaise, ...counts } = await withInstallation(async (context) => {
    const { database, commands } = context
    const actor = await moneyActor(context)
    const entry = { actor, action: 'settlement.imported', target: fileId }
    await database.operate(async (tx) => recordAudit(tx, [entry]))
    const record = commands.open(recordSettlement)
    return importSettlement({ database, record }, fileId, settlementLinesOf(file, format))
  })
  for (const line of conflicting)
    process.stderr.write(
      `line ${line.line}: ${line.utr} was recorded before with another amount than ${formatRupees(line.amountPaise)}\n`,
    )
  printRecord({ ...counts, conflicting: conflicting.length, matchedAmount: formatRupees(matchedPaise) }, json)
  if (conflicting.length > 0) process.exitCode = 1
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
  { kind, utr, tenantId, paymentId, bankPaise, paymentPaise, since }: SettlementDifference,
  nowMs: number,
) => ({
  kind,
  utr,
  tenantId,
  paymentId: paymentId ?? '',
  bankAmount: rupees(bankPaise),
  paymentAmount: rupees(paymentPaise),
  days: Math.floor((nowMs - since.getTime()) / DAY_MS),
  whatToDo: WHAT_TO_DO[kind],
})
