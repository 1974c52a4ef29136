import { fail } from '@svc/contract/errors'
import { accrueThrough } from '@svc/core/payments/accrue-fees'
import { type Closing, closePeriod, listClosings, verifyClosings } from '@svc/core/ledger/closing'
import { isDay } from '@svc/kernel/time'
import type { Tx } from '@svc/platform/db/database'
import type { Command } from 'commander'
import { withInstallation } from './context.ts'
import { moneyActor } from './money-actor.ts'
import { readDay } from './payout-print.ts'
import { printRecord, printRows } from './print.ts'
import { UsageError } from './usage-error.ts'

interface Json {
  readonly json?: boolean
}

const shown = ({ through, until, closedAt, closedBy }: Closing) => ({ through, until, closedAt, closedBy })

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
    .option('--json', 'print JSON, with the signature')
    .addHelpText('after', '\nExample:\n  svc admin books close --through 2026-10-31')
    .action(close)
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

async function close({ through, json = false }: Json & { through: string }): Promise<void> {
  if (!isDay(through)) throw new UsageError('--through must be a day such as 2026-10-31')
  const closing = await withInstallation(async (context) => {
    const by = await moneyActor(context)
    const { config, database, keyMaker } = context
    const requested = { through, by, timeZone: config.BUSINESS_TIME_ZONE }
    const work = (tx: Tx) => closePeriod(tx, keyMaker.keyring, requested)
    return database.operate(work, 'read committed', { actor: by }, 'long')
  })
  printRecord(json ? { ...closing } : shown(closing), json)
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
