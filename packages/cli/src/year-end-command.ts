import { enteredYearEndToWire, enterYearEnd } from '@svc/core/payments/own-funds/enter-year-end'
import { readOpenYear, yearEndToWire } from '@svc/core/payments/own-funds/year-end'
import type { Command } from 'commander'
import { printOutcome } from './approval-commands.ts'
import { withInstallation } from './context.ts'
import { moneyActor } from './money-actor.ts'
import { printJson, printRecord } from './print.ts'
import { readReason } from './read-reason.ts'

interface Options {
  readonly year: string
  readonly reason: string
  readonly dryRun?: boolean
  readonly json?: boolean
}

export function addYearEndCommand(books: Command): void {
  books
    .command('year-end')
    .description('close income and expenses of a financial year that is over, into the equity of the owner')
    .requiredOption('--year <year>', 'the financial year, such as 2026-27: from 1 April to 31 March')
    .requiredOption('--reason <text>', 'why; it is in the journals', readReason)
    .option('--dry-run', 'print what would be closed; enter nothing')
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      `
Every account of income and expenses is empty then by the last day of the year. A repeat enters what was found since.

Examples:
  svc admin books year-end --year 2026-27 --reason "accounts of 2026-27" --dry-run
  svc admin books year-end --year 2026-27 --reason "accounts of 2026-27"`,
    )
    .action(({ dryRun = false, ...options }: Options) => (dryRun ? preview(options) : enter(options)))
}

type Ended = ReturnType<typeof enteredYearEndToWire>

function print(ended: Ended, json: boolean): void {
  if (json) return printJson(ended)
  const { expenses, income, isRepeat, journals, profit, through, year } = ended
  const amounts = Object.fromEntries([...income, ...expenses].map(({ kind, amount }) => [kind, amount]))
  printRecord({ year, through, ...amounts, profit, journals, isRepeat }, false)
}

async function preview({ json = false, year }: Options): Promise<void> {
  const { shares, through } = await withInstallation((context) => readOpenYear(context, year))
  print({ ...yearEndToWire(through, shares, 0), isRepeat: shares.length === 0 }, json)
}

async function enter({ json = false, reason, year }: Options): Promise<void> {
  const entered = await withInstallation(async (context) => {
    const actor = await moneyActor(context)
    const audit = { actor, action: 'year.ended', target: 'own_funds', details: { year, reason } }
    return context.commands.open(enterYearEnd).run({ year, reason }, audit)
  })
  printOutcome(entered, json, (decision) => print(enteredYearEndToWire(decision), json))
}
