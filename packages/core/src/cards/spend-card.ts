import { fail } from '@svc/contract/errors'
import { type Channel, isExpired } from './card.ts'
import { type CardUse, cardUse } from './card-use.ts'

interface SpendCard extends CardUse {
  readonly channel: Channel
}

/** A card is used at a shop, a cash machine or online. */
export const spendCard = cardUse<SpendCard>({
  name: 'spendCard',
  transferKind: 'card_spend',
  eventType: 'card.spent',
  check({ card, balancePaise, heldPaise }, { amountPaise, channel, timeZone }, now) {
    if (card.status !== 'UL' || !card.activated || isExpired(card, now, timeZone)) fail('card_not_usable')
    // Spec §2.4: off, the admin's flag closes the channel whatever the user's flag says.
    if (!card[`${channel}Allowed`] || !card[`${channel}AllowedAdmin`]) fail('channel_not_allowed')
    if (balancePaise - heldPaise < amountPaise)
      fail('card_balance_too_low', { description: 'The card has too little left for this amount' })
  },
})
