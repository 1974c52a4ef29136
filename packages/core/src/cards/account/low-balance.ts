import { paiseToWire } from '@svc/kernel/money'
import { rfc3339 } from '@svc/kernel/time'
import type { OutboxEvent } from '@svc/platform/outbox'
import { Type } from 'typebox'
import type { Transfer } from '../../ledger/transfers.ts'
import type { CardAccount } from './card-account.ts'

/** What the event of a low card account contains. */
export const LowCardAccount = Type.Object(
  {
    cardAccountId: Type.String(),
    companyId: Type.String(),
    balance: Type.Number({ description: 'Rupees, after the load that brought it below the threshold' }),
    lowBalance: Type.Number({ description: 'The threshold, in rupees' }),
    createdOn: Type.String({ description: 'RFC 3339' }),
  },
  { title: 'LowCardAccount', additionalProperties: false },
)

/** Pure. The event of a load that brings the balance of its card account below the threshold; each crossing is one. */
export function lowBalanceEvent(
  { cardAccountId, companyId, partnerId, lowBalancePaise }: CardAccount,
  beforePaise: bigint,
  { amountPaise, createdAt }: Transfer,
  { ids, timeZone }: { readonly ids: { readonly low: string }; readonly timeZone: string },
): OutboxEvent | undefined {
  const balancePaise = beforePaise - amountPaise
  if (lowBalancePaise === null || beforePaise < lowBalancePaise || balancePaise >= lowBalancePaise)
    return undefined
  return {
    eventId: ids.low,
    tenantId: partnerId,
    type: 'card_account.low',
    objectId: cardAccountId,
    payload: {
      cardAccountId,
      companyId,
      balance: paiseToWire(balancePaise),
      lowBalance: paiseToWire(lowBalancePaise),
      createdOn: rfc3339(createdAt, timeZone),
    },
    createdAt,
  }
}
