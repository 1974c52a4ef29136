import { Type } from 'typebox'
import { CHANNELS } from '../cards/card.ts'
import { type CardOrder, cardOrders } from '../cards/card-changes.ts'
import { CardReceipt } from '../cards/card-use.ts'
import { cardPartnerLookup } from '../cards/find-card-partner.ts'
import { CardParams } from '../cards/get-card.ts'
import { type RefundCard, refundCardSpec } from '../cards/refund-card.ts'
import { type SpendCard, spendCardSpec } from '../cards/spend-card.ts'
import { fail } from '../errors.ts'
import { paiseFromWire } from '../kernel/money.ts'
import { command, type Services } from '../platform/http/operation.ts'

const amount = Type.Number({
  minimum: 0.01,
  maximum: 1e7,
  format: 'rupees',
  'x-rule': 'must be an amount in rupees with at most two decimals',
  description: 'Rupees, at most two decimals',
})
const merchantName = Type.Optional(
  Type.String({ minLength: 1, maxLength: 100, description: 'Shown in the event' }),
)

/** A terminal knows the card and not its partner; like the card network, it stands above the partners. */
function orders(services: Services): (svcCardId: string) => Promise<CardOrder> {
  const partnerOf = cardPartnerLookup(services.database)
  const orderOf = cardOrders(services)
  return async (svcCardId) => orderOf((await partnerOf(svcCardId)) ?? fail('card_not_found'), svcCardId)
}

/** The shop's terminal, simulated. */
export const spendAtTerminal = command({
  ...spendCardSpec,
  id: 'sandboxSpend',
  method: 'POST',
  path: '/sandbox/cards/:svcCardId/spend',
  tag: 'Sandbox',
  summary: 'Spend from a card',
  description:
    'Plays a shop, a cash machine or an online shop. The card must be unlocked, activated and not expired, both flags of the channel on, and the balance enough.',
  auth: 'none',
  family: 'code',
  sandboxOnly: true,
  params: CardParams,
  body: Type.Object(
    { amount, channel: Type.Enum([...CHANNELS]), merchantName },
    { additionalProperties: false },
  ),
  result: CardReceipt,
  errors: ['card_not_found', 'card_not_usable', 'channel_not_allowed', 'insufficient_funds'],

  prepare(services) {
    const orderOf = orders(services)
    return async ({ params, body }): Promise<SpendCard> => ({
      ...(await orderOf(params.svcCardId)),
      amountPaise: paiseFromWire(body.amount)!,
      channel: body.channel as SpendCard['channel'],
      merchantName: body.merchantName,
    })
  },
})

export const refundAtTerminal = command({
  ...refundCardSpec,
  id: 'sandboxRefund',
  method: 'POST',
  path: '/sandbox/cards/:svcCardId/refund',
  tag: 'Sandbox',
  summary: 'Refund to a card',
  description:
    'At most what the card spent and did not get back yet. Locked, blocked and expired cards get refunds too.',
  auth: 'none',
  family: 'code',
  sandboxOnly: true,
  params: CardParams,
  body: Type.Object(
    { amount, channel: Type.Optional(Type.Enum([...CHANNELS])), merchantName },
    { additionalProperties: false },
  ),
  result: CardReceipt,
  errors: ['card_not_found', 'refund_over_spent'],

  prepare(services) {
    const orderOf = orders(services)
    return async ({ params, body }): Promise<RefundCard> => ({
      ...(await orderOf(params.svcCardId)),
      amountPaise: paiseFromWire(body.amount)!,
      channel: body.channel as RefundCard['channel'],
      merchantName: body.merchantName,
    })
  },
})
