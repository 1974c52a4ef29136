import type { EventType } from '@svc/contract/events'
import type { Writes } from './db/database.ts'
import { statement } from './db/statement.ts'
import { instant, json, type NewRowOf, type RowOf, table, text, textOf } from './db/table.ts'

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
  },
  [],
)
export type OutboxEvent = NewRowOf<typeof outbox>
/** `sequence`: its number in the tenant’s feed, given after commit. */
export type NumberedEvent = RowOf<typeof outbox> & { readonly sequence: bigint }

/** The select list of numbered events, whose numbers are in a narrow table (decision X25). */
export const NUMBERED_COLUMNS = `${outbox.columns}, n.sequence`
/** From the numbers to their events. */
export const NUMBERED_EVENTS =
  'event_numbers n join outbox o on o.tenant_id = n.tenant_id and o.event_id = n.event_id'
/** From events to their numbers, by the instant that both have: no index of numbers begins with the event. */
export const EVENTS_WITH_NUMBERS =
  'outbox o join event_numbers n on n.tenant_id = o.tenant_id and n.created_at = o.created_at and n.event_id = o.event_id'

const SAVE = statement(
  'outbox_save',
  `with events as (${outbox.insertText()} returning tenant_id, event_id)
   insert into unnumbered_events (tenant_id, event_id) select tenant_id, event_id from events`,
)

/** Writes events, and queues them for their numbers. */
export function saveEvents(tx: Writes, events: readonly OutboxEvent[]): void {
  if (events.length > 0) tx.write(SAVE, outbox.insertValues(events))
}
