import { paiseToWire } from '@svc/kernel/money'
import { rfc3339 } from '@svc/kernel/time'
import { instant, nullable, paise, type RowOf, table, text, textOf } from '@svc/platform/db/table'
import type { OutboxEvent } from '@svc/platform/outbox'
import { Type } from 'typebox'
import { accountId } from '../../ledger/accounts.ts'
import { type Journal, journalOf } from '../../ledger/journals.ts'

export const RETURN_STATUSES = ['WAITING', 'RETURNED', 'REVERSED'] as const
export type ReturnStatus = (typeof RETURN_STATUSES)[number]

/** Remaining balances of ended cards, on their way back to the card accounts that funded them (decision C21). */
export const cardReturns = table('card_returns', 'u', ['partnerId', 'returnId'], {
  partnerId: text,
  returnId: text,
  svcCardId: text,
  cardAccountId: text,
  basis: textOf<'consent' | 'unclaimed'>(),
  /** Where the holder's consent is recorded. */
  consentReference: nullable(text),
  amountPaise: paise,
  status: textOf<ReturnStatus>(),
  reversalReason: nullable(text),
  createdAt: instant,
  /** Until then it waits. */
  dueAt: instant,
  closedAt: nullable(instant),
})
export type CardReturn = RowOf<typeof cardReturns>

export const updateReturns = cardReturns.updates(['status', 'reversalReason', 'closedAt'], 'close')

const KINDS = {
  WAITING: { journal: 'card_unclaimed', event: 'card.return_waiting' },
  RETURNED: { journal: 'card_back_to_source', event: 'card.returned' },
  REVERSED: { journal: 'card_unclaimed_reversed', event: 'card.return_reversed' },
} as const

/** What moves when a return gets the status that it has. */
export function returnJournal(
  { partnerId, svcCardId, cardAccountId, amountPaise, status, reversalReason, ...times }: CardReturn,
  transferId: string,
): Journal {
  const waiting = accountId('unclaimed', partnerId)
  const card = accountId('card', svcCardId)
  const [debitAccountId, creditAccountId] = {
    WAITING: [card, waiting] as const,
    RETURNED: [waiting, accountId('card_funding', cardAccountId)] as const,
    REVERSED: [waiting, card] as const,
  }[status]
  const journal = journalOf({
    transferId,
    tenantId: partnerId,
    kind: KINDS[status].journal,
    debitAccountId,
    creditAccountId,
    amountPaise,
    objectId: svcCardId,
    createdAt: times.closedAt ?? times.createdAt,
  })
  return { ...journal, reason: reversalReason }
}

export const CardReturnRecord = Type.Object(
  {
    returnId: Type.String(),
    svcCardId: Type.String(),
    cardAccountId: Type.String({ description: 'The card account that funded the card, and gets it back' }),
    basis: Type.Enum(['consent', 'unclaimed'], {
      description:
        'The holder’s recorded consent; or the card was blocked or expired for CARD_UNCLAIMED_DAYS',
    }),
    consentReference: Type.Optional(Type.String()),
    amount: Type.Number({ description: 'Rupees' }),
    status: Type.Enum([...RETURN_STATUSES]),
    reversalReason: Type.Optional(Type.String()),
    createdOn: Type.String({ description: 'RFC 3339' }),
    dueOn: Type.String({ description: 'RFC 3339; until then it waits' }),
    closedOn: Type.Optional(Type.String({ description: 'RFC 3339' })),
  },
  { title: 'CardReturn', additionalProperties: false },
)

export const returnToWire = (returned: CardReturn, timeZone: string) => ({
  returnId: returned.returnId,
  svcCardId: returned.svcCardId,
  cardAccountId: returned.cardAccountId,
  basis: returned.basis,
  consentReference: returned.consentReference ?? undefined,
  amount: paiseToWire(returned.amountPaise),
  status: returned.status,
  reversalReason: returned.reversalReason ?? undefined,
  createdOn: rfc3339(returned.createdAt, timeZone),
  dueOn: rfc3339(returned.dueAt, timeZone),
  closedOn: returned.closedAt ? rfc3339(returned.closedAt, timeZone) : undefined,
})

export const returnEvent = (returned: CardReturn, eventId: string, timeZone: string): OutboxEvent => ({
  eventId,
  tenantId: returned.partnerId,
  type: KINDS[returned.status].event,
  objectId: returned.svcCardId,
  payload: returnToWire(returned, timeZone),
  createdAt: returned.closedAt ?? returned.createdAt,
})
