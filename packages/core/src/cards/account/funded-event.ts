import { paiseToWire } from '@svc/kernel/money'
import { rfc3339 } from '@svc/kernel/time'
import type { OutboxEvent } from '@svc/platform/outbox'
import { Type } from 'typebox'

/** What the events of money that a partner pays in, or is paid back, contain, and those of their reversals. */
export const FundedCardAccount = Type.Object(
  {
    cardAccountId: Type.String(),
    companyId: Type.String(),
    amount: Type.Number({ description: 'Rupees' }),
    balance: Type.Number({ description: 'Rupees after it' }),
    reference: Type.String({ description: 'The bank’s reference of the transfer' }),
    transactionId: Type.String({
      description: 'As in the statement of the card account; of a reversal, that of what it takes back',
    }),
    createdOn: Type.String({ description: 'RFC 3339' }),
  },
  { title: 'FundedCardAccount', additionalProperties: false },
)

export type FundsEvent =
  | 'card_account.funded'
  | 'card_account.withdrawn'
  | 'card_account.funding_reversed'
  | 'card_account.withdrawal_reversed'

interface Funded {
  readonly eventId: string
  readonly partnerId: string
  readonly cardAccountId: string
  readonly companyId: string
  readonly amountPaise: bigint
  readonly balancePaise: bigint
  readonly reference: string
  readonly transferId: string
  readonly createdAt: Date
  readonly timeZone: string
}

export const fundedEvent = (
  type: FundsEvent,
  { eventId, partnerId, cardAccountId, companyId, createdAt, ...of }: Funded,
): OutboxEvent => ({
  eventId,
  tenantId: partnerId,
  type,
  objectId: cardAccountId,
  payload: {
    cardAccountId,
    companyId,
    amount: paiseToWire(of.amountPaise),
    balance: paiseToWire(of.balancePaise),
    reference: of.reference,
    transactionId: of.transferId,
    createdOn: rfc3339(createdAt, of.timeZone),
  },
  createdAt,
})
