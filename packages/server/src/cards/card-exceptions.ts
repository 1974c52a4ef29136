import {
  type CardException,
  CardExceptionRecord,
  cardExceptions,
  EXCEPTION_REASONS,
  exceptionToWire,
} from '@svc/core/cards/rail/card-exception'
import { choiceFilter, exactFilter, idFilter, type Resource } from '../http/resource.ts'

/** What an id names, by its prefix. */
function columnOf(id: string): string {
  if (id.startsWith('card_')) return 'x.svc_card_id = ?'
  return id.startsWith('cmg_') ? 'x.message_id = ?' : 'x.exception_id = ?'
}

/** What the card network reported and fits nothing; operators alone read it (decision R1). */
export const cardException = {
  titles: { operator: 'CardException' },
  record: { schema: CardExceptionRecord, toWire: exceptionToWire },
  from: { columns: cardExceptions.columns, table: 'card_exceptions x', alias: 'x' },
  tenant: 'x.partner_id',
  keys: [
    { sql: 'x.created_at', type: 'timestamptz' },
    { sql: 'x.exception_id', type: 'text' },
  ],
  fields: {},
  filters: {
    q: {
      schema: exactFilter('Id of the exception, the card or the message'),
      sql: (filters, q) => filters.add(columnOf(q), q),
    },
    svcCardId: { schema: idFilter('Of this card'), sql: 'x.svc_card_id = ?' },
    reason: { schema: choiceFilter(EXCEPTION_REASONS), sql: 'x.reason = ?' },
  },
} satisfies Resource<CardException>
