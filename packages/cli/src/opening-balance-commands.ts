import type { FileFormat } from '@svc/core/bank-files/file-format'
import { OPENING_FIELDS, OPENING_FORMAT, readOpeningLine } from '@svc/core/bank-files/opening-rows'
import { readBankFile } from '@svc/core/bank-files/read-bank-file'
import { enterOpeningBalance } from '@svc/core/ledger/enter-opening-balance'
import {
  type CheckedFile,
  type CheckedOpening,
  checkOpeningBalances,
  type OpeningLine,
  type OpeningLineError,
  openingTotals,
} from '@svc/core/ledger/import-opening-balances'
import { WaitingApproval } from '@svc/core/ledger/money-command'
import { openingAccounts } from '@svc/core/ledger/opening-balance'
import { groupBy } from '@svc/kernel/group-by'
import { formatRupees } from '@svc/kernel/money'
import type { Command } from 'commander'
import {
  type BankFileOptions,
  chooseFormat,
  fileSource,
  readingDays,
  rejecting,
  withFileOptions,
} from './bank-file-input.ts'
import { type CommandContext, withInstallation } from './context.ts'
import { moneyActor } from './money-actor.ts'
import { printRecord } from './print.ts'
import { readReason } from './read-reason.ts'
import { UsageError } from './usage-error.ts'

interface ImportOptions extends BankFileOptions {
  readonly reason: string
}

const LINES_MAX = 100_000

/** A file as it was read. */
interface OpeningFile {
  /** Depends on the bytes of the file alone. */
  readonly fileId: string
  readonly lines: readonly OpeningLine[]
  /** Lines that cannot be read. */
  readonly problems: readonly OpeningLineError[]
  readonly skipped: number
}

/** So many tenants at once; the lines of one tenant follow each other. */
const TENANTS_AT_ONCE = 50

export function addOpeningBalanceCommands(program: Command): void {
  const command = program
    .command('opening-balances')
    .description('what an installation owes when it takes over from another system')
    .command('import <file>')
    .description(
      'enter opening balances of merchants and card accounts (CSV), one for each account; again, it changes nothing',
    )
    .requiredOption('--reason <text>', 'why; it is in every journal', readReason)
  withFileOptions(command, 'a JSON file')
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
  const { reason, dryRun = false, onlyReadable = false, json = false } = options
  const format = (await chooseFormat(options.format, {}, OPENING_FIELDS)) ?? OPENING_FORMAT
  const result = await withInstallation(async (context) => {
    const actor = dryRun ? undefined : await moneyActor(context)
    const read = await readFile(context, file, format)
    const checked = await check(context, read)
    if (actor === undefined) return { read, checked, outcomes: undefined }
    if (!onlyReadable) requireNoProblems(file, checked)
    return { read, checked, outcomes: await enterAll(context, checked.lines, { actor, reason }) }
  })
  const { read, checked, outcomes } = result
  for (const { line, problem } of checked.problems) process.stderr.write(`line ${line}: ${problem}\n`)
  printRecord(summary(read, checked, outcomes), json)
  if (outcomes && outcomes.waiting > 0)
    process.stderr.write(
      `${outcomes.waiting} wait until another operator approves them: svc admin approval list\n`,
    )
  if (checked.problems.length > 0) process.exitCode = 1
}

async function readFile(context: CommandContext, file: string, format: FileFormat): Promise<OpeningFile> {
  const source = await fileSource(file)
  const days = await readingDays(context)
  const reading = { format, days, reference: 'account', read: readOpeningLine }
  const { hash, lines, skipped, problems, rows } = await rejecting(() => readBankFile(source, reading))
  if (lines === skipped) throw new UsageError(`${file} has no line below its heading.`)
  if (lines > LINES_MAX) throw new UsageError(`${file} has more than ${LINES_MAX} lines: split it.`)
  const read: OpeningLine[] = []
  for await (const line of rows()) read.push(line)
  return {
    fileId: `opb_${hash.slice(0, 26)}`,
    lines: read,
    problems: problems.map(({ line, column, reason }) => ({ line, problem: `${column} ${reason}` })),
    skipped,
  }
}

/** What is wrong with the lines by themselves and in the ledger, in the order of the file. */
async function check(context: CommandContext, read: OpeningFile): Promise<CheckedFile> {
  const { database } = context
  const { today } = await readingDays(context)
  const { problems, lines } = await database.operate((tx) => checkOpeningBalances(tx, { ...read, today }))
  return { lines, problems: [...read.problems, ...problems].toSorted((a, b) => a.line - b.line) }
}

function requireNoProblems(file: string, { problems }: CheckedFile): void {
  if (problems.length === 0) return
  const shown = problems.map(({ line, problem }) => `line ${line}: ${problem}`).join('\n')
  throw new UsageError(`Nothing was entered. ${file} has lines that are refused:\n${shown}`)
}

function summary(
  { fileId, skipped }: OpeningFile,
  { problems, lines }: CheckedFile,
  outcomes: Outcomes | undefined,
) {
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
    skipped,
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
  const outcome = await context.commands.open(enterOpeningBalance).run(args, {
    actor,
    action: 'opening_balance.posted',
    target: openingAccounts(args)[0].accountId,
    tenantId,
    details: { amount: formatRupees(amountPaise), effectiveDate, reference, reason },
  })
  if (outcome instanceof WaitingApproval) return 'waiting'
  return outcome.journal ? 'entered' : 'repeated'
}
