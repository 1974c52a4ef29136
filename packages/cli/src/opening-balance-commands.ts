import { openingPosting, requestApprovalIfNeeded } from '@svc/console-api/postings'
import { enterOpeningBalance } from '@svc/core/ledger/enter-opening-balance'
import {
  type CheckedFile,
  type CheckedOpening,
  checkOpeningBalances,
  openingTotals,
} from '@svc/core/ledger/import-opening-balances'
import { openingAccounts } from '@svc/core/ledger/opening-balance'
import { groupBy } from '@svc/kernel/group-by'
import { formatRupees } from '@svc/kernel/money'
import { calendarDay } from '@svc/kernel/time'
import type { Command } from 'commander'
import { type CommandContext, withInstallation } from './context.ts'
import { moneyActor, postingTools } from './money-actor.ts'
import { type OpeningFile, readOpeningFile } from './opening-balance-file.ts'
import { requireName } from './partner-commands.ts'
import { printRecord } from './print.ts'
import { UsageError } from './usage-error.ts'

interface ImportOptions {
  readonly reason: string
  readonly dryRun?: boolean
  readonly json?: boolean
}

/** So many tenants at once; the lines of one tenant follow each other. */
const TENANTS_AT_ONCE = 50

export function addOpeningBalanceCommands(program: Command): void {
  program
    .command('opening-balances')
    .description('what an installation owes when it takes over from another system')
    .command('import <file>')
    .description(
      'enter opening balances of merchants and card accounts (CSV), one for each account; again, it changes nothing',
    )
    .requiredOption('--reason <text>', 'why; it is in every journal')
    .option('--dry-run', 'check the file and print what it adds up to; enter nothing')
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      `
The file has the columns tenantId, account, amount and effectiveDate. The account is payable for what a merchant is
owed, or the id of a partner's card account for what is unspent. All lines are checked before the first is entered.
Amounts above APPROVAL_ABOVE_RUPEES wait for a second person.

Example:
  svc admin opening-balances import opening.csv --reason "takeover from the previous system" --dry-run`,
    )
    .action(runImport)
}

async function runImport(file: string, options: ImportOptions): Promise<void> {
  const { reason, dryRun = false, json = false } = options
  requireName(reason, '--reason')
  const read = await readOpeningFile(file)
  const result = await withInstallation(async (context) => {
    const actor = dryRun ? undefined : await moneyActor(context)
    const checked = await check(context, read)
    if (actor === undefined) return { checked, outcomes: undefined }
    requireNoProblems(file, checked)
    return { checked, outcomes: await enterAll(context, checked.lines, { actor, reason }) }
  })
  const { checked, outcomes } = result
  for (const { line, problem } of checked.problems) process.stderr.write(`line ${line}: ${problem}\n`)
  printRecord(summary(read, checked, outcomes), json)
  if (outcomes && outcomes.waiting > 0)
    process.stderr.write(
      `${outcomes.waiting} wait until another operator approves them: svc admin approval list\n`,
    )
  if (checked.problems.length > 0) process.exitCode = 1
}

/** What is wrong with the lines by themselves and in the ledger, in the order of the file. */
async function check({ config, database }: CommandContext, read: OpeningFile): Promise<CheckedFile> {
  const today = calendarDay(new Date(), config.BUSINESS_TIME_ZONE)
  const { problems, lines } = await database.operate((tx) => checkOpeningBalances(tx, { ...read, today }))
  return { lines, problems: [...read.problems, ...problems].toSorted((a, b) => a.line - b.line) }
}

function requireNoProblems(file: string, { problems }: CheckedFile): void {
  if (problems.length === 0) return
  const shown = problems.map(({ line, problem }) => `line ${line}: ${problem}`).join('\n')
  throw new UsageError(`Nothing was entered. ${file} has lines that are refused:\n${shown}`)
}

function summary({ fileId }: OpeningFile, { problems, lines }: CheckedFile, outcomes: Outcomes | undefined) {
  const of = (is: CheckedOpening['is']) => lines.filter((line) => line.is === is).length
  const { payable, card_funding } = openingTotals(lines)
  return {
    fileId,
    lines: lines.length + problems.length,
    payable,
    cardAccounts: card_funding,
    ...(outcomes ? { entered: outcomes.entered, waiting: outcomes.waiting } : { due: of('due') }),
    enteredBefore: of('repeated') + (outcomes?.repeated ?? 0),
    reversed: of('reversed'),
    refused: problems.length,
  }
}

/** What became of the lines that were due. */
interface Outcomes {
  entered: number
  /** For a second person. */
  waiting: number
  /** Entered meanwhile, by another import. */
  repeated: number
}

interface Entering {
  readonly actor: string
  readonly reason: string
}

/** Enters every line that is due. */
async function enterAll(
  context: CommandContext,
  lines: readonly CheckedOpening[],
  by: Entering,
): Promise<Outcomes> {
  const tenants = [...groupBy(lines, ({ tenantId }) => tenantId).values()]
  const outcomes: Outcomes = { entered: 0, waiting: 0, repeated: 0 }
  const enterTenant = async (its: readonly CheckedOpening[]) => {
    for (const line of its) if (line.is === 'due') outcomes[await enter(context, line, by)]++
  }
  for (let i = 0; i < tenants.length; i += TENANTS_AT_ONCE)
    await Promise.all(tenants.slice(i, i + TENANTS_AT_ONCE).map(enterTenant))
  return outcomes
}

async function enter(
  context: CommandContext,
  { tenantId, kind, ownerId, amountPaise, effectiveDate, reference }: CheckedOpening,
  { actor, reason }: Entering,
): Promise<keyof Outcomes> {
  const args = { tenantId, kind, ownerId, amountPaise, effectiveDate, reference, reason }
  if (await requestApprovalIfNeeded(postingTools(context), openingPosting(args), { actor })) return 'waiting'
  const { journal } = await context.commands.open(enterOpeningBalance).run(args, {
    actor,
    action: 'opening_balance.posted',
    target: openingAccounts(args)[0].accountId,
    tenantId,
    details: { amount: formatRupees(amountPaise), effectiveDate, reference, reason },
  })
  return journal ? 'entered' : 'repeated'
}
