import { Type } from 'typebox'
import { fail } from '../errors.ts'
import { command } from '../platform/http/operation.ts'
import type { Card } from './card.ts'
import { type CardChangeOrder, cardChange, cardOrders } from './card-changes.ts'
import { CardRecord } from './card-record.ts'
import { cardMoves, requireMove } from './card-states.ts'
import { CardParams } from './get-card.ts'

/** `AP` is where physical cards begin: nobody asks for it. */
export type WantedStatus = 'L' | 'UL' | 'BL'

export interface ChangeCardStatus extends CardChangeOrder {
  readonly status: WantedStatus
}

export const REASON_CHARS_MAX = 255

/** Blocking is for good, so it needs a reason. */
export const changeCardStatusSpec = cardChange<ChangeCardStatus>(
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
)

/** Ours (decision C10): locks, unlocks or blocks a card. */
export const changeCardStatus = command({
  ...changeCardStatusSpec,
  id: 'changeCardStatus',
  method: 'PATCH',
  path: '/api/v0/partner/svcCard/:svcCardId/status',
  tag: 'Cards',
  summary: 'Lock, unlock or block card',
  description:
    'Locked (`L`) and unlocked (`UL`) go both ways; blocked (`BL`) is final and needs a reason. A card that has the status already is answered as it is. A physical card that is not activated (`AP`) can only be activated or blocked.',
  auth: 'partnerWithId',
  family: 'code',
  sealed: 'answer',
  headers: { partnerId: 'The partner’s id, shared at sign-up (required)' },
  params: CardParams,
  body: Type.Object(
    {
      status: Type.Enum(['L', 'UL', 'BL']),
      reason: Type.Optional(
        Type.String({
          minLength: 1,
          maxLength: REASON_CHARS_MAX,
          pattern: '\\S',
          'x-rule': `must have 1 to ${REASON_CHARS_MAX} characters, not only spaces`,
          description: 'Kept in the history and shown as `remarks`; required for `BL`',
        }),
      ),
    },
    { additionalProperties: false },
  ),
  result: CardRecord,
  errors: ['card_not_found', 'invalid_transition'],

  prepare(services) {
    const orderOf = cardOrders(services)
    return ({ caller, params, body }): ChangeCardStatus => {
      const status = body.status as WantedStatus
      if (status === 'BL' && body.reason === undefined)
        fail('validation_failed', { description: 'reason: is required when status is BL' })
      return {
        ...orderOf(caller.tenantId, params.svcCardId),
        status,
        actor: 'partner',
        reason: body.reason ?? '',
      }
    }
  },
})
