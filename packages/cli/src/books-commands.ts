import { fail } from '@svc/contract/errors'
import {
  accountStatement,
  type BooksQuery,
  liabilities,
  onNormalSide,
  type Statement,
  type StatementLine,
  trialBalance,
} from '@svc/core/ledger/books'
import { kindOf, type Unit } from '@svc/core/ledger/chart-of-accounts'
import { furthestAhead } from '@svc/core/ledger/transfers-since'
import { formatRupees } from '@svc/kernel/money'
import { parseRfc3339 } from '@svc/kernel/time'
import type { Tx } from '@svc/platform/db/database'
import { type Command, InvalidArgumentError } from 'commander'
import { addClosingCommands } from './closing-commands.ts'
import { withInstallation } from './context.ts'
import { addOwnFundsCommands } from './own-funds-commands.ts'
import { type Printed, printTable } from './print.ts'
import { addProofCommand } from './proof-command.ts'
import { readDay } from './read-day.ts'
import { readTenant } from './read-tenant.ts'
import { addSettleCommand } from './settle-account.ts'
import { addYearEndCommand } from './year-end-command.ts'

interface Books extends Printed {
  readonly asOf?: Date
  readonly effectiveThrough?: string
  readonly tenant?: string
}

interface Period extends Printed {
  readonly from?: Date
  readonly to?: Date
}

export function addBooksCommands(program: Command): void {
  const books = program
    .command('books')
    .description('the books: trial balance, account statements, liabilities, closed periods')
  withBooksOptions(books.command('trial-balance'))
    .description('print the balance of every kind of account; debits equal credits')
    .addHelpText('after', '\nExample:\n  svc admin books trial-balance --as-of 2026-04-01T00:00:00+05:30')
    .action((options: Books) => report((tx) => printTrialBalance(tx, options)))
  withBooksOptions(books.command('liabilities'))
    .description('print what is owed, by tenant and kind of account')
    .addHelpText('after', '\nExample:\n  svc admin books liabilities --tenant mer_…')
    .action((options: Books) => report((tx) => printLiabilities(tx, options)))
  addClosingCommands(books)
  addSettleCommand(books)
  addProofCommand(books)
  addOwnFundsCommands(books)
  addYearEndCommand(books)
  books
    .command('statement <accountId>')
    .description('print an account: opening balance, every line with the balance after it, closing balance')
    .option('--from <instant>', 'the first instant, RFC 3339; by default all', readInstant)
    .option('--to <instant>', 'the first instant after the period; by default now', readInstant)
    .option('--csv', 'print CSV')
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      '\nExample:\n  svc admin books statement payable:mer_… --from 2026-04-01T00:00:00+05:30 --csv > april.csv',
    )
    .action((accountId: string, options: Period) => report((tx) => printStatement(tx, accountId, options)))
}

const withBooksOptions = (command: Command): Command =>
  command
    .option('--as-of <instant>', 'the books at this instant, RFC 3339; by default now', readInstant)
    .option(
      '--effective-through <day>',
      'only entries with an effective date until this day, also those entered later',
      readDay,
    )
    .option('--tenant <tenantId>', 'only this merchant or partner, or platform', readTenant)
    .option('--csv', 'print CSV')
    .option('--json', 'print JSON')

function readInstant(text: string): Date {
  const instant = parseRfc3339(text)
  if (!instant)
    throw new InvalidArgumentError(
      'It must be an RFC 3339 date with a time zone, such as 2026-04-01T00:00:00+05:30.',
    )
  return instant
}

const report = (work: (tx: Tx) => Promise<void>): Promise<void> =>
  withInstallation(({ database }) => database.report(work, 'repeatable read', 'long'))

const queryOf = ({ asOf, effectiveThrough, tenant }: Books): BooksQuery => ({
  asOf,
  effectiveThrough,
  tenantId: tenant,
})

const amountText = (amount: bigint, unit: Unit): string =>
  unit === 'INR' ? formatRupees(amount) : String(amount)

/** One side of a line: empty where nothing is, as books are written. */
const sideText = (amount: bigint, unit: Unit): string => (amount === 0n ? '' : amountText(amount, unit))

async function printTrialBalance(tx: Tx, options: Books): Promise<void> {
  const lines = await trialBalance(tx, queryOf(options))
  const totals = (['INR', 'COIN'] as const).map((unit) => {
    const of = lines.filter((line) => line.unit === unit)
    const sum = (side: 'debit' | 'credit') => of.reduce((total, line) => total + line[side], 0n)
    return { unit, debit: sum('debit'), credit: sum('credit') }
  })
  printTable(
    [
      ...lines.map(({ kind, unit, accounts, debit, credit }) => ({
        account: kindOf(kind).title,
        kind,
        accounts,
        unit,
        debit: sideText(debit, unit),
        credit: sideText(credit, unit),
      })),
      ...totals
        .filter(({ unit }) => lines.some((line) => line.unit === unit))
        .map(({ unit, debit, credit }) => ({
          account: 'Total',
          kind: '',
          accounts: '',
          unit,
          debit: amountText(debit, unit),
          credit: amountText(credit, unit),
        })),
    ],
    options,
  )
}

async function printLiabilities(tx: Tx, options: Books): Promise<void> {
  const owed = await liabilities(tx, queryOf(options))
  printTable(
    owed.map(({ tenantId, kind, amountPaise }) => ({
      tenantId,
      account: kindOf(kind).title,
      kind,
      amount: formatRupees(amountPaise),
    })),
    options,
  )
}

const PAGE = 50_000
const BEGINNING = new Date(0)

async function printStatement(tx: Tx, accountId: string, { from, to, ...printed }: Period): Promise<void> {
  const aheadMs = await furthestAhead(tx)
  const period = { accountId, from: from ?? BEGINNING, to: to ?? new Date(), limit: PAGE, aheadMs }
  const lines: StatementLine[] = []
  let page: Statement | undefined
  do {
    const last = lines.at(-1)
    page = await accountStatement(tx, { ...period, ...(last && { after: last }) })
    if (!page)
      return fail('ledger_account_not_found', {
        description: `There is no account ${accountId}. See the accounts in the console, under Ledger.`,
      })
    lines.push(...page.lines)
  } while (page.hasMore)
  printTable(statementRows(page, lines), printed)
}

function statementRows({ kind, unit, opening, closing }: Statement, lines: readonly StatementLine[]) {
  const balanceText = (balance: bigint) => amountText(onNormalSide(kind, balance), unit)
  const nothing = { at: '', journalId: '', reference: '', otherAccount: '', debit: '', credit: '' }
  return [
    { ...nothing, what: 'Opening balance', balance: balanceText(opening) },
    ...lines.map((line) => ({
      at: line.at.toISOString(),
      journalId: line.journalId,
      reference: line.reference ?? '',
      otherAccount: line.otherAccountId,
      debit: sideText(line.debit, unit),
      credit: sideText(line.credit, unit),
      what: line.kind,
      balance: balanceText(line.balance),
    })),
    { ...nothing, what: 'Closing balance', balance: balanceText(closing) },
  ]
}
