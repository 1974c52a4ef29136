import { type FailureKind, kind } from './failure-kind.ts'

/** Failures of events, and of the webhooks and streams that deliver them. */
export const EVENT_FAILURES = {
  event_not_found: kind(
    404,
    'NOT_FOUND_ERROR',
    'Event not found',
    'Use the `id` of an event in your feed, `GET /api/v0/events`.',
  ),
  events_forgotten: kind(
    410,
    'NOT_FOUND_ERROR',
    'The events after this position are no longer kept',
    'You have missed events. Read the records to catch up, then continue from the sequence number or time that the description names.',
  ),
  events_ahead: kind(
    409,
    'CONFLICT_ERROR',
    'The feed ends before this position',
    'The service was restored from a backup, or the position is that of another tenant or server. Compare the records that you hold, then continue from the number that the description names.',
  ),
  webhook_url_refused: kind(
    422,
    'BUSINESS_ERROR',
    'Webhooks cannot be sent to this URL',
    'The description says why. Use an `https` URL of a public host, without credentials; sandbox mode accepts `http` and loopback addresses too.',
  ),
  webhook_endpoint_disabled: kind(
    409,
    'CONFLICT_ERROR',
    'The webhook endpoint is disabled',
    'Enable it first; what it missed can then be replayed.',
  ),
  too_many_webhook_endpoints: kind(
    422,
    'BUSINESS_ERROR',
    'The maximum number of webhook endpoints is reached',
    'Delete an endpoint that you do not need, or let one endpoint receive more types.',
  ),
  too_many_webhook_secrets: kind(
    409,
    'CONFLICT_ERROR',
    'The maximum number of secrets of this endpoint is in use',
    'Rotate again once the next secret has expired; the description says when. With `graceSeconds: 0` all previous secrets end at once, and a rotation is always possible.',
  ),
  too_many_event_streams: kind(
    429,
    'RATE_LIMIT_ERROR',
    'The maximum number of open event streams is reached',
    'Close a stream, or poll `GET /api/v0/events`.',
  ),
} as const satisfies Record<string, FailureKind>
