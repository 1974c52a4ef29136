import { fail } from '@svc/contract/errors'
import { enteredReference } from '@svc/core/ledger/entered-reference'
import { findOpenBalance } from '@svc/core/ledger/find-open-balance'
import { settleBalance, settledBalanceToWire, settlementAudit } from '@svc/core/ledger/settle-balance'
import { SETTLED_AGAINST, type SettledAgainst } from '@svc/core/ledger/settlement'
import type { Paise } from '@svc/kernel/money'
import { type Command, Option } from 'commander'
import { printOutcome } from './approval-commands.ts'
import { withInstallation } from './context.ts'
import { moneyActor } from './money-actor.ts'
import { printRecord } from './print.ts'
import { readReason } from './read-reason.ts'
import { readPaise } from './read-rupees.ts'

interface Options {
  readonly amount: Paise
  readonly reference: string
  readonly reason: string
  readonly against?: SettledAgainst
  readonly writeOff?: boolean
  readonly json?: boolean
}

export function addSettleCommand(books: Command): void {
  books
    .command('settle <accountId>')
    .description('enter that what is open on an account ended outside, or is given up, at most what is open')
    .requiredOption('--amount <rupees>', 'rupees, at most two decimals', readPaise)
    .requiredOption('--reference <reference>', 'of the bank or network, or of the decision: entered once')
    .requiredOption('--reason <text>', 'why; it is in the journal', readReason)
    .addOption(
      new Option('--against <kind>', 'of bank exceptions: the account whose bank gave or took it')
        .choices(SETTLED_AGAINST)
        .default(undefined, 'bank'),
    )
    .option('--write-off', 'nothing was paid: the amount is given up')
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      `
What the network or the bank settled, or a merchant repaid to the bank, is entered by its reference. Accounts:
merchant_advances, payout_exceptions, refund_exceptions and accrued_fees of a merchant, card_exceptions of a partner,
settlement_unmatched, network_unmatched and bank_exceptions of the platform (house), tds_receivable of a merchant.
What is owed to us and written off is an expense; what we owe and is never claimed is income.

Examples:
  svc admin books settle merchant_advances:mer_… --amount 1500.00 --reference AXISN0000000042 --reason "repaid"
  svc admin books settle settlement_unmatched:house --amount 12.00 --reference HDFCN0000000042 --reason "sent back"
  svc admin books settle card_exceptions:par_… --amount 35.00 --reference MEMO20261031 --reason "given up" --write-off`,
    )
    .action(settle)
}

async function settle(accountId: string, { json = false, ...options }: Options): Promise<void> {
  const { against, amount: amountPaise, reason } = options
  const reference = enteredReference(options.reference, '--reference')
  const outcome = options.writeOff ? 'WRITTEN_OFF' : 'SETTLED'
  const settled = await withInstallation(async (context) => {
    const { commands, database } = context
    const actor = await moneyActor(context)
    const open = await database.operate((tx) => findOpenBalance(tx, accountId))
    if (!open)
      return fail('ledger_account_not_found', {
        description: `There is no ledger account ${accountId}. Ids: svc admin tenant closing <tenantId>`,
      })
    const { kind, side, tenantId } = open
    const settlement = { tenantId, kind, outcome, side, against, amountPaise, reference, reason } as const
    const audit = { actor, tenantId, ...settlementAudit(accountId, settlement) }
    return commands.open(settleBalance).run(settlement, audit)
  })
  printOutcome(settled, json, (done) => printRecord(settledBalanceToWire(done), json))
}
