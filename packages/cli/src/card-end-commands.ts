import { cardPartnerLookup } from '@svc/core/cards/card/find-card-partner'
import { replaceCard } from '@svc/core/cards/card/replace-card'
import { type CardReturn, cardReturns } from '@svc/core/cards/end/card-return'
import { findReturn } from '@svc/core/cards/end/find-card-end'
import { CONSENT_REFERENCE_CHARS_MAX, returnCard, reverseReturn } from '@svc/core/cards/end/return-card'
import { formatRupees } from '@svc/kernel/money'
import { statement } from '@svc/platform/db/statement'
import type { Command } from 'commander'
import { type CommandContext, withInstallation } from './context.ts'
import { moneyActor } from './money-actor.ts'
import { printRecord, printRows } from './print.ts'
import { readCount } from './read-count.ts'
import { readReason } from './read-reason.ts'
import { UsageError } from './usage-error.ts'

interface Json {
  readonly json?: boolean
}

const LIST = statement<CardReturn>(
  'cli_card_returns',
  `select ${cardReturns.columns} from card_returns u
   where ($1::text is null or u.svc_card_id = $1) and (not $2 or u.status = 'WAITING')
   order by u.created_at desc, u.return_id desc limit $3`,
)

const shown = (returned: CardReturn) => ({
  returnId: returned.returnId,
  svcCardId: returned.svcCardId,
  partnerId: returned.partnerId,
  cardAccountId: returned.cardAccountId,
  basis: returned.basis,
  consentReference: returned.consentReference,
  amount: formatRupees(returned.amountPaise),
  status: returned.status,
  reversalReason: returned.reversalReason,
  createdAt: returned.createdAt,
  dueAt: returned.dueAt,
  closedAt: returned.closedAt,
})

const partnerOf = async ({ database }: CommandContext, svcCardId: string): Promise<string> => {
  const partnerId = await cardPartnerLookup(database)(svcCardId)
  if (!partnerId) throw new UsageError(`There is no card ${svcCardId}`)
  return partnerId
}

export function addEndCommands(card: Command): void {
  card
    .command('replace <svcCardId>')
    .description('replace a lost, stolen or expired card by a new one, which gets its balance')
    .requiredOption('--reason <text>', 'why; kept in the history', readReason)
    .option('--json', 'print JSON')
    .addHelpText('after', '\nExample:\n  svc admin cards replace card_… --reason "reported stolen"')
    .action((svcCardId: string, options: Json & { readonly reason: string }) => replace(svcCardId, options))
  card
    .command('return <svcCardId>')
    .description(
      'send what is left on a blocked or expired card back to its card account, at the holder’s consent',
    )
    .requiredOption('--consent <reference>', 'where the holder’s consent is recorded')
    .option('--json', 'print JSON')
    .addHelpText('after', '\nExample:\n  svc admin cards return card_… --consent LETTER-2026-0042')
    .action((svcCardId: string, options: Json & { readonly consent: string }) =>
      returnBalance(svcCardId, options),
    )
  card
    .command('returns')
    .description(
      'list remaining balances of blocked or expired cards that return to card accounts, newest first',
    )
    .option('--card <svcCardId>', 'of one card')
    .option('--waiting', 'only what can still be put back on its card')
    .option('--limit <count>', 'how many', readCount, 50)
    .option('--json', 'print JSON')
    .addHelpText('after', '\nExample:\n  svc admin cards returns --waiting')
    .action(list)
  card
    .command('reverse-return <returnId>')
    .description('put money on its way back to a card account back on the card, as long as it waits')
    .requiredOption('--reason <text>', 'why', readReason)
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      '\nExample:\n  svc admin cards reverse-return crt_… --reason "the holder was found"',
    )
    .action((returnId: string, options: Json & { readonly reason: string }) => reverse(returnId, options))
}

async function replace(svcCardId: string, { reason, json = false }: Json & { readonly reason: string }) {
  const { replacement } = await withInstallation(async (context) => {
    const partnerId = await partnerOf(context, svcCardId)
    return context.commands.open(replaceCard).run(
      { partnerId, svcCardId, actor: 'operator', reason },
      {
        actor: await moneyActor(context),
        action: 'card.replaced',
        target: svcCardId,
        tenantId: partnerId,
      },
    )
  })
  const { card, balancePaise } = replacement
  printRecord(
    {
      svcCardId: card.svcCardId,
      replaces: svcCardId,
      maskedNumber: card.maskedNumber,
      partnerId: card.partnerId,
      balance: formatRupees(balancePaise),
    },
    json,
  )
}

async function returnBalance(
  svcCardId: string,
  { consent, json = false }: Json & { readonly consent: string },
) {
  if (!/^[!-~]+$/.test(consent) || consent.length > CONSENT_REFERENCE_CHARS_MAX)
    throw new UsageError(`--consent must have 1 to ${CONSENT_REFERENCE_CHARS_MAX} visible ASCII characters`)
  const { returned } = await withInstallation(async (context) => {
    const partnerId = await partnerOf(context, svcCardId)
    return context.commands.open(returnCard).run(
      { partnerId, svcCardId, consentReference: consent },
      {
        actor: await moneyActor(context),
        action: 'card.returned',
        target: svcCardId,
        tenantId: partnerId,
        details: { consent },
      },
    )
  })
  printRecord(shown(returned), json)
}

interface ListOptions extends Json {
  readonly card?: string
  readonly waiting?: boolean
  readonly limit: number
}

async function list({ card, waiting = false, limit, json = false }: ListOptions): Promise<void> {
  const rows = await withInstallation(({ database }) =>
    database.operate((tx) => tx.query(LIST, [card ?? null, waiting, limit])),
  )
  printRows(rows.map(shown), json)
}

async function reverse(returnId: string, { reason, json = false }: Json & { readonly reason: string }) {
  const { returned } = await withInstallation(async (context) => {
    const { commands, database } = context
    const found = await database.operate((tx) => findReturn(tx, returnId))
    if (!found)
      throw new UsageError(`There is no return ${returnId}. List them with: svc admin cards returns`)
    const { partnerId, svcCardId } = found
    return commands.open(reverseReturn).run(
      { partnerId, svcCardId, returnId, reason },
      {
        actor: await moneyActor(context),
        action: 'card.return_reversed',
        target: svcCardId,
        tenantId: partnerId,
        details: { returnId, reason },
      },
    )
  })
  printRecord(shown(returned), json)
}
