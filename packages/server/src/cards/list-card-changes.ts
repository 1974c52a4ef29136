import { fail } from '@svc/contract/errors'
import { cardChanges } from '@svc/core/cards/card/card-changes'
import { rfc3339 } from '@svc/kernel/time'
import type { RowOf } from '@svc/platform/db/table'
import { Type } from 'typebox'
import { findRow, idFilter, listOf, type Resource } from '../http/resource.ts'
import { card, type ListedCard } from './card-resource.ts'
import { CardParams, ofCards } from './get-card.ts'

export type CardChange = RowOf<typeof cardChanges>

/** Changes of cards, as every reader sees and finds them. */
export const cardChange = {
  titles: { tenant: 'CardChange', operator: 'CardChange' },
  from: { columns: cardChanges.columns, table: 'card_changes h', alias: 'h' },
  tenant: 'h.partner_id',
  keys: [
    { sql: 'h.created_at', type: 'timestamptz' },
    { sql: 'h.change_id', type: 'text' },
  ],
  fields: {
    changeId: { schema: Type.String(), of: ({ changeId }) => changeId },
    field: {
      schema: Type.String({
        description: '`cardStatus`, `kycStatus`, `cardActivated` or a flag such as `posAllowed`',
      }),
      of: ({ field }) => field,
    },
    from: { schema: Type.String(), of: ({ fromValue }) => fromValue ?? '' },
    to: { schema: Type.String(), of: ({ toValue }) => toValue },
    actor: { schema: Type.Enum(['partner', 'operator']), of: ({ actor }) => actor },
    reason: { schema: Type.String({ 'x-personal': 'text' }), of: ({ reason }) => reason },
    createdOn: {
      schema: Type.String({ description: 'RFC 3339' }),
      of: ({ createdAt }, timeZone) => rfc3339(createdAt, timeZone),
    },
  },
  filters: { svcCardId: { schema: idFilter('Of this card'), sql: 'h.svc_card_id = ?' } },
} satisfies Resource<CardChange>

/** Ours (decision C10): every change of a card with time, actor and reason, newest first. */
export const listCardChanges = listOf<CardChange>(cardChange, {
  ...ofCards('cards:read'),
  id: 'listCardChanges',
  path: '/api/v0/partner/svcCard/:svcCardId/history',
  summary: 'List changes of card',
  params: CardParams,
  errors: ['card_not_found'],
  async within(tx, scope, { svcCardId = '' }) {
    if (!(await findRow<ListedCard>(tx, card, scope, svcCardId))) fail('card_not_found')
  },
})
