import type { EventType } from '@svc/contract/events'
import type { Writes } from './db/database.ts'
import {
  bigint,
  generated,
  instant,
  json,
  type NewRowOf,
  nullable,
  type RowOf,
  table,
  text,
  textOf,
} from './db/table.ts'

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
    /** Its number in the tenant's feed, given after commit. */
    sequence: generated(nullable(bigint)),
  },
  [],
)
export type OutboxEvent = NewRowOf<typeof outbox>
export type NumberedEvent = RowOf<typeof outbox> & { readonly sequence: bigint }

export const saveEvents = (tx: Writes, events: readonly OutboxEvent[]): void => outbox.insert(tx, events)
