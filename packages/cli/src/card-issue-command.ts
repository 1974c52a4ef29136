import { CARD_ISSUED, OrderByOperator, orderForPartner } from '@svc/console-api/faces/issue-card'
import { findCardAccount } from '@svc/core/cards/account/card-account'
import { createGiftCard } from '@svc/core/cards/card/create-gift-card'
import { carriedOut } from '@svc/core/ledger/money-command'
import { bodyCheck } from '@svc/server/http/validator'
import type { Command } from 'commander'
import { type CommandContext, withInstallation } from './context.ts'
import { moneyActor } from './money-actor.ts'
import { UsageError } from './usage-error.ts'

interface IssueOptions {
  readonly json?: boolean
  readonly user?: string
  readonly firstName?: string
  readonly lastName?: string
  readonly email?: string
  readonly mobile?: string
  readonly amount?: string
  readonly reference?: string
  readonly physical?: boolean
}

/** Issues a gift card on behalf of a partner; `print` shows the card. */
export function addIssueCommand(
  card: Command,
  print: (context: CommandContext, svcCardId: string, json: boolean) => Promise<void>,
): void {
  card
    .command('issue <cardAccountId>')
    .description('issue a gift card on behalf of the partner, loaded from its card account')
    .option('--user <userId>', 'a user of the company; by default found by mobile or e-mail, or created')
    .option('--first-name <name>', 'of the holder')
    .option('--last-name <name>', 'of the holder')
    .option('--email <address>', 'of the holder')
    .option('--mobile <digits>', 'of the holder, 10 digits')
    .option('--amount <rupees>', 'whole rupees to load; by default the denomination of the card account')
    .option('--reference <reference>', 'names the order: repeating it returns the first card')
    .option('--physical', 'a physical card, which waits to be activated')
    .option('--json', 'print the full card record as JSON')
    .addHelpText(
      'after',
      '\nExample:\n  svc admin cards issue acc_… --email asha@example.com --amount 500 --reference first-card',
    )
    .action((cardAccountId: string, options: IssueOptions) => issue(cardAccountId, options, print))
}

async function issue(
  cardAccountId: string,
  { json = false, user, amount, reference, physical, ...holder }: IssueOptions,
  print: Parameters<typeof addIssueCommand>[1],
): Promise<void> {
  const order = {
    ...holder,
    ...(user !== undefined && { userId: user }),
    ...(amount !== undefined && { loadAmount: amount }),
    ...(reference !== undefined && { referenceNumber: reference }),
    ...(physical && { physicalCard: true }),
  }
  const invalid = bodyCheck(OrderByOperator)(order)
  if (invalid) throw new UsageError(invalid.description)
  await withInstallation(async (context) => {
    const { commands, database } = context
    if (!(await database.operate((tx) => findCardAccount(tx, cardAccountId))))
      throw new UsageError(`There is no card account ${cardAccountId}. List: svc admin card-account list`)
    const args = await orderForPartner(database, cardAccountId, order)
    const issued = await commands.open(createGiftCard).run(args, {
      ...CARD_ISSUED,
      actor: await moneyActor(context),
      tenantId: args.partnerId,
      details: { cardAccountId },
    })
    await print(context, carriedOut(issued).record.svcCardId, json)
  })
}
