import { fail } from '@svc/contract/errors'
import { plainTimestamp } from '@svc/kernel/time'
import type { Card, Channel } from './card.ts'
import { type CardUse, cardUse } from './card-use.ts'

interface SpendCard extends CardUse {
  readonly channel: Channel
}

/** A card is used at a shop, a cash machine or online. */
export const spendCard = cardUse<SpendCard>({
  name: 'spendCard',
  transferKind: 'card_spend',
  eventType: 'card.spent',
  check({ card, balancePaise }, { amountPaise, channel, timeZone }, now) {
    if (card.status !== 'UL' || !card.activated || isExpired(card, now, timeZone)) fail('card_not_usable')
    // Spec §2.4: off, the admin's flag closes the channel whatever the user's flag says.
    if (!card[`${channel}Allowed`] || !card[`${channel}AllowedAdmin`]) fail('channel_not_allowed')
    if (balancePaise < amountPaise)
      fail('insufficient_funds', { description: 'The card has too little left for this amount' })
  },
})

/** A card is good through the last day of its month, in the business zone. */
function isExpired({ expiryYear, expiryMonth }: Card, now: Date, timeZone: string): boolean {
  const lastMonth = `${expiryYear}-${String(expiryMonth).padStart(2, '0')}`
  return plainTimestamp(now, timeZone).slice(0, lastMonth.length) > lastMonth
}
