import { activateCard } from '@svc/core/cards/card/activate-card'
import { type CardFlag, CHANNELS, type Channel } from '@svc/core/cards/card/card'
import { CARD_ACTIONS, type CardChangeArgs, type Changed } from '@svc/core/cards/card/card-changes'
import { type CardView, cardFormOf, toCardRecord, usedPaise } from '@svc/core/cards/card/card-record'
import { KYC_STATUS_LABELS, type KycStatus } from '@svc/core/cards/card/card-states'
import { cardLookup } from '@svc/core/cards/card/card-view'
import {
  changeCardStatus,
  REASON_CHARS_MAX,
  type WantedStatus,
} from '@svc/core/cards/card/change-card-status'
import { cardPartnerLookup } from '@svc/core/cards/card/find-card-partner'
import { setCardFlags, type WantedFlags } from '@svc/core/cards/card/set-card-flags'
import { setCardKyc } from '@svc/core/cards/card/set-card-kyc'
import { formatRupees } from '@svc/kernel/money'
import { systemClock } from '@svc/kernel/time'
import type { AuditEntry } from '@svc/platform/audit'
import type { AnyCommand } from '@svc/platform/command'
import { card as cardNoun, type ListedCard } from '@svc/server/cards/card-resource'
import { cardTransaction } from '@svc/server/cards/card-transactions'
import { cardChange } from '@svc/server/cards/list-card-changes'
import { LIMIT_MAX } from '@svc/server/http/page'
import type { Command } from 'commander'
import { addEndCommands } from './card-end-commands.ts'
import { addExceptionCommands } from './card-exception-commands.ts'
import { addIssueCommand } from './card-issue-command.ts'
import { addLoadCommands } from './card-load-commands.ts'
import { type CommandContext, cliActor, withInstallation } from './context.ts'
import { addNounList, printNouns, readRecords } from './noun-commands.ts'
import { printJson, printRecord } from './print.ts'
import { UsageError } from './usage-error.ts'

interface Json {
  readonly json?: boolean
}

interface Reasoned extends Json {
  readonly reason?: string
}

export function addCardCommands(program: Command): void {
  const card = program.command('cards').description('look at cards and change them, as the operator')
  card
    .command('show <svcCardId>')
    .description('show a card: state, balance, use, flags; never its number')
    .option('--json', 'print the full card record as JSON')
    .addHelpText('after', '\nExample:\n  svc admin cards show card_…')
    .action((svcCardId: string, { json = false }: Json) =>
      withInstallation(async (context) => printCard(context, await findCard(context, svcCardId), json)),
    )
  card
    .command('history <svcCardId>')
    .description('list what was changed on a card: when, by whom and why; newest first')
    .option('--json', 'print JSON')
    .addHelpText('after', '\nExample:\n  svc admin cards history card_…')
    .action((svcCardId: string, { json = false }: Json) =>
      withInstallation(async (context) => {
        await findCard(context, svcCardId)
        printNouns(cardChange, await readRecords(context, cardChange, { svcCardId }, LIMIT_MAX), { json })
      }),
    )
  addNounList<ListedCard>(card, cardNoun, {
    by: 'cardAccountId',
    description: 'list cards of all partners, or of one card account, newest first',
    example: 'svc admin cards list acc_… --status UL',
  })
  addNounList(
    card.command('transactions').description('what happened on cards: authorisations and movements of money'),
    cardTransaction,
    {
      by: 'svcCardId',
      description: 'list transactions of all cards, or of one',
      example: 'svc admin cards transactions list card_… --kind capture',
    },
  )
  addIssueCommand(card, async (context, svcCardId, json) =>
    printCard(context, await findCard(context, svcCardId), json),
  )
  addLoadCommands(card)
  addEndCommands(card)
  addExceptionCommands(card)
  addStatusCommands(card)
  addFlagAndKycCommands(card)
}

function addStatusCommands(card: Command): void {
  for (const [name, status, description] of [
    ['lock', 'L', 'lock a card: it cannot be used until it is unlocked'],
    ['unlock', 'UL', 'unlock a locked card'],
    ['block', 'BL', 'block a card for good; needs a reason'],
  ] as const satisfies [string, WantedStatus, string][]) {
    const command = card.command(`${name} <svcCardId>`).description(description)
    if (status === 'BL')
      command.requiredOption(
        '--reason <text>',
        `why, 1 to ${REASON_CHARS_MAX} characters; kept in the history`,
      )
    else command.option('--reason <text>', 'why; kept in the history')
    command
      .option('--json', 'print the full card record as JSON')
      .addHelpText('after', `\nExample:\n  svc admin cards ${name} card_… --reason "reported lost"`)
      .action((svcCardId: string, { reason, json = false }: Reasoned) =>
        change(
          svcCardId,
          json,
          changeCardStatus,
          reason,
          { action: CARD_ACTIONS.changeCardStatus, details: { status } },
          (by) => ({ ...by, status }),
        ),
      )
  }
  card
    .command('activate <svcCardId>')
    .description('activate a physical card that has arrived')
    .option('--reason <text>', 'why; kept in the history')
    .option('--json', 'print the full card record as JSON')
    .addHelpText('after', '\nExample:\n  svc admin cards activate card_…')
    .action((svcCardId: string, { reason, json = false }: Reasoned) =>
      change(
        svcCardId,
        json,
        activateCard,
        reason,
        { action: CARD_ACTIONS.activateCard, details: {} },
        (by) => by,
      ),
    )
}

type FlagOptions = Reasoned & Partial<Record<Channel | `${Channel}Admin`, string>>

function addFlagAndKycCommands(card: Command): void {
  const set = card
    .command('flags')
    .description('flags of cards: where they may be used')
    .command('set <svcCardId>')
    .description(
      'open or close channels; an admin flag that is off closes its channel whatever the user’s flag says',
    )
  for (const channel of CHANNELS) {
    set.option(`--${channel} <on|off>`, `the user’s flag for ${channel}`)
    set.option(`--${channel}-admin <on|off>`, `the admin’s flag for ${channel}`)
  }
  set
    .option('--reason <text>', 'why; kept in the history')
    .option('--json', 'print the full card record as JSON')
    .addHelpText('after', '\nExample:\n  svc admin cards flags set card_… --atm on --atm-admin on')
    .action((svcCardId: string, options: FlagOptions) => {
      const flags = readFlags(options)
      return change(
        svcCardId,
        options.json ?? false,
        setCardFlags,
        options.reason,
        { action: CARD_ACTIONS.setCardFlags, details: { ...flags } },
        (by) => ({
          ...by,
          flags,
        }),
      )
    })
  const names = Object.keys(KYC_STATUS_LABELS) as KycStatus[]
  card
    .command('kyc')
    .description('KYC state of cards')
    .command('set <svcCardId> <status>')
    .description(`move a card’s KYC to the next state: ${names.join(', ')}`)
    .option('--reason <text>', 'why; kept in the history')
    .option('--json', 'print the full card record as JSON')
    .addHelpText('after', '\nExample:\n  svc admin cards kyc set card_… UPLOADED')
    .action((svcCardId: string, status: string, { reason, json = false }: Reasoned) => {
      const kycStatus = names.find((name) => name === status)
      if (!kycStatus) throw new UsageError(`The status must be one of ${names.join(', ')}`)
      return change(
        svcCardId,
        json,
        setCardKyc,
        reason,
        { action: CARD_ACTIONS.setCardKyc, details: { kycStatus } },
        (by) => ({ ...by, kycStatus }),
      )
    })
}

function requireReason(reason: string | undefined): string {
  if (reason !== undefined && (!/\S/.test(reason) || reason.length > REASON_CHARS_MAX))
    throw new UsageError(`--reason must have 1 to ${REASON_CHARS_MAX} characters, not only spaces`)
  return reason ?? ''
}

function readFlags(options: FlagOptions): WantedFlags {
  const read = (option: Channel | `${Channel}Admin`): boolean | undefined => {
    const text = options[option]
    if (text !== undefined && text !== 'on' && text !== 'off')
      throw new UsageError(`--${option.replace('Admin', '-admin')} must be on or off`)
    return text === undefined ? undefined : text === 'on'
  }
  const flags = CHANNELS.flatMap((channel): [CardFlag, boolean | undefined][] => [
    [`${channel}Allowed`, read(channel)],
    [`${channel}AllowedAdmin`, read(`${channel}Admin`)],
  ]).filter(([, on]) => on !== undefined)
  if (flags.length === 0)
    throw new UsageError(
      'Say which flags: --pos, --pos-admin, --atm, --atm-admin, --online or --online-admin',
    )
  return Object.fromEntries(flags)
}

const noCard = (svcCardId: string): never => {
  throw new UsageError(`There is no card ${svcCardId}`)
}

async function findCard({ config, database }: CommandContext, svcCardId: string): Promise<CardView> {
  const partnerId = (await cardPartnerLookup(database)(svcCardId)) ?? noCard(svcCardId)
  const find = cardLookup(database, systemClock, config.BUSINESS_TIME_ZONE)
  return (await find(partnerId, svcCardId)) ?? noCard(svcCardId)
}

/** Runs the command that the API runs, as the operator. */
async function change<Args>(
  svcCardId: string,
  json: boolean,
  command: AnyCommand<Args, Changed>,
  givenReason: string | undefined,
  act: Pick<AuditEntry, 'action' | 'details'>,
  argsOf: (by: CardChangeArgs) => Args,
): Promise<void> {
  const reason = requireReason(givenReason)
  await withInstallation(async (context) => {
    const { card } = await findCard(context, svcCardId)
    const { partnerId } = card
    await context.commands.open(command).run(argsOf({ partnerId, svcCardId, actor: 'operator', reason }), {
      actor: cliActor(),
      ...act,
      target: svcCardId,
      tenantId: partnerId,
    })
    printCard(context, await findCard(context, svcCardId), json)
  })
}

function printCard({ config }: CommandContext, view: CardView, json: boolean): void {
  if (json) return printJson(toCardRecord(view, cardFormOf(config)))
  const { card, account, balancePaise, usage } = view
  const flag = (channel: Channel) =>
    `${card[`${channel}Allowed`] ? 'on' : 'off'}, admin ${card[`${channel}AllowedAdmin`] ? 'on' : 'off'}`
  printRecord(
    {
      svcCardId: card.svcCardId,
      maskedNumber: card.maskedNumber,
      partnerId: card.partnerId,
      companyId: card.companyId,
      companyName: account.companyName,
      cardAccountId: card.cardAccountId,
      userId: card.userId,
      cardStatus: card.status,
      kycStatus: card.kycStatus,
      physicalCard: card.physical,
      cardActivated: card.activated,
      load: formatRupees(card.loadPaise),
      balance: formatRupees(balancePaise),
      usedToday: formatRupees(usedPaise(usage.dayPaise)),
      usedThisMonth: formatRupees(usedPaise(usage.monthPaise)),
      usedThisYear: formatRupees(usedPaise(usage.yearPaise)),
      usedInAll: formatRupees(usedPaise(usage.lifePaise)),
      pos: flag('pos'),
      atm: flag('atm'),
      online: flag('online'),
      expires: `${String(card.expiryMonth).padStart(2, '0')}/${card.expiryYear}`,
      remarks: card.remarks,
      createdAt: card.createdAt,
      modifiedAt: card.modifiedAt,
    },
    false,
  )
}
