import { problemsToWire } from '@svc/core/bank-files/read-bank-file'
import { RESPONSE_FIELDS } from '@svc/core/bank-files/response-rows'
import type { AnyBankRunSteps, AnyBankRuns } from '@svc/core/payments/bank-runs/bank-run'
import {
  formatOf,
  previewed,
  type ResponseColumns,
  type ResponseResult,
  readResponses,
  recorded,
  usualWords,
} from '@svc/core/payments/bank-runs/responses'
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
import { withInstallation } from './context.ts'
import { moneyActor } from './money-actor.ts'
import { printRows } from './print.ts'

/** The columns that a file may have, and the words of outcomes, each an option. */
type ImportOptions = BankFileOptions & Readonly<Record<string, string | boolean | undefined>>

interface ImportTexts {
  /** Of each outcome, what its words say. */
  readonly outcomes: Readonly<Record<string, string>>
  readonly after: string
}

/** `import` records what the bank says of what was sent to it. */
export function addResponseImport(
  group: Command,
  of: AnyBankRuns,
  steps: AnyBankRunSteps,
  { outcomes, after }: ImportTexts,
): void {
  const { name } = of
  const command = group
    .command('import <file>')
    .description(`record what the bank says of ${name}s (CSV); again, it changes nothing`)
    .option(`--${name} <column>`, 'the column of our reference', `${name}Id`)
    .option('--status <column>', 'the column of the outcome', 'status')
  for (const [outcome, words] of Object.entries(usualWords(of)))
    command.option(
      `--${outcome} <values>`,
      `what the outcome is called ${outcomes[outcome]}, separated by commas, in any case`,
      words,
    )
  command
    .option('--utr <column>', 'the column of the bank’s own reference', 'utr')
    .option('--reason <column>', 'the column that says why it could not be made', 'reason')
    .option(
      '--amount <column>',
      `the column of the amount; where the file has it, it must be that of the ${name}`,
      'amount',
    )
  withFileOptions(command, 'a JSON file')
    .addHelpText('after', after)
    .action((file: string, options: ImportOptions) => importResponses(file, options, { of, steps }))
}

/** Reads a file of responses whole, then records them one by one. */
async function importResponses(
  file: string,
  options: ImportOptions,
  { of, steps }: { readonly of: AnyBankRuns; readonly steps: AnyBankRunSteps },
): Promise<void> {
  const idName = `${of.name}Id`
  const option = (name: string) => String(options[name])
  const columns: ResponseColumns = {
    id: option(of.name),
    status: option('status'),
    utr: option('utr'),
    reason: option('reason'),
    amount: option('amount'),
  }
  const words = Object.fromEntries(Object.keys(of.outcomes).map((outcome) => [outcome, option(outcome)]))
  const format = (await chooseFormat(options.format, {}, RESPONSE_FIELDS)) ?? formatOf(columns)
  const source = await fileSource(file)
  const rows = await withInstallation(async (context) => {
    const actor = options.dryRun ? undefined : await moneyActor(context)
    const days = await readingDays(context)
    const read = await rejecting(
      () => readResponses(of, source, { words, format, days }),
      `Name its columns with --${of.name}, --status and --utr, or give --format.`,
    )
    reportProblems(file, read, options)
    const results: ResponseResult[] = []
    const done =
      actor === undefined ? previewed(of, context.database, read) : recorded(steps, context, read, { actor })
    for await (const result of done) results.push(result)
    if (results.some(({ isDone }) => !isDone)) process.exitCode = 1
    return [
      ...results.map(({ line, id, result }) => ({ line, [idName]: id, result })),
      ...problemsToWire(read.problems).map(({ line, column, reason }) => ({
        line,
        [idName]: '',
        result: `cannot be read: ${column} ${reason}`,
      })),
    ]
  })
  printRows(rows, options.json ?? false)
}
