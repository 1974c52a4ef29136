import {
  type CardReturn,
  CardReturnRecord,
  cardReturns,
  RETURN_STATUSES,
  returnToWire,
} from '@svc/core/cards/end/card-return'
import { Type } from 'typebox'
import { choiceFilter, idFilter, type Resource } from '../http/resource.ts'

/** What is left on ended cards and returns to their card accounts, as operators find it. */
export const cardReturn = {
  titles: { operator: 'CardReturnRow' },
  record: { schema: CardReturnRecord, toWire: returnToWire },
  from: { columns: cardReturns.columns, table: 'card_returns u', alias: 'u' },
  tenant: 'u.partner_id',
  keys: [
    { sql: 'u.created_at', type: 'timestamptz' },
    { sql: 'u.return_id', type: 'text' },
  ],
  fields: { partnerId: { schema: Type.String(), of: ({ partnerId }) => partnerId } },
  filters: {
    svcCardId: { schema: idFilter('Of this card'), sql: 'u.svc_card_id = ?' },
    status: {
      schema: choiceFilter(RETURN_STATUSES, '`WAITING`: can still be put back on its card'),
      sql: 'u.status = ?',
    },
  },
} satisfies Resource<CardReturn>
