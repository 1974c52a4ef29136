import { enteredReference } from '@svc/core/ledger/entered-reference'
import { carriedOut, WaitingApproval } from '@svc/core/ledger/money-command'
import type { PayoutStep } from '@svc/core/payments/payouts/change-payout'
import { findPayout, listAllPayouts } from '@svc/core/payments/payouts/find-payouts'
import type { Payout } from '@svc/core/payments/payouts/payout'
import { stepTaker } from '@svc/core/payments/payouts/take-step'
import { type ListedPayout, payout } from '@svc/server/payments/payouts'
import type { Command } from 'commander'
import { printOutcome } from './approval-commands.ts'
import { type CommandContext, withInstallation } from './context.ts'
import { moneyActor } from './money-actor.ts'
import { printNoun, printNouns, recordAfter } from './noun-commands.ts'
import { noPayout, readDay } from './payout-print.ts'
import { readReason } from './read-reason.ts'
import { UsageError } from './usage-error.ts'

interface Json {
  readonly json?: boolean
}

const APPROVED_AT_ONCE_MAX = 10_000

export function addPayoutStepCommands(group: Command): void {
  group
    .command('approve [payoutIds...]')
    .description('approve payouts that another person prepared, to bank accounts that another person set')
    .option('--date <day>', 'all prepared ones of this business day', readDay)
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      '\nExamples:\n  svc admin payout approve pyo_…\n  svc admin payout approve --date 2026-04-01',
    )
    .action(approve)
  group
    .command('cancel <payoutId>')
    .description('cancel a payout that was not sent: its money is payable again')
    .requiredOption('--reason <text>', 'why', readReason)
    .option('--json', 'print JSON')
    .addHelpText('after', '\nExample:\n  svc admin payout cancel pyo_… --reason "wrong account"')
    .action((payoutId: string, { reason, json }: Json & { reason: string }) =>
      step(payoutId, { to: 'CANCELLED', reason }, json),
    )
  group
    .command('confirm <payoutId>')
    .description('record that the bank has paid a payout, also one that it had reported as failed')
    .requiredOption('--utr <reference>', 'the bank’s own reference of the payout')
    .option('--json', 'print JSON')
    .addHelpText('after', '\nExample:\n  svc admin payout confirm pyo_… --utr HDFCR0000000042')
    .action((payoutId: string, { utr, json }: Json & { utr: string }) =>
      step(payoutId, { to: 'PAID', utr: enteredReference(utr, 'utr') }, json),
    )
  group
    .command('fail <payoutId>')
    .description(
      'record that the bank could not pay a payout, or that its money came back: it is payable again, once a second person approves',
    )
    .requiredOption('--reason <text>', 'why', readReason)
    .option('--return-utr <reference>', 'the bank’s own reference of the return, of a payout that was paid')
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      '\nExamples:\n  svc admin payout fail pyo_… --reason "account closed"\n  svc admin payout fail pyo_… --return-utr HDFCR0000000043 --reason "account closed"',
    )
    .action((payoutId: string, { reason, returnUtr, json }: Json & { reason: string; returnUtr?: string }) =>
      step(
        payoutId,
        { to: 'FAILED', reason, returnUtr: returnUtr && enteredReference(returnUtr, 'returnUtr') },
        json,
      ),
    )
}

/** One step of a payout, in the name of who requests it; that it failed may wait for a second person. */
async function changeInName(
  { commands }: CommandContext,
  found: Payout,
  taken: PayoutStep,
  actor: string,
): Promise<Payout | WaitingApproval> {
  const changed = await stepTaker(commands)(found, taken, { actor })
  return changed instanceof WaitingApproval ? changed : changed.payout
}

async function step(payoutId: string, taken: PayoutStep, json = false): Promise<void> {
  const changed = await withInstallation(async (context) => {
    const actor = await moneyActor(context)
    const found = await context.database.operate((tx) => findPayout(tx, payoutId))
    const outcome = await changeInName(context, found ?? noPayout(payoutId), taken, actor)
    return recordAfter<ListedPayout>(context, payout, payoutId, outcome)
  })
  printOutcome(changed, json, (record) => printNoun(record, json))
}

async function approve(payoutIds: readonly string[], { date, json = false }: Json & { date?: string }) {
  if ((date === undefined) === (payoutIds.length === 0))
    throw new UsageError('Name payouts, or all of a day with --date.')
  const approved = await withInstallation(async (context) => {
    const by = await moneyActor(context)
    const found = await context.database.operate(async (tx) => {
      if (date !== undefined)
        return listAllPayouts(tx, { businessDay: date, status: 'PREPARED', limit: APPROVED_AT_ONCE_MAX })
      return Promise.all(payoutIds.map(async (id) => (await findPayout(tx, id)) ?? noPayout(id)))
    })
    const changed = []
    for (const each of found) {
      const outcome = carriedOut(await changeInName(context, each, { to: 'APPROVED', by }, by))
      changed.push(await recordAfter<ListedPayout>(context, payout, each.payoutId, outcome))
    }
    return changed
  })
  printNouns<ListedPayout>(payout, approved, { json })
}
