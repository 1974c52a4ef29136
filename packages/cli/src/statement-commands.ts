import { assignLine, businessToday, matchLine, unmatchLine } from '@svc/core/statements/change-line'
import { resolveLine } from '@svc/core/statements/resolve-line'
import {
  RESOLUTIONS,
  type Resolution,
  type StatementLine,
  statementLineToWire,
} from '@svc/core/statements/statement-line'
import { formatRupees } from '@svc/kernel/money'
import type { Tx } from '@svc/platform/db/database'
import { type ListedStatementLine, statementLine } from '@svc/server/statements/statement-lines'
import { type Command, Option } from 'commander'
import { printOutcome } from './approval-commands.ts'
import { type CommandContext, withInstallation } from './context.ts'
import { moneyActor } from './money-actor.ts'
import { addNounList } from './noun-commands.ts'
import { printRecord } from './print.ts'
import { readReason } from './read-reason.ts'
import { addStatementImport, matchTools } from './statement-import.ts'

interface Json {
  readonly json?: boolean
}

interface Reasoned extends Json {
  readonly reason: string
}

export function addStatementCommands(program: Command): void {
  const statement = program
    .command('statement')
    .description('bank statements: import them, list their lines, say what they are')
  addStatementImport(statement)
  addNounList<ListedStatementLine>(statement, statementLine, {
    name: 'lines',
    limit: 1_000_000,
    description: 'list the lines of all statements, newest first',
    example: 'svc admin statement lines --status UNMATCHED --csv > unmatched.csv',
  })
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
