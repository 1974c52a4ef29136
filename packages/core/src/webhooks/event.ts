import { EVENT_TYPES } from '@svc/contract/events'
import { rfc3339 } from '@svc/kernel/time'
import type { Tx } from '@svc/platform/db/database'
import { statement } from '@svc/platform/db/statement'
import { type NumberedEvent, withEvents } from '@svc/platform/outbox'
import { Type } from 'typebox'

/** A numbered event, as the feed, the stream and webhooks carry it. */
export const EventResponse = Type.Object(
  {
    id: Type.String({ description: 'Unique; the `webhook-id` of every delivery' }),
    sequence: Type.Integer({ description: 'Its number in the tenant’s feed: 1, 2, 3 … without gaps' }),
    type: Type.Enum(EVENT_TYPES),
    createdOn: Type.String({ description: 'RFC 3339 with milliseconds and zone offset' }),
    data: Type.Unsafe<object>({
      type: 'object',
      description: 'The record as the API returns it; see the event reference',
    }),
  },
  { title: 'Event', additionalProperties: false },
)

export const eventToWire = (event: NumberedEvent, timeZone: string) => ({
  id: event.eventId,
  sequence: Number(event.sequence),
  type: event.type,
  createdOn: rfc3339(event.createdAt, timeZone),
  data: event.payload,
})

const NUMBERS = statement<Pick<NumberedEvent, 'tenantId' | 'eventId' | 'sequence'>>(
  'events_feed',
  `select tenant_id as "tenantId", event_id as "eventId", sequence from event_numbers
   where tenant_id = $1 and sequence > $2 and ($3::text is null or type = $3) order by sequence limit $4`,
)

/** The numbers of a tenant's events after one of them, of one type or of all. */
export const readNumbers = (
  tx: Tx,
  tenantId: string,
  after: bigint,
  type: string | null,
  limit: number,
): Promise<Pick<NumberedEvent, 'tenantId' | 'eventId' | 'sequence'>[]> =>
  tx.query(NUMBERS, [tenantId, after, type, limit])

/** A tenant's events after a number, of all types. */
export const readFeed = async (
  tx: Tx,
  tenantId: string,
  after: bigint,
  limit: number,
): Promise<NumberedEvent[]> => withEvents(tx, await readNumbers(tx, tenantId, after, null, limit))

/** Numbers come as text in `Last-Event-ID` and in a query, where the end of the feed has a name, too. */
export const SEQUENCE_PATTERN = '^[0-9]{1,15}$'
export const SEQUENCE_MAX = 999_999_999_999_999
export const POSITION_PATTERN = '^(?:latest|[0-9]{1,15})$'
/** As callers see it: the `next` of a page is a number. */
export const POSITION_DOCUMENTED = {
  anyOf: [
    { type: 'integer', minimum: 0, maximum: SEQUENCE_MAX },
    { type: 'string', enum: ['latest'] },
  ],
}
export const POSITION_RULE = 'must be a sequence number or latest'
