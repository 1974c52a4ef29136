import {
  accrueBookMonth,
  checkBookMonth,
  closeBookMonth,
  verifyBookMonths,
} from '@svc/console-api/faces/book-month-operations'
import { fail } from '@svc/contract/errors'
import { type Closing, knownAtClosing, listClosings } from '@svc/core/ledger/closing'
import { priorPeriodItems, priorPeriodItemToWire } from '@svc/core/ledger/prior-period'
import type { Command } from 'commander'
import { withInstallation } from './context.ts'
import { addOperation } from './operation-command.ts'
import { type Printed, printRows, printTable } from './print.ts'
import { readDay } from './read-day.ts'

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
  addOperation(books, accrueBookMonth, {
    name: 'accrue',
    args: [],
    description: 'enter fees and GST of all payments until the end of a day, each effective on its own day',
    more: 'The service does this by itself when a day is over. A repeat enters only what was found since.',
    example: 'svc admin books accrue --through 2026-10-31',
  })
  addOperation(books, closeBookMonth, {
    name: 'close',
    args: [],
    or: {
      option: 'check',
      description: 'only say what of the period is in order; exit code 1 if something is not',
      operation: checkBookMonth,
      rows: true,
      shown: ({ data }: Checked) =>
        data.map(({ item, ok, count, detail }) => {
          const toDo = ok ? undefined : WHAT_TO_DO[item]
          return { item, ok, count, detail: toDo === undefined ? detail : `${detail}: ${toDo}` }
        }),
      fails: ({ data }: Checked) => data.some(({ ok }) => !ok),
    },
    note: ({ state }: { readonly state: string }) =>
      state === 'REQUESTED'
        ? 'Nothing is closed yet: another operator repeats it with the same reason.'
        : undefined,
    description: 'close all days up to one, with signed totals; nothing is entered in them any more',
    more: 'Where postings need two people, another operator repeats a closing with --despite and the same reason.',
    example: [
      'svc admin books close --through 2026-10-31 --check',
      'svc admin books close --through 2026-10-31',
    ],
  })
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
  addOperation(books, verifyBookMonths, {
    name: 'verify',
    rows: true,
    description: 'compare the signed totals of closed periods with the ledger; exit code 1 if one differs',
    shown: ({ data }: Verified) =>
      data.map(({ through, problem }) => ({ through, result: problem ?? 'as signed' })),
    fails: ({ data }: Verified) => data.some(({ problem }) => problem !== undefined),
    example: 'svc admin books verify',
  })
}

interface Checked {
  readonly data: readonly {
    readonly item: string
    readonly ok: boolean
    readonly count: number
    readonly detail: string
  }[]
}

interface Verified {
  readonly data: readonly { readonly through: string; readonly problem?: string }[]
}

const WHAT_TO_DO: Readonly<Record<string, string>> = {
  accrued: 'svc admin books accrue',
  batches: 'svc admin settlement batches',
  invoices: 'svc admin tax issue',
  old_lines: 'svc admin settlement differences',
  proof: 'svc admin books proof',
  statements: 'svc admin statement import',
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
