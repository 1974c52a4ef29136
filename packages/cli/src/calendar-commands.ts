import { removeBankHolidayInConsole, showBankHolidays } from '@svc/console-api/faces/bank-holiday-operations'
import { HOLIDAY_FIELDS, HOLIDAY_FORMAT, holidayReader } from '@svc/core/bank-files/holiday-rows'
import { readBankFile } from '@svc/core/bank-files/read-bank-file'
import { addBankHolidays, type BankHoliday } from '@svc/core/ledger/bank-holidays'
import { recordAudit } from '@svc/platform/audit'
import type { Tx } from '@svc/platform/db/database'
import type { Command } from 'commander'
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
import { addOperation } from './operation-command.ts'
import { printRecord } from './print.ts'
import { readReason } from './read-reason.ts'

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
  addOperation(calendar, showBankHolidays, {
    name: 'list',
    rows: true,
    example: 'svc admin calendar list --year 2027',
  })
  addOperation(calendar, removeBankHolidayInConsole, {
    name: 'remove',
    example: 'svc admin calendar remove 2027-03-22 --reason "Holi was moved to the day before"',
  })
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
  const work = async (tx: Tx) => {
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
  }
  return context.database.operate(work, 'read committed', { actor })
}
