import { checkClosing, closeBooks } from '@svc/console-api/closing-checks'
import { fail } from '@svc/contract/errors'
import { type Closing, knownAtClosing, listClosings } from '@svc/core/ledger/closing'
import { priorPeriodItems, priorPeriodItemToWire } from '@svc/core/ledger/prior-period'
import { verifyClosings } from '@svc/core/ledger/verify-closings'
import { accrueThrough } from '@svc/core/payments/fees/accrue-fees'
import { isDay } from '@svc/kernel/time'
import type { Command } from 'commander'
import { withInstallation } from './context.ts'
import { moneyActor } from './money-actor.ts'
import { readDay } from './payout-print.ts'
import { type Printed, printRecord, printRows, printTable } from './print.ts'
import { readReason } from './read-reason.ts'
import { UsageError } from './usage-error.ts'

interface Json {
  readonly json?: boolean
}

const shown = ({ through, until, closedAt, closedBy, despite, requestedBy }: Closing) => ({
  through,
  until,
  closedAt,
  closedBy,
  despite,
  requestedBy,
})

export function addClosingCommands(books: Command): void {
  books
    .command('accrue')
    .description('enter fees and GST of all payments until the end of a day, each effective on its own day')
    .requiredOption('--through <day>', 'the last business day, YYYY-MM-DD', readDay)
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      `
The service does this by itself when a day is over. A repeat enters only what was found since.

Example:
  svc admin books accrue --through 2026-10-31`,
    )
    .action(accrue)
  books
    .command('close')
    .description('close all days up to one, with signed totals; nothing is entered in them any more')
    .requiredOption('--through <day>', 'the last day of the period, YYYY-MM-DD')
    .option('--check', 'only say what of the period is in order; exit code 1 if something is not')
    .option('--despite <reason>', 'close it although something is not in order', readReason)
    .option('--json', 'print JSON, with the signature')
    .addHelpText(
      'after',
      `
Where postings need two people, another operator repeats a closing with --despite and the same reason.

Examples:
  svc admin books close --through 2026-10-31 --check
  svc admin books close --through 2026-10-31`,
    )
    .action(close)
  books
    .command('prior-period')
    .description('list what was entered once a period was closed, and is effective in it')
    .requiredOption('--through <day>', 'the last day of a closed period, YYYY-MM-DD', readDay)
    .option('--csv', 'print CSV')
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      `
What was signed by effective date, with these entries, is what the books say of the period today.

Example:
  svc admin books prior-period --through 2026-10-31 --csv`,
    )
    .action(priorPeriod)
  addSignedCommands(books)
}

/** What was signed. */
function addSignedCommands(books: Command): void {
  books
    .command('closings')
    .description('list the closed periods, newest first')
    .option('--json', 'print JSON, with the signatures')
    .addHelpText('after', '\nExample:\n  svc admin books closings')
    .action(async ({ json = false }: Json) => {
      const found = await withInstallation(({ database }) => database.report(listClosings))
      printRows(json ? found.map((closing) => ({ ...closing })) : found.map(shown), json)
    })
  books
    .command('verify')
    .description('compare the signed totals of closed periods with the ledger; exit code 1 if one differs')
    .option('--json', 'print JSON')
    .addHelpText('after', '\nExample:\n  svc admin books verify')
    .action(verify)
}

async function accrue({ through, json = false }: Json & { through: string }): Promise<void> {
  const payments = await withInstallation(async (context) => {
    await moneyActor(context)
    return accrueThrough(context, through)
  })
  if (payments === undefined) fail('business_day_not_over')
  printRecord({ through, payments }, json)
}

const WHAT_TO_DO: Readonly<Record<string, string>> = {
  accrued: 'svc admin books accrue',
  batches: 'svc admin settlement batches',
  invoices: 'svc admin tax issue',
  old_lines: 'svc admin settlement differences',
  proof: 'svc admin books proof',
  statements: 'svc admin statement import',
}

interface Close extends Json {
  readonly through: string
  readonly check?: boolean
  readonly despite?: string
}

async function close({ through, check = false, despite, json = false }: Close): Promise<void> {
  if (!isDay(through)) throw new UsageError('--through must be a day such as 2026-10-31')
  if (check) return printChecks(through, json)
  const closing = await withInstallation(async (context) => {
    const by = await moneyActor(context)
    const { config, database, keyMaker } = context
    return closeBooks({ config, database, keyring: keyMaker.keyring }, { through, by, despite })
  })
  if ('isRequested' in closing) {
    printRecord({ ...closing }, json)
    process.stderr.write('Nothing is closed yet: another operator repeats it with the same reason.\n')
    return
  }
  printRecord(json ? { ...closing } : shown(closing), json)
}

async function printChecks(through: string, json: boolean): Promise<void> {
  const found = await withInstallation((context) => checkClosing(context, through))
  printRows(
    found.map(({ detail, ...each }) => {
      const toDo = each.ok ? undefined : WHAT_TO_DO[each.item]
      return { ...each, detail: toDo === undefined ? detail : `${detail}: ${toDo}` }
    }),
    json,
  )
  if (found.some(({ ok }) => !ok)) process.exitCode = 1
}

async function priorPeriod({ through, ...printed }: Printed & { through: string }): Promise<void> {
  const items = await withInstallation(({ database, keyMaker }) =>
    database.report(
      async (tx) => {
        const known = await knownAtClosing(tx, keyMaker.keyring, through)
        if (!known)
          return fail('book_closing_not_found', {
            description: `No period ends on ${through}. See them with: svc admin books closings`,
          })
        return priorPeriodItems(tx, through, known)
      },
      'repeatable read',
      'long',
    ),
  )
  printTable(items.map(priorPeriodItemToWire), printed)
}

async function verify({ json = false }: Json): Promise<void> {
  const found = await withInstallation(({ database, keyMaker }) =>
    database.report((tx) => verifyClosings(tx, keyMaker.keyring), 'repeatable read', 'long'),
  )
  printRows(
    found.map((closing) => ({ ...shown(closing), result: closing.problem ?? 'as signed' })),
    json,
  )
  if (found.some(({ problem }) => problem !== null)) process.exitCode = 1
}
