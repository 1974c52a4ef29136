import { enteredReference } from '@svc/core/ledger/entered-reference'
import { findOpenBalance } from '@svc/core/ledger/find-open-balance'
import { settleBalance } from '@svc/core/ledger/settle-balance'
import { formatRupees, type Paise } from '@svc/kernel/money'
import type { Command } from 'commander'
import { printOutcome } from './approval-commands.ts'
import { withInstallation } from './context.ts'
import { moneyActor } from './money-actor.ts'
import { printRecord } from './print.ts'
import { readReason } from './read-reason.ts'
import { readPaise } from './read-rupees.ts'
import { UsageError } from './usage-error.ts'

interface Options {
  readonly amount: Paise
  readonly reference: string
  readonly reason: string
  readonly writeOff?: boolean
  readonly json?: boolean
}

export function addSettleCommand(books: Command): void {
  books
    .command('settle <accountId>')
    .description('enter that what is open on card exceptions or advances ended outside, at most what is open')
    .requiredOption('--amount <rupees>', 'rupees, at most two decimals', readPaise)
    .requiredOption('--reference <reference>', 'of the bank or network, or of the decision: entered once')
    .requiredOption('--reason <text>', 'why; it is in the journal', readReason)
    .option('--write-off', 'nothing was paid: the amount is given up')
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      `
What the network settled, or a merchant repaid to the bank, is entered by its reference.

Examples:
  svc admin books settle merchant_advances:mer_… --amount 1500.00 --reference AXISN0000000042 --reason "repaid"
  svc admin books settle card_exceptions:par_… --amount 35.00 --reference MEMO20261031 --reason "given up" --write-off`,
    )
    .action(settle)
}

async function settle(accountId: string, { json = false, ...options }: Options): Promise<void> {
  const { amount: amountPaise, reason } = options
  const reference = enteredReference(options.reference, '--reference')
  const outcome = options.writeOff ? 'WRITTEN_OFF' : 'SETTLED'
  const settled = await withInstallation(async (context) => {
    const { commands, database } = context
    const actor = await moneyActor(context)
    const open = await database.operate((tx) => findOpenBalance(tx, accountId))
    if (!open)
      throw new UsageError(
        `There is no ledger account ${accountId}. Ids: svc admin tenant closing <tenantId>`,
      )
    const { kind, side, tenantId } = open
    const settlement = { tenantId, kind, outcome, side, amountPaise, reference, reason } as const
    const details = { amount: formatRupees(amountPaise), outcome, reference, reason }
    const audit = { actor, action: 'ledger_account.settled', target: accountId, tenantId, details }
    return commands.open(settleBalance).run(settlement, audit)
  })
  printOutcome(settled, json, ({ journal, journalId, openPaise }) =>
    printRecord(
      {
        accountId,
        journalId,
        amount: formatRupees(amountPaise),
        outcome,
        open: formatRupees(openPaise),
        isRepeat: journal === undefined,
      },
      json,
    ),
  )
}
