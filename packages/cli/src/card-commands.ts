import {
  activateCardInConsole,
  changeCardStatusInConsole,
  setCardFlagsInConsole,
  setCardKycInConsole,
} from '@svc/console-api/faces/card-change-operations'
import {
  replaceCardInConsole,
  returnCardInConsole,
  reverseCardReturn,
} from '@svc/console-api/faces/card-end-operations'
import { showCard } from '@svc/console-api/faces/card-operations'
import { issueCardInConsole } from '@svc/console-api/faces/issue-card'
import { loadCardInConsole, unloadCardInConsole } from '@svc/console-api/faces/load-card'
import { CHANNELS } from '@svc/core/cards/card/card'
import type { CardReturn } from '@svc/core/cards/end/card-return'
import type { CardException } from '@svc/core/cards/rail/card-exception'
import { cardException } from '@svc/server/cards/card-exceptions'
import { card as cardNoun, type ListedCard } from '@svc/server/cards/card-resource'
import { cardReturn } from '@svc/server/cards/card-returns'
import { cardTransaction } from '@svc/server/cards/card-transactions'
import { type CardChange, cardChange } from '@svc/server/cards/list-card-changes'
import { type Command, InvalidArgumentError } from 'commander'
import { addNounList } from './noun-commands.ts'
import { addOperation } from './operation-command.ts'
import type { Flag } from './option-of-field.ts'

export function addCardCommands(program: Command): void {
  const card = program.command('cards').description('look at cards and change them, as the operator')
  addOperation(card, showCard, {
    name: 'show',
    description: 'show a card: state, balance, use, flags, history, ledger entries; never its number',
    example: 'svc admin cards show card_…',
    shown: ({ card: shown, partnerId, balance }: CardDetail) => ({ partnerId, balance, ...shownCard(shown) }),
  })
  addNounList<CardChange>(card, cardChange, {
    name: 'history',
    by: 'svcCardId',
    description: 'list what was changed on a card: when, by whom and why; newest first',
    example: 'svc admin cards history card_…',
  })
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
  addNounList<CardException>(card, cardException, {
    name: 'exceptions',
    by: 'svcCardId',
    description:
      'list what the card network reported and no card, authorisation or capture fits; newest first',
    example: 'svc admin cards exceptions --limit 10',
  })
  addMoneyCommands(card)
  addEndCommands(card)
  addStatusCommands(card)
  addFlagAndKycCommands(card)
}

type CardRecord = Readonly<Record<string, unknown>>

interface CardDetail {
  readonly card: CardRecord
  readonly partnerId: string
  readonly balance: string
}

/** What people look for first in the record of a card. */
const SHOWN = [
  'svcCardId maskedNumber companyId companyName cardAccountId userId cardStatus kycStatus physicalCard cardActivated',
  'loadAmount usedDtd usedMtd usedYtd usedLtd posAllowed posAllowedAdmin atmAllowed atmAllowedAdmin onlineAllowed',
  'onlineAllowedAdmin expiryMonth expiryYear remarks createdOn modifiedOn',
].flatMap((line) => line.split(' '))

/** A card for people: of a state, its name. */
const shownCard = (card: CardRecord): CardRecord =>
  Object.fromEntries(
    SHOWN.map((field) => {
      const { [field]: value } = card
      return [field, (value as { readonly name?: string } | undefined)?.name ?? value]
    }),
  )

function addMoneyCommands(card: Command): void {
  addOperation(card, issueCardInConsole, {
    name: 'issue',
    description: 'issue a gift card on behalf of the partner, loaded from its card account',
    flags: {
      userId: { name: 'user' },
      loadAmount: { name: 'amount' },
      referenceNumber: { name: 'reference' },
      physicalCard: { name: 'physical' },
    },
    example: 'svc admin cards issue acc_… --email asha@example.com --amount 500 --reference first-card',
    shown: shownCard,
  })
  const flags = { referenceNumber: { name: 'reference' } }
  addOperation(card, loadCardInConsole, {
    name: 'load',
    description: 'load a card again, from its card account, on behalf of the partner',
    flags,
    example: 'svc admin cards load card_… --amount 1500 --reference april-42 --reason "April allocation"',
  })
  addOperation(card, unloadCardInConsole, {
    name: 'unload',
    description: 'take money of a card back to its card account, where that has unallocateFundAllowed',
    flags,
    example:
      'svc admin cards unload card_… --amount 250 --reference april-42-back --reason "left the company"',
  })
}

function addEndCommands(card: Command): void {
  addOperation(card, replaceCardInConsole, {
    name: 'replace',
    description: 'replace a lost, stolen or expired card by a new one, which gets its balance',
    example: 'svc admin cards replace card_… --reason "reported stolen"',
    shown: shownCard,
  })
  addOperation(card, returnCardInConsole, {
    name: 'return',
    description:
      'send what is left on a blocked or expired card back to its card account, at the holder’s consent',
    flags: { consentReference: { name: 'consent', description: 'where the holder’s consent is recorded' } },
    example: 'svc admin cards return card_… --consent LETTER-2026-0042',
  })
  addNounList<CardReturn>(card, cardReturn, {
    name: 'returns',
    by: 'svcCardId',
    description:
      'list remaining balances of blocked or expired cards that return to card accounts, newest first',
    example: 'svc admin cards returns --status WAITING',
  })
  addOperation(card, reverseCardReturn, {
    name: 'reverse-return',
    description: 'put money on its way back to a card account back on the card, as long as it waits',
    example: 'svc admin cards reverse-return crt_… --reason "the holder was found"',
  })
}

function addStatusCommands(card: Command): void {
  for (const [name, status, description] of [
    ['lock', 'L', 'lock a card: it cannot be used until it is unlocked'],
    ['unlock', 'UL', 'unlock a locked card'],
    ['block', 'BL', 'block a card for good'],
  ] as const)
    addOperation(card, changeCardStatusInConsole, {
      name,
      given: { status },
      description,
      example: `svc admin cards ${name} card_… --reason "reported lost"`,
      shown: shownCard,
    })
  addOperation(card, activateCardInConsole, {
    name: 'activate',
    description: 'activate a physical card that has arrived',
    example: 'svc admin cards activate card_… --reason "confirmed by phone"',
    shown: shownCard,
  })
}

function readOnOff(text: string): boolean {
  if (text !== 'on' && text !== 'off') throw new InvalidArgumentError('It must be on or off.')
  return text === 'on'
}

/** The flags of cards, by channel. */
const FLAGS: Readonly<Record<string, Flag>> = Object.fromEntries(
  CHANNELS.flatMap((channel) => [
    [`${channel}Allowed`, { name: channel, read: readOnOff }],
    [`${channel}AllowedAdmin`, { name: `${channel}-admin`, read: readOnOff }],
  ]),
)

function addFlagAndKycCommands(card: Command): void {
  addOperation(
    card.command('flags').description('flags of cards: where they may be used'),
    setCardFlagsInConsole,
    {
      name: 'set',
      description:
        'open or close channels (on or off); an admin flag that is off closes its channel whatever the user’s flag says',
      flags: FLAGS,
      example: 'svc admin cards flags set card_… --atm on --atm-admin on --reason "asked for by phone"',
      shown: shownCard,
    },
  )
  addOperation(card.command('kyc').description('KYC state of cards'), setCardKycInConsole, {
    name: 'set',
    by: ['kycStatus'],
    description: 'move a card’s KYC to the next state',
    example: 'svc admin cards kyc set card_… UPLOADED --reason "papers arrived"',
    shown: shownCard,
  })
}
