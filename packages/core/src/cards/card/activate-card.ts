import { fail } from '@svc/contract/errors'
import type { Card } from './card.ts'
import { cardChange } from './card-changes.ts'
import { cardMoves, requireMove } from './card-states.ts'

/** A physical card has arrived, and leaves `AP` (decision C10). */
export const activateCard = cardChange('activateCard', (card): Card => {
  if (!card.physical)
    fail('invalid_transition', {
      description: 'A virtual card is active from its creation; only physical cards are activated',
    })
  // A repeat after a lost response is no failure, also when the card was locked meanwhile.
  if (card.activated && card.status !== 'BL') return card
  requireMove(card.status, 'UL', cardMoves(card.status))
  return { ...card, status: 'UL', activated: true }
})
