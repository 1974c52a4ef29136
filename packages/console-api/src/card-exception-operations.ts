import {
  type CardException,
  CardExceptionRecord,
  cardExceptions,
  EXCEPTION_REASONS,
  exceptionToWire,
} from '@svc/core/cards/card-exception'
import { query } from '@svc/server/http/operation'
import { BY_TIME, CONSOLE_API, consoleOperation, exact, listOf, listQuery, oneOf } from './console-schema.ts'
import { Filters, type ListPlan, readList } from './list.ts'

export const listCardExceptions = query({
  ...consoleOperation,
  id: 'console.listCardExceptions',
  method: 'GET',
  path: `${CONSOLE_API}/card-exceptions`,
  tag: 'Cards',
  summary: 'List exceptions of the card rail',
  description:
    'Messages of the card network that could not be read, and money that fits no card, authorisation or capture.',
  role: 'operator',
  query: listQuery(BY_TIME, {
    q: exact('Id of the exception, the card or the message', 64),
    reason: oneOf([...EXCEPTION_REASONS], 'Only these'),
  }),
  result: listOf(CardExceptionRecord),
  errors: [],
  mount({ config: { BUSINESS_TIME_ZONE: timeZone }, database }) {
    return async ({ query }) => {
      const { q, reason, sort } = query
      const filters = new Filters().add('x.reason = ?', reason)
      if (q !== undefined) filters.add(columnOf(q), q)
      const plan: ListPlan = {
        columns: cardExceptions.columns,
        table: 'card_exceptions x',
        alias: 'x',
        filters,
        keys: [
          { sql: 'x.created_at', type: 'timestamptz' },
          { sql: 'x.exception_id', type: 'text' },
        ],
        descending: sort !== 'created',
      }
      const page = await database.operate((tx) =>
        readList(tx, plan, query, (row: CardException) => exceptionToWire(row, timeZone)),
      )
      return { body: JSON.stringify(page) }
    }
  },
})

/** What an id names, by its prefix. */
function columnOf(id: string): string {
  if (id.startsWith('card_')) return 'x.svc_card_id = ?'
  return id.startsWith('cmg_') ? 'x.message_id = ?' : 'x.exception_id = ?'
}
