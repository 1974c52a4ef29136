import type { Card } from './card.ts'
import { type CardChangeArgs, cardChange } from './card-changes.ts'
import { type KycStatus, kycMoves, requireMove } from './card-states.ts'

interface SetCardKyc extends CardChangeArgs {
  readonly kycStatus: KycStatus
}

/** Decision C19: the operator moves a card's KYC along the table; partners read it. */
export const setCardKyc = cardChange<SetCardKyc>('setCardKyc', (card, { kycStatus }): Card => {
  if (card.kycStatus === kycStatus) return card
  requireMove(card.kycStatus, kycStatus, kycMoves(card.kycStatus))
  return { ...card, kycStatus }
})
