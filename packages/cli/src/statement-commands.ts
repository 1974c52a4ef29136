import {
  assignLine,
  businessToday,
  listLines,
  matchLine,
  unmatchLine,
} from '@svc/core/statements/change-line'
import { resolveLine } from '@svc/core/statements/resolve-line'
import {
  LINE_STATUSES,
  type LineStatus,
  RESOLUTIONS,
  type Resolution,
  type StatementLine,
  statementLineToWire,
} from '@svc/core/statements/statement-line'
import { formatRupees } from '@svc/kernel/money'
import type { Tx } from '@svc/platform/db/database'
import { type Command, Option } from 'commander'
import { printOutcome } from './approval-commands.ts'
import { type CommandContext, withInstallation } from './context.ts'
import { moneyActor } from './money-actor.ts'
import { type Printed, printRecord, printTable } from './print.ts'
import { readReason } from './read-reason.ts'
import { addStatementImport, matchTools } from './statement-import.ts'

interface Json {
  readonly json?: boolean
}

interface Reasoned extends Json {
  readonly reason: string
}

const PAGE = 1_000

export function addStatementCommands(program: Command): void {
  const statement = program
    .command('statement')
    .description('bank statements: import them, list their lines, say what they are')
  addStatementImport(statement)
  statement
    .command('lines')
    .description('list the lines of all statements, newest first')
    .addOption(new Option('--status <status>', 'only these').choices(LINE_STATUSES))
    .option('--account <bankAccountId>', 'only of this account')
    .option('--csv', 'print CSV')
    .option('--json', 'print JSON')
    .addHelpText('after', '\nExample:\n  svc admin statement lines --status UNMATCHED --csv > unmatched.csv')
    .action(printLines)
  reasoned(statement.command('match <lineId>'))
    .description('say which movement a line is; an amount that is another one makes it differ')
    .requiredOption('--to <id>', 'the batch, payout, run, refund or journal')
    .addHelpText('after', '\nExample:\n  svc admin statement match stl_… --to pyo_… --reason "by letter"')
    .action((lineId: string, { to, reason, json }: Reasoned & { to: string }) =>
      change(json, (tx, by, context) =>
        matchLine(tx, { lineId, by, reason, documentId: to }, matchTools(context)),
      ),
    )
  reasoned(statement.command('unmatch <lineId>'))
    .description(
      'take the match of a line back, with what it had posted; what people resolved: svc admin journal reverse',
    )
    .addHelpText('after', '\nExample:\n  svc admin statement unmatch stl_… --reason "of another payout"')
    .action((lineId: string, { reason, json }: Reasoned) =>
      change(json, (tx, by, context) => unmatchLine(tx, { lineId, by, reason }, matchTools(context))),
    )
  statement
    .command('assign <lineId>')
    .description('name who is to find out what a line is')
    .requiredOption('--owner <name>', 'of the person')
    .option('--reason <text>', 'why', readReason)
    .option('--json', 'print JSON')
    .addHelpText('after', '\nExample:\n  svc admin statement assign stl_… --owner "operator asha"')
    .action((lineId: string, { owner, json }: Json & { owner: string }) =>
      change(json, (tx, by) => assignLine(tx, { lineId, by, owner })),
    )
  addResolve(statement)
}

const reasoned = (command: Command): Command =>
  command
    .requiredOption('--reason <text>', 'why; it is in the audit', readReason)
    .option('--json', 'print JSON')

function addResolve(statement: Command): void {
  reasoned(statement.command('resolve <lineId>'))
    .description('post what a line is that fits nothing, on its day')
    .addOption(new Option('--as <what>', 'what it is').choices(RESOLUTIONS).makeOptionMandatory())
    .addHelpText(
      'after',
      `
exception: the bank took it without an explanation, or gave that back. suspense: money that belongs to a merchant or payer
who is not known yet. own_funds: our money, or money for us.

Example:
  svc admin statement resolve stl_… --as charge --reason "charges of April"`,
    )
    .action(resolve)
}

async function change(
  json = false,
  work: (tx: Tx, by: string, context: CommandContext) => Promise<StatementLine>,
): Promise<void> {
  const { line, today } = await withInstallation(async (context) => {
    const by = await moneyActor(context)
    const changed = (tx: Tx) => work(tx, by, context)
    const line = await context.database.operate(changed, 'read committed', { actor: by })
    return { line, today: todayOf(context) }
  })
  printRecord(statementLineToWire(line, today), json)
}

const todayOf = ({ config }: CommandContext): string => businessToday(Date.now(), config.BUSINESS_TIME_ZONE)

async function printLines({
  status,
  account,
  ...printed
}: Printed & { readonly status?: LineStatus; readonly account?: string }): Promise<void> {
  const { lines, today } = await withInstallation(async (context) => {
    const read = async (tx: Tx) => {
      const all: StatementLine[] = []
      let page: StatementLine[]
      do {
        const query = { status, bankAccountId: account, after: all.at(-1)?.lineId, limit: PAGE }
        page = await listLines(tx, query)
        all.push(...page)
      } while (page.length === PAGE)
      return all
    }
    return { lines: await context.database.report(read, 'repeatable read', 'long'), today: todayOf(context) }
  })
  printTable(
    lines.map((line) => statementLineToWire(line, today)),
    printed,
  )
}

async function resolve(lineId: string, options: Reasoned & { readonly as: Resolution }): Promise<void> {
  const { as, reason, json = false } = options
  const resolved = await withInstallation(async (context) => {
    const actor = await moneyActor(context)
    const audit = { actor, action: 'statement_line.resolved', target: lineId, details: { as, reason } }
    return context.commands.open(resolveLine).run({ lineId, as, reason }, audit)
  })
  printOutcome(resolved, json, ({ line, journal, command }) =>
    printRecord(
      {
        lineId,
        as: command.as,
        date: line.bookedOn,
        amount: formatRupees(line.amountPaise),
        journalId: journal?.journalId ?? line.journalId,
        isRepeat: journal === undefined,
      },
      json,
    ),
  )
}
