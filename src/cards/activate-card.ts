import { fail } from '../errors.ts'
import { command, NoFields } from '../platform/http/operation.ts'
import type { Card } from './card.ts'
import { type CardChangeOrder, cardChange, cardOrders } from './card-changes.ts'
import { CardRecord } from './card-record.ts'
import { cardMoves, requireMove } from './card-states.ts'
import { CardParams } from './get-card.ts'

export const activateCardSpec = cardChange<CardChangeOrder>('activateCard', (card): Card => {
  if (!card.physical)
    fail('invalid_transition', {
      description: 'A virtual card is active from its creation; only physical cards are activated',
    })
  // A repeat after a lost answer is not a failure, also when the card was locked meanwhile.
  if (card.activated && card.status !== 'BL') return card
  requireMove(card.status, 'UL', cardMoves(card.status))
  return { ...card, status: 'UL', activated: true }
})

/** Ours (decision C10): a physical card has arrived, and leaves `AP`. */
export const activateCard = command({
  ...activateCardSpec,
  id: 'activateCard',
  method: 'POST',
  path: '/api/v0/partner/svcCard/:svcCardId/activate',
  tag: 'Cards',
  summary: 'Activate physical card',
  description: 'From `AP` to `UL`. Activating again answers the card as it is. Send `{}` or no body at all.',
  auth: 'partnerWithId',
  family: 'code',
  sealed: 'answer',
  headers: { partnerId: 'The partner’s id, shared at sign-up (required)' },
  params: CardParams,
  body: NoFields,
  result: CardRecord,
  errors: ['card_not_found', 'invalid_transition'],

  prepare(services) {
    const orderOf = cardOrders(services)
    return ({ caller, params }): CardChangeOrder => ({
      ...orderOf(caller.tenantId, params.svcCardId),
      actor: 'partner',
      reason: '',
    })
  },
})
