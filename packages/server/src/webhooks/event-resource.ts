import { EVENT_TYPES } from '@svc/contract/events'
import { rfc3339 } from '@svc/kernel/time'
import { EVENTS_OF_NUMBERS, NUMBERED_COLUMNS, type NumberedEvent } from '@svc/platform/outbox'
import { Type } from 'typebox'
import { choiceFilter, exactFilter, instantFilter, type Resource } from '../http/resource.ts'

const EventRow = Type.Object(
  {
    eventId: Type.String(),
    sequence: Type.Integer({ description: 'Its number in the tenant’s feed' }),
    type: Type.Enum(EVENT_TYPES),
    objectId: Type.String({ description: 'Id of what it is about' }),
    createdOn: Type.String({ description: 'RFC 3339 with milliseconds and zone offset' }),
  },
  { additionalProperties: false },
)

/** Events of one tenant as people look through them, newest first and without their data; programs read the feed. */
export const event = {
  titles: { operator: 'EventRow' },
  record: {
    schema: EventRow,
    toWire: ({ eventId, sequence, type, objectId, createdAt }, timeZone) => ({
      eventId,
      sequence: Number(sequence),
      type,
      objectId,
      createdOn: rfc3339(createdAt, timeZone),
    }),
  },
  from: {
    columns: NUMBERED_COLUMNS,
    table: 'event_numbers n',
    alias: 'n',
    joins: EVENTS_OF_NUMBERS,
  },
  tenant: 'n.tenant_id',
  keys: [{ sql: 'n.sequence', type: 'bigint' }],
  fields: {},
  filters: {
    tenantId: { schema: exactFilter('Of this tenant', 100), sql: 'n.tenant_id = ?', operatorOnly: true },
    type: { schema: choiceFilter(EVENT_TYPES), sql: 'n.type = ?' },
    createdFrom: instantFilter('createdFrom', 'Created at this instant or later', (filters, at) =>
      filters.add('n.created_at >= ?', at),
    ),
    createdTo: instantFilter('createdTo', 'Created before this instant', (filters, at) =>
      filters.add('n.created_at < ?', at),
    ),
  },
} satisfies Resource<NumberedEvent>
