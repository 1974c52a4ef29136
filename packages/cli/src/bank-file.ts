import { csvText } from '@svc/kernel/csv'
import { formatRupees } from '@svc/kernel/money'
import { type Command, InvalidArgumentError, Option } from 'commander'
import { type CommandContext, withInstallation } from './context.ts'
import { printRows, printTable } from './print.ts'
import { readCount } from './read-count.ts'
import { UsageError } from './usage-error.ts'

/** A run: what was sent to the bank in one file. */
export interface BankRun {
  readonly runId: string
  readonly count: bigint
  readonly amountPaise: bigint
  readonly sentAt: Date | null
}

export interface BankField<Row> {
  readonly of: (row: Row) => string
  /** Why the bank could not read it. */
  readonly problemOf?: (text: string) => string | undefined
}

/** What goes to the bank in files: payouts, refunds. */
export interface BankFile<Row> {
  /** The commands' name for one of them: `refund`. */
  readonly name: string
  /** Those that are sent next: `approved`. */
  readonly waiting: string
  /** What the file can say of one of them. */
  readonly fields: Readonly<Record<string, BankField<Row>>>
  readonly example: string
  readonly id: (row: Row) => string
  /** Sends what waits in a new run, and returns its id. Those with a problem are reported and wait on. */
  readonly send: (context: CommandContext, hasProblem: (row: Row) => boolean) => Promise<string>
  readonly ofRun: (context: CommandContext, runId: string) => Promise<readonly Row[]>
  readonly runs: (context: CommandContext, limit: number) => Promise<readonly BankRun[]>
}

interface Column {
  readonly field: string
  readonly header: string
}

/** `field` or `field=HEADER`, separated by commas. */
const columnReader =
  (names: readonly string[]) =>
  (text: string): Column[] =>
    text.split(',').map((part) => {
      const [field = '', header = field] = part.trim().split('=')
      if (!names.includes(field))
        throw new InvalidArgumentError(`Each must be one of ${names.join(', ')}, or such as amount=AMOUNT.`)
      return { field, header }
    })

/** A file for the bank contains a field as it is or not at all: a changed reference or address is another one. */
function problemOf<Row>({ fields }: BankFile<Row>, columns: readonly Column[], row: Row): string | undefined {
  for (const { field } of columns) {
    const { of, problemOf } = fields[field]!
    const text = of(row)
    const asWritten = csvText(text) === text ? undefined : 'contains a line break or is a formula'
    const problem = problemOf?.(text) ?? asWritten
    if (problem !== undefined) return `${field} ${JSON.stringify(text)} ${problem}`
  }
  return undefined
}

interface ExportOptions {
  readonly run?: string
  readonly columns: readonly Column[]
  readonly json?: boolean
}

/** `export` prints a run as a file for the bank; `runs` lists all runs. */
export function addBankFileCommands<Row>(of: Command, file: BankFile<Row>): void {
  const { name, waiting, fields, example } = file
  const names = Object.keys(fields)
  of.command('export')
    .description(
      `mark all ${waiting} ${name}s as sent, in a new run, and print the run as a file for the bank`,
    )
    .option('--run <runId>', 'print this earlier run again and send nothing')
    .addOption(
      new Option('--columns <list>', 'columns in order, each a field or field=HEADER')
        .default(
          names.map((field): Column => ({ field, header: field })),
          names.join(','),
        )
        .argParser(columnReader(names)),
    )
    .option('--json', 'print JSON instead of CSV')
    .addHelpText('after', `\nExample:\n  svc admin ${name} export --columns ${example} > ${name}s.csv`)
    .action((options: ExportOptions) => printRun(file, options))
  of.command('runs')
    .description(`list runs of ${name}s to the bank, newest first`)
    .option('--limit <count>', 'how many', readCount, 50)
    .option('--json', 'print JSON')
    .addHelpText('after', `\nExample:\n  svc admin ${name} runs`)
    .action(async ({ limit, json = false }: { limit: number; json?: boolean }) => {
      const runs = await withInstallation((context) => file.runs(context, limit))
      printRows(
        runs.map(({ runId, count, amountPaise, sentAt }) => ({
          runId,
          [`${name}s`]: Number(count),
          amount: formatRupees(amountPaise),
          sentAt,
        })),
        json,
      )
    })
}

async function printRun<Row>(
  file: BankFile<Row>,
  { run, columns, json = false }: ExportOptions,
): Promise<void> {
  const { name, waiting, fields, id, send, ofRun } = file
  const left = new Map<string, string>()
  const hasProblem = (row: Row): boolean => {
    const problem = problemOf(file, columns, row)
    if (problem !== undefined) left.set(id(row), problem)
    return problem !== undefined
  }
  const rows = await withInstallation(async (context) => {
    const runId = run ?? (await send(context, hasProblem))
    const sent = await ofRun(context, runId)
    if (run !== undefined && sent.length === 0)
      throw new UsageError(`There is no run ${run}. List them with: svc admin ${name} runs`)
    const note =
      sent.length > 0
        ? `${sent.length} ${name}s in run ${runId}. Print it again with: svc admin ${name} export --run ${runId}`
        : `No ${name} is ${waiting}${left.size > 0 ? ' that the file can contain' : ''}.`
    process.stderr.write(`${note}\n`)
    return sent.filter((row) => !hasProblem(row))
  })
  for (const [leftOut, problem] of left)
    process.stderr.write(`${leftOut} is not in the file: ${problem}. Choose other --columns for it.\n`)
  const written = rows.map((row) =>
    Object.fromEntries(columns.map(({ field, header }) => [header, fields[field]!.of(row)])),
  )
  printTable(written, { csv: !json, json })
}
