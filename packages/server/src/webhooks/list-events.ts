import { EVENT_TYPES } from '@svc/contract/events'
import {
  EventResponse,
  eventToWire,
  POSITION_DOCUMENTED,
  POSITION_PATTERN,
  POSITION_RULE,
  readNumbers,
} from '@svc/core/webhooks/event'
import { feedPosition, LATEST } from '@svc/core/webhooks/feed-horizon'
import { withEvents } from '@svc/platform/outbox'
import { Type } from 'typebox'
import { query, succeed, tenantOperations } from '../http/operation.ts'
import { PAGE_IN_QUERY, readLimit } from '../http/page.ts'

export const ofEvents = tenantOperations({ tag: 'Events', auth: 'tenant', envelope: 'response_code' })

const FeedQuery = Type.Object(
  {
    after: Type.Optional(
      Type.String({
        pattern: POSITION_PATTERN,
        'x-rule': POSITION_RULE,
        'x-documented': POSITION_DOCUMENTED,
        description:
          'The `next` of the page before; without it the page begins with the oldest event that is kept. `latest` returns no events, and as `next` the number of the newest one',
      }),
    ),
    limit: PAGE_IN_QUERY.limit,
    type: Type.Optional(
      Type.Enum(EVENT_TYPES, { description: 'Only this type; the numbers then have gaps' }),
    ),
  },
  { additionalProperties: false },
)

const FeedPage = Type.Object(
  {
    recordsCount: Type.Integer({ description: 'Events in this page' }),
    data: Type.Array(EventResponse),
    next: Type.Integer({
      description: 'Pass it back as `after`, at once when `more`, else when you ask again',
    }),
    more: Type.Boolean({ description: 'Whether there are more events by now' }),
  },
  { additionalProperties: false },
)

/** The tenant's events, numbered without gaps: a receiver can see that nothing is missing (decision E1). */
export const listEvents = query({
  ...ofEvents('events:read'),
  id: 'listEvents',
  method: 'GET',
  path: '/api/v0/events',
  summary: 'List events',
  description:
    'Oldest first. `sequence` counts 1, 2, 3 … for each tenant, without gaps, and no number appears before a smaller one: a reader that sends `next` as `after` misses nothing. Events are kept for `EVENTS_DAYS`; an earlier `after` is refused with 410, and one beyond the newest event with 409: then the service was restored from a backup.',
  query: FeedQuery,
  result: FeedPage,
  errors: ['events_forgotten', 'events_ahead'],

  mount({ database, config }) {
    return async ({ caller: { tenantId }, query: { after, limit: wanted, type } }) => {
      const limit = readLimit(wanted)
      const { rows, begin } = await database.read([tenantId], async (tx) => {
        const numbers =
          after === LATEST ? [] : await readNumbers(tx, tenantId, BigInt(after ?? 0), type ?? null, limit + 1)
        // The position travels behind the events: one that is deleted before counts as missing.
        const [rows, begin] = await Promise.all([withEvents(tx, numbers), feedPosition(tx, tenantId, after)])
        return { rows, begin }
      })
      const shown = rows.slice(0, limit)
      const data = shown.map((row) => eventToWire(row, config.BUSINESS_TIME_ZONE))
      const next = data.at(-1)?.sequence ?? Number(begin)
      return { body: succeed({ recordsCount: data.length, data, next, more: rows.length > limit }) }
    }
  },
})
