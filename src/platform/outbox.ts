import type { EventType } from '../events.ts'
import type { Writes } from './db/database.ts'
import { columns, statement } from './db/statement.ts'

/** Something that happened, for those who want to hear of it. Written in the transaction of its cause. */
export interface OutboxEvent {
  readonly eventId: string
  readonly tenantId: string
  readonly type: EventType
  /** The object that it is about: events of one object are delivered in order. */
  readonly objectId: string
  /** The record as the API answers it: never a secret, never a card number. */
  readonly payload: unknown
  readonly createdAt: Date
}

const INSERT = statement(
  'outbox_insert',
  `insert into outbox (event_id, tenant_id, type, object_id, payload, created_at)
   select * from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::jsonb[], $6::timestamptz[])`,
)

export function saveEvents(tx: Writes, events: readonly OutboxEvent[]): void {
  if (events.length === 0) return
  tx.write(
    INSERT,
    columns(
      events,
      (e) => e.eventId,
      (e) => e.tenantId,
      (e) => e.type,
      (e) => e.objectId,
      (e) => JSON.stringify(e.payload),
      (e) => e.createdAt,
    ),
  )
}
