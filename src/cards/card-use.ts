import { Type } from 'typebox'
import { rfc3339 } from '../kernel/time.ts'
import { account, accountId, lockAccounts } from '../ledger/accounts.ts'
import { saveTransfers, type Transfer } from '../ledger/transfers.ts'
import type { BatchTx, CommandSpec } from '../platform/db/batch.ts'
import { succeedWithCode } from '../platform/http/operation.ts'
import { saveEvents } from '../platform/outbox.ts'
import { CHANNELS, type Channel } from './card.ts'
import { type CardOrder, type CardViews, cardKey, lockCards, readLocked, viewOf } from './card-changes.ts'
import type { CardView } from './card-record.ts'

/** Money that a terminal takes from a card, or gives back to it. */
export interface UseCard extends CardOrder {
  readonly amountPaise: bigint
  readonly merchantName: string | undefined
}

export interface Used<C> {
  /** After the movement. */
  readonly view: CardView
  readonly transfer: Transfer
  readonly command: C
}

interface Kind<C> {
  readonly name: string
  readonly transferKind: 'card_spend' | 'card_refund'
  readonly eventType: 'card.spent' | 'card.refunded'
  /** Pure; throws the failure when the card cannot be used so. */
  readonly check: (view: CardView, command: C, now: Date) => void
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

const rupees = (paise: bigint): number => Number(paise) / 100

/** What a terminal prints, and what the event tells: the card by its id, never by its number. */
const receiptOf = <C extends UseCard & { readonly channel?: Channel | undefined }>({
  view,
  transfer,
  command,
}: Used<C>) => ({
  transactionId: transfer.transferId,
  svcCardId: view.card.svcCardId,
  amount: rupees(transfer.amountPaise),
  ...(command.channel && { channel: command.channel }),
  ...(command.merchantName !== undefined && { merchantName: command.merchantName }),
  otbBalance: rupees(view.balancePaise),
  createdOn: rfc3339(transfer.createdAt, command.timeZone),
})

/** Spending and refunding, but for their rules: the card is locked before the ledger accounts, as everywhere. */
export function cardUse<C extends UseCard>({
  name,
  transferKind,
  eventType,
  check,
}: Kind<C>): CommandSpec<C, CardViews, Used<C>> {
  return {
    name,
    lock: lockForUse,
    decide(views, command, now) {
      const view = viewOf(views, command)
      check(view, command, now)
      const transfer = transferOf(transferKind, command, now)
      return { view: moved(view, transfer), transfer, command }
    },
    apply: (views, { view, command }) => void views.set(cardKey(command), view),
    save(tx, decisions) {
      saveTransfers(
        tx,
        decisions.map(({ transfer }) => transfer),
      )
      saveEvents(
        tx,
        decisions.map((used) => ({
          eventId: used.command.ids.event,
          tenantId: used.command.tenantId,
          type: eventType,
          objectId: used.command.svcCardId,
          payload: receiptOf(used),
          createdAt: used.transfer.createdAt,
        })),
      )
    },
    answer: (used) => ({ status: 200, body: succeedWithCode(receiptOf(used)) }),
  }
}

async function lockForUse(tx: BatchTx, orders: readonly CardOrder[]): Promise<CardViews> {
  const locked = await lockCards(tx, orders)
  await lockAccounts(
    tx,
    locked.flatMap((row) => [
      account('card', row.partner_id, row.svc_card_id),
      account('card_settlement', row.partner_id),
    ]),
  )
  return readLocked(tx, locked, orders)
}

function transferOf(
  kind: Kind<UseCard>['transferKind'],
  { tenantId, svcCardId, ids, amountPaise }: UseCard,
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
      dayPaise: dayPaise + spent,
      monthPaise: monthPaise + spent,
      yearPaise: yearPaise + spent,
      lifePaise: lifePaise + spent,
    },
  }
}
