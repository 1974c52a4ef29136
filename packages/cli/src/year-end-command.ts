import { enterYearEndInConsole, showYearEnd } from '@svc/console-api/faces/own-funds-operations'
import type { Command } from 'commander'
import { addOperation } from './operation-command.ts'

interface Total {
  readonly kind: string
  readonly amount: string
}

interface Ended {
  readonly income: readonly Total[]
  readonly expenses: readonly Total[]
}

/** A line for each kind of account. */
const shown = ({ income, expenses, ...ended }: Ended) => ({
  ...ended,
  ...Object.fromEntries([...income, ...expenses].map(({ kind, amount }) => [kind, amount])),
})

export function addYearEndCommand(books: Command): void {
  addOperation(books, enterYearEndInConsole, {
    name: 'year-end',
    args: [],
    or: {
      option: 'dry-run',
      description: 'print what would be closed; enter nothing',
      operation: showYearEnd,
      shown,
    },
    shown,
    description: 'close income and expenses of a financial year that is over, into the equity of the owner',
    more: 'Every account of income and expenses is empty then by the last day of the year. A repeat enters what was found since.',
    example: [
      'svc admin books year-end --year 2026-27 --reason "accounts of 2026-27" --dry-run',
      'svc admin books year-end --year 2026-27 --reason "accounts of 2026-27"',
    ],
  })
}
