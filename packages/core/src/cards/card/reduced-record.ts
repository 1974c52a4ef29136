import { paiseToWire } from '@svc/kernel/money'
import { Type } from 'typebox'
import { openToBuy } from '../rail/open-to-buy.ts'
import { type CardView, strings } from './card-record.ts'

/** Spec section 2.5: exactly twelve fields; here the balance is a number and exact (decision C8). */
export function toReducedRecord(view: Pick<CardView, 'card' | 'balancePaise' | 'heldPaise'>) {
  const { card } = view
  const { holder } = card
  return {
    svcCardId: card.svcCardId,
    userId: card.userId,
    cardAccountId: card.cardAccountId,
    expiryMonth: String(card.expiryMonth).padStart(2, '0'),
    expiryYear: String(card.expiryYear),
    email: holder.email ?? '',
    mobile: holder.mobile ?? '',
    title: holder.title ?? '',
    firstName: holder.firstName ?? '',
    lastName: holder.lastName ?? '',
    otbBalance: paiseToWire(openToBuy(view)),
    companyId: card.companyId,
  }
}

export const ReducedRecord = Type.Object(
  {
    ...strings(
      'svcCardId',
      'userId',
      'cardAccountId',
      'expiryMonth',
      'expiryYear',
      'email',
      'mobile',
      'title',
    ),
    ...strings('firstName', 'lastName', 'companyId'),
    otbBalance: Type.Number({ description: 'Rupees, exact' }),
  },
  { title: 'RewardsCard', additionalProperties: false },
)
