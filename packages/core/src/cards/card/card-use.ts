import { fail } from '@svc/contract/errors'
import { ByTenant } from '@svc/kernel/by-tenant'
import { type Paise, paiseToWire } from '@svc/kernel/money'
import { rfc3339 } from '@svc/kernel/time'
import { command } from '@svc/platform/command'
import type { BatchTx } from '@svc/platform/db/batch'
import { saveEvents } from '@svc/platform/outbox'
import { Type } from 'typebox'
import { account, accountId } from '../../ledger/accounts.ts'
import { journalOf, saveJournals } from '../../ledger/journals.ts'
import type { Transfer } from '../../ledger/transfers.ts'
import { wakeEnded } from '../end/card-end-state.ts'
import { openToBuy } from '../rail/open-to-buy.ts'
import { lockRulesInForce, type RulesInForce } from '../rules/rules-in-force.ts'
import { CHANNELS, type Channel } from './card.ts'
import {
  type CardViews,
  cardPreparation,
  lockCards,
  type PreparedForCard,
  readForMoney,
  viewOf,
} from './card-changes.ts'
import type { CardView } from './card-record.ts'
import { cardPartnerLookup } from './find-card-partner.ts'

/**
 * Money that a terminal takes from a card, or gives back to it. The terminal knows the card and not its partner: like
 * the card network, it stands above the partners.
 */
export interface CardUse {
  readonly svcCardId: string
  readonly amountPaise: Paise
  readonly channel?: Channel | undefined
  readonly merchantName?: string | undefined
}

type Prepared<Args> = PreparedForCard & Args

export interface Used {
  /** After the movement. */
  readonly view: CardView
  readonly transfer: Transfer
  readonly command: Prepared<CardUse>
}

interface Kind<Args> {
  readonly name: string
  readonly transferKind: 'card_spend' | 'card_refund'
  readonly eventType: 'card.spent' | 'card.refunded'
  /** Pure; throws the failure when the card cannot be used so. */
  readonly check: (view: CardView, use: Prepared<Args>, now: Date, rules: RulesInForce) => void
  /** Whether the partner's spend rules are about it. */
  readonly isRuled?: boolean
}

/** Locked cards, and the spend rules in force for them. */
export interface UseState {
  readonly views: CardViews
  readonly rules: RulesInForce
}

export const CardReceipt = Type.Object(
  {
    transactionId: Type.String(),
    svcCardId: Type.String(),
    amount: Type.Number({ description: 'Rupees' }),
    channel: Type.Optional(Type.Enum([...CHANNELS])),
    merchantName: Type.Optional(Type.String()),
    otbBalance: Type.Number({ description: 'Rupees that the card has left, exact' }),
    createdOn: Type.String({ description: 'RFC 3339' }),
  },
  { title: 'CardReceipt', additionalProperties: false },
)

/** What a terminal prints, and the event reports: the card by its id, never by its number. */
export const receiptToWire = ({ view, transfer, command }: Used) => ({
  transactionId: transfer.transferId,
  svcCardId: view.card.svcCardId,
  amount: paiseToWire(transfer.amountPaise),
  ...(command.channel && { channel: command.channel }),
  ...(command.merchantName !== undefined && { merchantName: command.merchantName }),
  otbBalance: paiseToWire(openToBuy(view)),
  createdOn: rfc3339(transfer.createdAt, command.timeZone),
})

/** Spending and refunding, but for their rules: the card is locked before the ledger accounts, as everywhere. */
export const cardUse = <Args extends CardUse>({
  name,
  transferKind,
  eventType,
  check,
  isRuled = false,
}: Kind<Args>) =>
  command<Args, Prepared<Args>, UseState, Used>({
    name,
    // The network itself, played by the sandbox.
    isSigned: true,
    prepare(tools) {
      const partnerOf = cardPartnerLookup(tools.database)
      const preparationOf = cardPreparation(tools)
      return async (args: Args): Promise<Prepared<Args>> => {
        const partnerId = (await partnerOf(args.svcCardId)) ?? fail('card_not_found')
        return { ...args, ...preparationOf(partnerId, args.svcCardId) }
      }
    },
    lock: (tx, uses) => lockForUse(tx, uses, isRuled),
    decide({ views, rules }, command, now): Used {
      const view = viewOf(views, command)
      check(view, command, now, rules)
      const transfer = transferOf(transferKind, command, now)
      return { view: moved(view, transfer), transfer, command }
    },
    apply: ({ views }, { view }) => void views.set(view.card.svcCardId, view),
    save(tx, decisions) {
      saveJournals(
        tx,
        decisions[0]!.command.timeZone,
        decisions.map(({ transfer }) => journalOf(transfer)),
      )
      wakeEnded(
        tx,
        decisions.flatMap(({ view: { card }, transfer: { kind, createdAt } }) =>
          kind === 'card_refund' && card.endedAt ? [{ ...card, at: createdAt }] : [],
        ),
      )
      saveEvents(
        tx,
        decisions.map((used) => ({
          eventId: used.command.ids.event,
          tenantId: used.command.tenantId,
          type: eventType,
          objectId: used.command.svcCardId,
          payload: receiptToWire(used),
          createdAt: used.transfer.createdAt,
        })),
      )
    },
  })

async function lockForUse(
  tx: BatchTx,
  uses: readonly PreparedForCard[],
  isRuled: boolean,
): Promise<ByTenant<UseState>> {
  const locked = await lockCards(tx, uses)
  const rules = await lockRulesInForce(tx, locked, isRuled ? uses : [])
  const views = await readForMoney(tx, locked, uses, ({ partnerId, svcCardId }) => [
    account('card', partnerId, svcCardId),
    account('card_settlement', partnerId),
  ])
  return new ByTenant((tenantId) => ({ views: views.of(tenantId), rules }))
}

function transferOf(
  kind: Kind<CardUse>['transferKind'],
  { tenantId, svcCardId, ids, amountPaise }: Prepared<CardUse>,
  now: Date,
): Transfer {
  const [card, settlement] = [accountId('card', svcCardId), accountId('card_settlement', tenantId)]
  const [debitAccountId, creditAccountId] = kind === 'card_spend' ? [card, settlement] : [settlement, card]
  return {
    transferId: ids.transfer,
    tenantId,
    kind,
    debitAccountId,
    creditAccountId,
    amountPaise,
    objectId: svcCardId,
    createdAt: now,
  }
}

/** Later uses of the same batch see this one. */
function moved(view: CardView, { kind, amountPaise }: Transfer): CardView {
  const spent = kind === 'card_spend' ? amountPaise : -amountPaise
  const { dayPaise, monthPaise, yearPaise, lifePaise } = view.usage
  return {
    ...view,
    balancePaise: view.balancePaise - spent,
    usage: {
      ...view.usage,
      dayPaise: dayPaise + spent,
      monthPaise: monthPaise + spent,
      yearPaise: yearPaise + spent,
      lifePaise: lifePaise + spent,
    },
  }
}
