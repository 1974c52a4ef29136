import { paiseToWire } from '@svc/kernel/money'
import { rfc3339 } from '@svc/kernel/time'
import type { OutboxEvent } from '@svc/platform/outbox'
import { Type } from 'typebox'
import { accountId } from '../../ledger/accounts.ts'
import { type Journal, journalOf } from '../../ledger/journals.ts'

/** Money that goes from a card to the one that has replaced it. */
export interface Replacement {
  readonly partnerId: string
  readonly replacedSvcCardId: string
  readonly svcCardId: string
  readonly amountPaise: bigint
  readonly at: Date
}

/** The new card’s load, or what came back to the old card later. */
export const replacementJournal = (
  { partnerId, replacedSvcCardId, svcCardId, amountPaise, at }: Replacement,
  transferId: string,
): Journal =>
  journalOf({
    transferId,
    tenantId: partnerId,
    kind: 'card_replacement',
    debitAccountId: accountId('card', replacedSvcCardId),
    creditAccountId: accountId('card', svcCardId),
    amountPaise,
    objectId: svcCardId,
    createdAt: at,
  })

/** What the event of a replacement contains; it is sent again when money comes back to the old card and follows. */
export const CardReplacement = Type.Object(
  {
    replacedSvcCardId: Type.String(),
    svcCardId: Type.String({ description: 'The new card' }),
    amount: Type.Number({ description: 'Rupees that went from the one to the other' }),
    createdOn: Type.String({ description: 'RFC 3339' }),
  },
  { title: 'CardReplacement', additionalProperties: false },
)

export const replacementEvent = (
  { partnerId, replacedSvcCardId, svcCardId, amountPaise, at }: Replacement,
  eventId: string,
  timeZone: string,
): OutboxEvent => ({
  eventId,
  tenantId: partnerId,
  type: 'card.replaced',
  objectId: replacedSvcCardId,
  payload: {
    replacedSvcCardId,
    svcCardId,
    amount: paiseToWire(amountPaise),
    createdOn: rfc3339(at, timeZone),
  },
  createdAt: at,
})
