import { HOLIDAY_FIELDS, HOLIDAY_FORMAT, holidayReader } from '@svc/core/bank-files/holiday-rows'
import { readBankFile } from '@svc/core/bank-files/read-bank-file'
import {
  addBankHolidays,
  type BankHoliday,
  listBankHolidays,
  removeBankHoliday,
} from '@svc/core/ledger/bank-holidays'
import { recordAudit } from '@svc/platform/audit'
import type { Tx } from '@svc/platform/db/database'
import { type Command, InvalidArgumentError } from 'commander'
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
import { readDay } from './payout-print.ts'
import { printRecord, printRows } from './print.ts'
import { readReason } from './read-reason.ts'
import { UsageError } from './usage-error.ts'

export function addCalendarCommands(program: Command): void {
  const calendar = program
    .command('calendar')
    .description('bank holidays: the days that deadlines and payout schedules do not count')
  withFileOptions(
    calendar
      .command('import <file>')
      .description('add the bank holidays of a file (CSV); again, it changes nothing'),
    'a JSON file',
  )
    .option('--reason <text>', 'why; it is in the audit', readReason)
    .addHelpText(
      'after',
      `
The file has the columns date and name. Sundays and the second and fourth Saturday of a month are known without it. A day
that is known by another name gets the name of the file.

Example:
  svc admin calendar import holidays-2027.csv --reason "list of the Reserve Bank for Karnataka"`,
    )
    .action(runImport)
  calendar
    .command('list')
    .description('list bank holidays, oldest first')
    .option('--year <year>', 'only those of a year', readYear)
    .option('--json', 'print JSON')
    .addHelpText('after', '\nExample:\n  svc admin calendar list --year 2027')
    .action(list)
  calendar
    .command('remove <date>')
    .description('remove a bank holiday: banks are open on that day')
    .requiredOption('--reason <text>', 'why; it is in the audit', readReason)
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      '\nExample:\n  svc admin calendar remove 2027-03-22 --reason "Holi was moved to the day before"',
    )
    .action(remove)
}

function readYear(text: string): number {
  if (!/^[12][0-9]{3}$/.test(text)) throw new InvalidArgumentError('It must be a year such as 2027.')
  return Number(text)
}

interface ImportOptions extends BankFileOptions {
  readonly reason?: string
}

async function runImport(file: string, options: ImportOptions): Promise<void> {
  const { dryRun = false, json = false, reason } = options
  const format = (await chooseFormat(options.format, {}, HOLIDAY_FIELDS)) ?? HOLIDAY_FORMAT
  const source = await fileSource(file)
  const result = await withInstallation(async (context) => {
    const days = await readingDays(context)
    const reading = { format, days, reference: 'name', read: holidayReader() }
    const read = await rejecting(() => readBankFile(source, reading))
    reportProblems(file, read, options)
    const holidays: BankHoliday[] = []
    for await (const row of read.rows()) holidays.push(row)
    return {
      lines: read.lines,
      skipped: read.skipped,
      ...(await added(context, holidays, { dryRun, reason })),
    }
  })
  printRecord(result, json)
}

/** A dry run adds nothing, and needs no operator. */
async function added(
  context: CommandContext,
  holidays: readonly BankHoliday[],
  { dryRun, reason }: { readonly dryRun: boolean; readonly reason: string | undefined },
) {
  if (dryRun) return { holidays: holidays.length }
  const actor = await moneyActor(context)
  return inNameOf(context, actor, async (tx) => {
    const done = await addBankHolidays(tx, holidays, actor)
    if (done.added + done.renamed > 0)
      recordAudit(tx, [
        {
          actor,
          action: 'bank_holidays.imported',
          target: 'bank_holidays',
          details: { ...done, ...(reason !== undefined && { reason }) },
        },
      ])
    return done
  })
}

const inNameOf = <T>({ database }: CommandContext, actor: string, work: (tx: Tx) => Promise<T>): Promise<T> =>
  database.operate(work, 'read committed', { actor })

const toWire = ({ day, name }: BankHoliday) => ({ date: day, name })

async function list({ year, json = false }: { year?: number; json?: boolean }): Promise<void> {
  const found = await withInstallation(({ database }) => database.operate((tx) => listBankHolidays(tx, year)))
  printRows(found.map(toWire), json)
}

async function remove(
  text: string,
  { reason, json = false }: { readonly reason: string; readonly json?: boolean },
): Promise<void> {
  const date = readDay(text)
  const removed = await withInstallation(async (context) => {
    const actor = await moneyActor(context)
    return inNameOf(context, actor, async (tx) => {
      const found = await removeBankHoliday(tx, date)
      if (found)
        recordAudit(tx, [
          { actor, action: 'bank_holiday.removed', target: date, details: { name: found.name, reason } },
        ])
      return found
    })
  })
  if (!removed)
    throw new UsageError(`There is no bank holiday on ${date}. See them with: svc admin calendar list`)
  printRecord(toWire(removed), json)
}
