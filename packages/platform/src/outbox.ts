import type { EventType } from '@svc/contract/events'
import type { Tx, Writes } from './db/database.ts'
import { columns, statement } from './db/statement.ts'
import { instant, json, type NewRowOf, nullable, type RowOf, table, text, textOf } from './db/table.ts'

/** Events, each written in the transaction of its cause. Inserted as given: of one object the order counts (decision E1). */
export const outbox = table(
  'outbox',
  'o',
  ['tenantId', 'eventId'],
  {
    eventId: text,
    tenantId: text,
    type: textOf<EventType>(),
    /** The object that it is about: events of one object are delivered in order. */
    objectId: text,
    /** The record as the API returns it: never a secret, never a card number. */
    payload: json<unknown>(),
    createdAt: instant,
    /** Of the trace in which it was written: its webhooks go on with it. */
    traceparent: nullable(text),
  },
  [],
)
/** `traceparent` is the transaction's. */
export type OutboxEvent = Omit<NewRowOf<typeof outbox>, 'traceparent'>
/** `sequence`: its number in the tenant’s feed, given after commit. */
export type NumberedEvent = RowOf<typeof outbox> & { readonly sequence: bigint }

/** The select list of numbered events, whose numbers are in a narrow table (decision X25). */
export const NUMBERED_COLUMNS = `${outbox.columns}, n.sequence`
/** From numbers to their events. */
export const EVENTS_OF_NUMBERS = 'join outbox o on o.tenant_id = n.tenant_id and o.event_id = n.event_id'
export const NUMBERED_EVENTS = `event_numbers n ${EVENTS_OF_NUMBERS}`
/** From events to their numbers, by the instant that both have: no index of numbers begins with the event. */
export const EVENTS_WITH_NUMBERS =
  'outbox o join event_numbers n on n.tenant_id = o.tenant_id and n.created_at = o.created_at and n.event_id = o.event_id'

interface EventKey {
  readonly tenantId: string
  readonly eventId: string
}

// The bounds let PostgreSQL open the partitions of these events only.
const FIND = statement<RowOf<typeof outbox>>(
  'outbox_find_within',
  `select ${outbox.columns} from unnest($1::text[], $2::text[]) as k (tenant_id, event_id)
     join outbox o on o.tenant_id = k.tenant_id and o.event_id = k.event_id
   where o.event_id >= $3 and o.event_id <= $4`,
)

/** The rows of numbers or deliveries, each with its event. A row whose event does not exist any more is left out. */
export async function withEvents<R extends EventKey>(
  tx: Tx,
  rows: readonly R[],
): Promise<(R & RowOf<typeof outbox>)[]> {
  const ids = rows.map(({ eventId }) => eventId).sort()
  if (ids.length === 0) return []
  const keys = columns(
    rows,
    ({ tenantId }) => tenantId,
    ({ eventId }) => eventId,
  )
  const events = await tx.query(FIND, [...keys, ids[0], ids.at(-1)])
  const byId = new Map(events.map((event) => [event.eventId, event]))
  return rows.flatMap((row) => {
    const event = byId.get(row.eventId)
    return event ? [{ ...row, ...event }] : []
  })
}

const SAVE = statement(
  'outbox_save',
  `with events as (${outbox.insertText()} returning *)
   insert into unnumbered_events (created_at, tenant_id, event_id, type, object_id, amount)
   select created_at, tenant_id, event_id, type, object_id, payload -> 'amount' from events`,
)

/** Writes events, and queues them for their numbers. */
export function saveEvents(tx: Writes, events: readonly OutboxEvent[]): void {
  if (events.length === 0) return
  const { traceparent = null } = tx
  tx.write(SAVE, outbox.insertValues(events.map((event) => ({ ...event, traceparent }))))
}
