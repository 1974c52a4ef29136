import { randomBytes } from 'node:crypto'
import {
  readStatement,
  STATEMENT_CSV_FORMATS,
  STATEMENT_FIELDS,
  STATEMENT_MESSAGES,
  type StatementFormat,
} from '@svc/core/bank-files/statement-file'
import { importStatement, importToWire, previewStatement } from '@svc/core/statements/import-statement'
import type { MatchTools } from '@svc/core/statements/match-lines'
import type { Command } from 'commander'
import { chooseFormat, fileSource, readingDays, rejecting } from './bank-file-input.ts'
import { type CommandContext, cliActor, withInstallation } from './context.ts'
import { moneyActor } from './money-actor.ts'
import { printRecord } from './print.ts'

interface ImportOptions {
  readonly account: string
  readonly format?: string
  readonly dryRun?: boolean
  readonly json?: boolean
}

export function addStatementImport(statement: Command): void {
  statement
    .command('import <file>')
    .description('record the lines of a bank statement that no earlier one had, and match them')
    .requiredOption('--account <bankAccountId>', 'the account that it is of')
    .option(
      '--format <format>',
      'how the file is written: csv, mt940, camt053 or the path of a JSON file; by default as it begins',
    )
    .option('--dry-run', 'print what would be done; record nothing')
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      `
The columns of a CSV file are date, amount, reference, narration and balance: signed, the balance after the line. A
statement whose opening balance is not the last closing one, or whose balances do not follow, is refused with its line.
Statements may overlap: only lines that no earlier one had are recorded.

Examples:
  svc admin statement import escrow-2026-04-01.csv --account bac_…
  svc admin statement import escrow.sta --account bac_… --format mt940 --dry-run`,
    )
    .action(runImport)
}

/** What matching works with, for a command. */
const matchTools = ({ config }: CommandContext): MatchTools => ({
  random: randomBytes,
  nowMs: () => Date.now(),
  timeZone: config.BUSINESS_TIME_ZONE,
})

const isMessage = (format: string | undefined): format is (typeof STATEMENT_MESSAGES)[number] =>
  STATEMENT_MESSAGES.some((message) => message === format)

const formatOf = (given: string | undefined): Promise<StatementFormat | undefined> =>
  isMessage(given) ? Promise.resolve(given) : chooseFormat(given, STATEMENT_CSV_FORMATS, STATEMENT_FIELDS)

async function runImport(file: string, options: ImportOptions): Promise<void> {
  const { account: bankAccountId, dryRun = false, json = false } = options
  const format = await formatOf(options.format)
  const source = await fileSource(file)
  const done = await withInstallation(async (context) => {
    const days = await readingDays(context)
    return rejecting(async () => {
      const read = await readStatement(source, format, days)
      const tools = { database: context.database, ...matchTools(context) }
      if (dryRun) return previewStatement(tools, read, { bankAccountId, by: cliActor() })
      return importStatement(tools, read, { bankAccountId, by: await moneyActor(context) })
    })
  })
  printRecord(importToWire(done), json)
}
