import { CHANNELS, type Channel } from '@svc/core/cards/card/card'
import { CardReceipt, receiptToWire } from '@svc/core/cards/card/card-use'
import { refundCard } from '@svc/core/cards/card/refund-card'
import { spendCard } from '@svc/core/cards/card/spend-card'
import { type Static, Type } from 'typebox'
import { CardParams } from '../cards/get-card.ts'
import { Rupees, readRupees } from '../http/fields.ts'
import { okWithCode, operation } from '../http/operation.ts'

const amount = Rupees({ minimum: 0.01, maximum: 1e7, description: 'Rupees, at most two decimals' })
const merchantName = Type.Optional(
  Type.String({ minLength: 1, maxLength: 100, description: 'Shown in the event' }),
)

export const SpendRequest = Type.Object(
  {
    amount,
    channel: Type.Enum([...CHANNELS]),
    merchantName,
    mcc: Type.Optional(
      Type.String({
        pattern: '^\\d{4}$',
        'x-rule': 'must be exactly 4 digits',
        description: 'Merchant category code, for spend rules',
      }),
    ),
    merchantCountry: Type.Optional(
      Type.String({
        pattern: '^[A-Z]{2}$',
        'x-rule': 'must be two capital letters (ISO 3166-1)',
        description: 'Country of the merchant, for spend rules',
      }),
    ),
  },
  { additionalProperties: false },
)
export const RefundRequest = Type.Object(
  { amount, channel: Type.Optional(Type.Enum([...CHANNELS])), merchantName },
  { additionalProperties: false },
)

/** What the terminal reads, as the commands have it. */
export const readSpend = (
  svcCardId: string,
  { amount, channel, ...merchant }: Static<typeof SpendRequest>,
) => ({
  svcCardId,
  amountPaise: readRupees('amount', amount),
  channel: channel as Channel,
  merchantName: merchant.merchantName,
  mcc: merchant.mcc,
  merchantCountry: merchant.merchantCountry,
})
export const readRefund = (
  svcCardId: string,
  { amount, channel, merchantName }: Static<typeof RefundRequest>,
) => ({
  svcCardId,
  amountPaise: readRupees('amount', amount),
  channel: channel as Channel | undefined,
  merchantName,
})

/** The shop's terminal, simulated. */
export const spendAtTerminal = operation({
  id: 'sandboxSpend',
  method: 'POST',
  path: '/sandbox/cards/:svcCardId/spend',
  tag: 'Sandbox',
  summary: 'Spend from a card',
  description:
    'Plays a shop, a cash machine or an online shop. The card must be unlocked, activated and not expired, both flags of the channel on, and the balance enough. Spend rules decline it as they would an authorisation of the card network; what is spent here counts for none of their limits, since it has no hold: for those play the network, `POST /sandbox/cards/{svcCardId}/messages`.',
  auth: 'none',
  envelope: 'code',
  sandboxOnly: true,
  params: CardParams,
  body: SpendRequest,
  result: CardReceipt,
  errors: [
    'card_not_found',
    'card_not_usable',
    'channel_not_allowed',
    'card_balance_too_low',
    'declined_by_spend_rule',
  ],
  run: spendCard,
  args: ({ params, body }) => readSpend(params.svcCardId, body),
  reply: (used) => okWithCode(receiptToWire(used)),
})

export const refundAtTerminal = operation({
  id: 'sandboxRefund',
  method: 'POST',
  path: '/sandbox/cards/:svcCardId/refund',
  tag: 'Sandbox',
  summary: 'Refund to a card',
  description:
    'At most what the card spent and did not get back yet. Locked, blocked and expired cards get refunds too.',
  auth: 'none',
  envelope: 'code',
  sandboxOnly: true,
  params: CardParams,
  body: RefundRequest,
  result: CardReceipt,
  errors: ['card_not_found', 'refund_over_spent'],
  run: refundCard,
  args: ({ params, body }) => readRefund(params.svcCardId, body),
  reply: (used) => okWithCode(receiptToWire(used)),
})
