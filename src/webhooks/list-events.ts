import { Type } from 'typebox'
import { fail } from '../errors.ts'
import { EVENT_TYPES } from '../events.ts'
import { query, succeed } from '../platform/http/operation.ts'
import { LIMIT_DEFAULT, LIMIT_MAX } from '../platform/http/page.ts'
import { EventResponse, eventToWire, FEED, SEQUENCE_PATTERN } from './event.ts'
import { requireKept } from './feed-horizon.ts'

const FeedQuery = Type.Object(
  {
    after: Type.Optional(
      Type.String({
        pattern: SEQUENCE_PATTERN,
        'x-rule': 'must be a sequence number',
        description:
          'The `next` of the page before; without it the page begins with the oldest event that is kept',
      }),
    ),
    limit: Type.Optional(
      Type.String({
        pattern: '^[1-9][0-9]{0,2}$',
        'x-rule': `must be a whole number from 1 to ${LIMIT_MAX}`,
        description: `Events in a page, ${LIMIT_DEFAULT} by default, ${LIMIT_MAX} at most`,
      }),
    ),
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
  id: 'listEvents',
  method: 'GET',
  path: '/api/v0/events',
  tag: 'Events',
  summary: 'List events',
  description:
    'Oldest first. `sequence` counts 1, 2, 3 … for each tenant, without gaps, and no number appears before a smaller one: whoever passes `next` back as `after` misses nothing. Events are kept for `EVENTS_DAYS`; an `after` from before is answered 410.',
  auth: 'tenant',
  family: 'response_code',
  query: FeedQuery,
  result: FeedPage,
  errors: ['events_forgotten'],

  mount({ database, config }) {
    return async ({ caller: { tenantId }, query: { after, limit: wanted, type } }) => {
      const limit = wanted === undefined ? LIMIT_DEFAULT : Number(wanted)
      if (limit > LIMIT_MAX)
        fail('validation_failed', { description: `limit: must be a whole number from 1 to ${LIMIT_MAX}` })
      const { rows, forgotten } = await database.read([tenantId], async (tx) => ({
        rows: await tx.query(FEED, [tenantId, after ?? 0, type, limit + 1]),
        forgotten: await requireKept(tx, tenantId, after === undefined ? undefined : BigInt(after)),
      }))
      const shown = rows.slice(0, limit)
      const data = shown.map((row) => eventToWire(row, config.BUSINESS_TIME_ZONE))
      const next = data.at(-1)?.sequence ?? Number(after ?? forgotten)
      return { body: succeed({ recordsCount: data.length, data, next, more: rows.length > limit }) }
    }
  },
})
