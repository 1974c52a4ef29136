import { bigint, instant, integer, nullable, type RowOf, smallint, table, text } from '@svc/platform/db/table'

/** Attempts to deliver an event to an endpoint. */
export const webhookAttempts = table('webhook_attempts', 'a', ['tenantId', 'attemptId'], {
  attemptId: text,
  tenantId: text,
  endpointId: text,
  eventId: text,
  sequence: bigint,
  attempt: integer,
  url: text,
  startedAt: instant,
  durationMs: integer,
  status: nullable(smallint),
  failure: nullable(text),
  responseExcerpt: text,
  /** When it is tried again; null when it was delivered, or given up. */
  nextAt: nullable(instant),
})
export type Attempt = RowOf<typeof webhookAttempts>
