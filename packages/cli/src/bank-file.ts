import { idMaker } from '@svc/contract/id-kinds'
import { FileRejected } from '@svc/core/bank-files/file-source'
import {
  type AnyBankRunSteps,
  type AnyBankRuns,
  type BankRunTools,
  bankFileOf,
  columnsOf,
  type FileColumn,
  fittingRows,
  problemOf,
  type SentRun,
  sendRun,
} from '@svc/core/payments/bank-runs/bank-run'
import { formatRupees } from '@svc/kernel/money'
import { systemClock } from '@svc/kernel/time'
import { type Command, InvalidArgumentError, Option } from 'commander'
import { type CommandContext, withInstallation } from './context.ts'
import { moneyActor } from './money-actor.ts'
import { printJson, printRows } from './print.ts'
import { readCount } from './read-count.ts'
import { UsageError } from './usage-error.ts'

/** Columns of the file; what they must be is said at the option. */
const columnReader = (of: AnyBankRuns) => (text: string) => {
  try {
    return columnsOf(of, text)
  } catch (error) {
    throw error instanceof FileRejected ? new InvalidArgumentError(`${error.message}.`) : error
  }
}

interface ExportOptions {
  readonly run?: string
  readonly columns: readonly FileColumn[]
  readonly json?: boolean
}

const runTools = ({ commands, database, keyMaker }: CommandContext): BankRunTools => ({
  commands,
  database,
  newId: idMaker(systemClock, keyMaker.random),
})

/** `export` prints a run as a file for the bank; `runs` lists all runs. */
export function addBankFileCommands(
  group: Command,
  of: AnyBankRuns,
  steps: AnyBankRunSteps,
  example: string,
): void {
  const { name, waiting, fields } = of
  group
    .command('export')
    .description(
      `mark all ${waiting} ${name}s as sent, in a new run, and print the run as a file for the bank`,
    )
    .option('--run <runId>', 'print this earlier run again and send nothing')
    .addOption(
      new Option('--columns <list>', 'columns in order, each a field or field=HEADER')
        .default(columnsOf(of), Object.keys(fields).join(','))
        .argParser(columnReader(of)),
    )
    .option('--json', 'print JSON instead of CSV')
    .addHelpText('after', `\nExample:\n  svc admin ${name} export --columns ${example} > ${name}s.csv`)
    .action((options: ExportOptions) => printRun(of, steps, options))
  group
    .command('runs')
    .description(`list runs of ${name}s to the bank, newest first`)
    .option('--limit <count>', 'how many', readCount, 50)
    .option('--json', 'print JSON')
    .addHelpText('after', `\nExample:\n  svc admin ${name} runs`)
    .action(async ({ limit, json = false }: { limit: number; json?: boolean }) => {
      const runs = await withInstallation(({ database }) => database.operate((tx) => of.runs(tx, limit)))
      printRows(
        runs.map(({ runId, count, amountPaise, open, sentAt }) => ({
          runId,
          [`${name}s`]: count,
          amount: formatRupees(amountPaise),
          open,
          sentAt,
        })),
        json,
      )
    })
}

async function printRun(
  of: AnyBankRuns,
  steps: AnyBankRunSteps,
  { run, columns, json = false }: ExportOptions,
): Promise<void> {
  const { name, waiting, fields } = of
  const rows = await withInstallation(async (context) => {
    const { runId, leftOut }: SentRun =
      run === undefined
        ? await sendRun(
            of,
            steps,
            { tools: runTools(context), columns },
            { actor: await moneyActor(context) },
          )
        : { runId: run, leftOut: [] }
    const sent = await context.database.operate((tx) => of.ofRun(tx, runId))
    if (run !== undefined && sent.length === 0)
      throw new UsageError(`There is no run ${run}. List them with: svc admin ${name} runs`)
    const note =
      sent.length > 0
        ? `${sent.length} ${name}s in run ${runId}. Print it again with: svc admin ${name} export --run ${runId}`
        : `No ${name} is ${waiting}${leftOut.length > 0 ? ' that the file can contain' : ''}.`
    process.stderr.write(`${note}\n`)
    const problems = sent.flatMap((row) => {
      const problem = problemOf(of, columns, row)
      return problem === undefined ? [] : [{ id: of.idOf(row), problem }]
    })
    for (const { id, problem } of [...leftOut, ...problems])
      process.stderr.write(`${id} is not in the file: ${problem}. Choose other --columns for it.\n`)
    return fittingRows(of, sent, columns)
  })
  if (!json)
    return void (rows.length > 0 && process.stdout.write([...bankFileOf(of, rows, columns)].join('')))
  printJson(
    rows.map((row) =>
      Object.fromEntries(columns.map(({ field, header }) => [header, fields[field]!.of(row)])),
    ),
  )
}
