import { Type } from 'typebox'
import { EVENT_TYPES, type EventType } from '../events.ts'
import { rfc3339 } from '../kernel/time.ts'
import { statement } from '../platform/db/statement.ts'

/** A numbered event, as the feed, the stream and webhooks tell it. */
export const EventResponse = Type.Object(
  {
    id: Type.String({ description: 'Unique; the `webhook-id` of every delivery' }),
    sequence: Type.Integer({ description: 'Its number in the tenant’s feed: 1, 2, 3 … without gaps' }),
    type: Type.Enum(EVENT_TYPES),
    createdOn: Type.String({ description: 'RFC 3339 with milliseconds and zone offset' }),
    data: Type.Unsafe<object>({
      type: 'object',
      description: 'The record as the API answers it; see the event reference',
    }),
  },
  { title: 'Event', additionalProperties: false },
)

export interface EventRow {
  event_id: string
  tenant_id: string
  sequence: bigint
  type: EventType
  payload: unknown
  created_at: Date
}

export const EVENT_COLUMNS = 'o.event_id, o.tenant_id, o.sequence, o.type, o.payload, o.created_at'

export const eventToWire = (row: EventRow, timeZone: string) => ({
  id: row.event_id,
  sequence: Number(row.sequence),
  type: row.type,
  createdOn: rfc3339(row.created_at, timeZone),
  data: row.payload,
})

/** A tenant's events after a number, of one type or of all. */
export const FEED = statement<EventRow>(
  'events_feed',
  `select ${EVENT_COLUMNS} from outbox o
   where o.tenant_id = $1 and o.sequence > $2 and ($3::text is null or o.type = $3)
   order by o.sequence limit $4`,
)

/** Numbers come as text in a query and in `Last-Event-ID`. */
export const SEQUENCE_PATTERN = '^[0-9]{1,15}$'
