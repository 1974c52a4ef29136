import { fail } from '@svc/contract/errors'
import { type NetworkChannel, networkChannelOf } from '../rail/card-message.ts'
import { type RulesInForce, rulesAbout } from '../rules/rules-in-force.ts'
import { refusalByRule } from '../rules/spend-rule.ts'
import { type Channel, isExpired } from './card.ts'
import { type CardUse, cardUse } from './card-use.ts'

interface SpendCard extends CardUse {
  readonly channel: Channel
  readonly mcc?: string | undefined
  readonly merchantCountry?: string | undefined
}

/** A card is used at a shop, a cash machine or online. */
export const spendCard = cardUse<SpendCard>({
  name: 'spendCard',
  transferKind: 'card_spend',
  eventType: 'card.spent',
  isRuled: true,
  check({ card, balancePaise, heldPaise }, use, now, rules) {
    const { amountPaise, channel, timeZone } = use
    if (card.status !== 'UL' || !card.activated || isExpired(card, now, timeZone)) fail('card_not_usable')
    // Spec §2.4: off, the admin's flag closes the channel whatever the user's flag says.
    if (!card[`${channel}Allowed`] || !card[`${channel}AllowedAdmin`]) fail('channel_not_allowed')
    if (balancePaise - heldPaise < amountPaise)
      fail('card_balance_too_low', { description: 'The card has too little left for this amount' })
    requireByRules(rules, use, networkChannelOf(channel))
  },
})

/** As an authorisation of the network is declined, by the first rule (decision C28). What is spent here has no hold, and so counts for no rule. */
function requireByRules(
  { rules, uses }: RulesInForce,
  { svcCardId, amountPaise, mcc, merchantCountry }: SpendCard,
  channel: NetworkChannel,
): void {
  const ofCard = rules.get(svcCardId) ?? []
  const stated = { channel, mcc: mcc ?? null, merchantCountry: merchantCountry ?? null }
  for (const rule of rulesAbout(ofCard, stated, uses)) {
    const reason = refusalByRule(rule, { totalPaise: amountPaise, addedPaise: amountPaise, isNew: true })
    if (!reason) continue
    const { spendRuleId } = rule
    const name = ofCard.find((one) => one.spendRuleId === spendRuleId)?.name
    fail('declined_by_spend_rule', {
      description: `The spend rule ${spendRuleId} (${name}) declines it: ${reason}`,
    })
  }
}
