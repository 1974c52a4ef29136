import { fail } from '@svc/contract/errors'
import { failField } from '@svc/contract/fail-fields'
import type { Card } from './card.ts'
import { type CardChangeArgs, cardChange } from './card-changes.ts'
import { cardMoves, requireMove } from './card-states.ts'

/** `AP` is where physical cards begin: it cannot be requested. */
export type WantedStatus = 'L' | 'UL' | 'BL'

interface ChangeCardStatus extends CardChangeArgs {
  readonly status: WantedStatus
}

/** Locks, unlocks or blocks a card (decision C10). Blocking is for good, so it needs a reason. */
export const changeCardStatus = cardChange<ChangeCardStatus>(
  'changeCardStatus',
  (card, { status, reason }): Card => {
    if (card.status === status) return card
    if (card.status === 'AP' && status === 'UL')
      fail('invalid_transition', {
        description: 'The card is AP and becomes UL by its activation; by a change of status it can go to BL',
      })
    requireMove(
      card.status,
      status,
      cardMoves(card.status).filter((to) => card.status !== 'AP' || to !== 'UL'),
    )
    return { ...card, status, remarks: reason, blockCode: status === 'BL' ? 'BL' : '' }
  },
  ({ status, reason }) => {
    if (status === 'BL' && reason === '') failField('reason', 'required', 'is required when status is BL')
  },
)
