import { findCardAccount, fundingAudit } from '@svc/core/cards/account/card-account'
import { fundAccount } from '@svc/core/cards/account/fund-account'
import { withdrawFunds } from '@svc/core/cards/account/withdraw-funds'
import { type FundedAccount, findFundedAccount } from '@svc/core/cards/card/list-onboarded'
import { enteredReference } from '@svc/core/ledger/entered-reference'
import { WaitingApproval } from '@svc/core/ledger/money-command'
import { followedNotice } from '@svc/core/rails/find-notice'
import { required } from '@svc/kernel/invariant'
import { formatRupees, type Paise } from '@svc/kernel/money'
import type { Command } from 'commander'
import { printOutcome } from './approval-commands.ts'
import { type CommandContext, withInstallation } from './context.ts'
import { moneyActor } from './money-actor.ts'
import { printRecord } from './print.ts'
import { readPaise } from './read-rupees.ts'
import { UsageError } from './usage-error.ts'

/** A card account for people. */
export const shownAccount = (account: FundedAccount) => ({
  cardAccountId: account.cardAccountId,
  partnerId: account.partnerId,
  companyId: account.companyId,
  product: account.product,
  accountType: account.accountType,
  binType: account.binType,
  programme: account.programme,
  cards: account.cards,
  denomination: formatRupees(account.denominationPaise),
  balance: formatRupees(account.balancePaise),
})

interface MoveOptions {
  readonly json?: boolean
  readonly amount: Paise
  readonly reference: string
  readonly reason: string
}

interface Movement {
  readonly partnerId: string
  readonly cardAccountId: string
  readonly amountPaise: Paise
  readonly reference: string
  readonly reason: string
}

/** Enters it, or requests the approval of a second person. */
type Enter = (movement: Movement, actor: string, context: CommandContext) => Promise<unknown>

/** Enters money that was paid in or out, or requests the approval of a second person; `done`: how the result is called. */
async function move(
  cardAccountId: string,
  { amount, reference: given, reason, json = false }: MoveOptions,
  done: 'funded' | 'withdrawn',
  enter: Enter,
): Promise<void> {
  const reference = enteredReference(given, '--reference')
  const outcome = await withInstallation(async (context) => {
    const { database } = context
    const actor = await moneyActor(context)
    const account = await database.operate((tx) => findCardAccount(tx, cardAccountId))
    if (!account)
      throw new UsageError(`There is no card account ${cardAccountId}. List: svc admin card-account list`)
    const movement = { partnerId: account.partnerId, cardAccountId, amountPaise: amount, reference, reason }
    const entered = await enter(movement, actor, context)
    if (entered instanceof WaitingApproval) return entered
    const after = await database.operate((tx) => findFundedAccount(tx, cardAccountId))
    return required(after, 'a card account is never deleted')
  })
  printOutcome(outcome, json, (moved) =>
    printRecord({ ...shownAccount(moved), [done]: formatRupees(amount) }, json),
  )
}

const fund = (
  cardAccountId: string,
  { notice, ...options }: MoveOptions & { readonly notice?: string },
): Promise<void> =>
  move(cardAccountId, options, 'funded', async (funding, actor, context) => {
    const assigns = await context.database.operate(async (tx) =>
      notice === undefined ? undefined : await followedNotice(tx, notice, actor, 'transfer_notice'),
    )
    const audit = fundingAudit(funding, funding.amountPaise, givenIn(funding))
    return context.commands.open(fundAccount).run({ ...funding, assigns }, { actor, ...audit })
  })

const withdraw = (cardAccountId: string, options: MoveOptions): Promise<void> =>
  move(cardAccountId, options, 'withdrawn', (withdrawal, actor, context) => {
    const given = givenIn(withdrawal)
    const audit = fundingAudit(withdrawal, withdrawal.amountPaise, given, 'card_account.withdrawn')
    return context.commands.open(withdrawFunds).run(withdrawal, { actor, ...audit })
  })

const givenIn = ({ reference, reason }: Movement) => ({ reference, reason })

/** What moves money to and from a card account. */
export function addCardAccountMoney(account: Command): void {
  account
    .command('fund <cardAccountId>')
    .description('enter money that the partner paid in for the cards of this account')
    .requiredOption('--amount <rupees>', 'rupees, at most two decimals', readPaise)
    .option('--json', 'print JSON')
    .requiredOption('--reference <reference>', 'the bank’s reference of the payment: entered once')
    .requiredOption('--reason <text>', 'why, for the books')
    .option('--notice <noticeId>', 'the notice in quarantine that reports it')
    .addHelpText(
      'after',
      '\nExample:\n  svc admin card-account fund acc_… --amount 250000.00 --reference AXISN0000000042 --reason "April float"',
    )
    .action(fund)
  account
    .command('withdraw <cardAccountId>')
    .description('enter money that was paid back to the partner, at most what is left on this account')
    .requiredOption('--amount <rupees>', 'rupees, at most two decimals', readPaise)
    .option('--json', 'print JSON')
    .requiredOption('--reference <reference>', 'the bank’s reference of the outgoing transfer: entered once')
    .requiredOption('--reason <text>', 'why, for the books')
    .addHelpText(
      'after',
      '\nExample:\n  svc admin card-account withdraw acc_… --amount 1500.00 --reference AXISR0000000042 --reason "contract ended"',
    )
    .action(withdraw)
}
