import { fail } from '@svc/contract/errors'
import { type Attempt, webhookAttempts } from '@svc/core/webhooks/attempt'
import { EndpointParams, findEndpoint } from '@svc/core/webhooks/endpoint'
import { rfc3339 } from '@svc/kernel/time'
import { Type } from 'typebox'
import { tenantOperations } from '../http/operation.ts'
import { choiceFilter, idFilter, listOf, type Resource } from '../http/resource.ts'

export const ofWebhooks = tenantOperations({ tag: 'Webhooks', auth: 'tenant', envelope: 'response_code' })

export const AttemptResponse = Type.Object(
  {
    attemptId: Type.String(),
    eventId: Type.String({ description: 'The event that was sent, its `webhook-id`' }),
    type: Type.Optional(Type.String({ description: 'Its type; absent once the event is forgotten' })),
    sequence: Type.Integer(),
    attempt: Type.Integer({ description: '1 for the first attempt with this event' }),
    url: Type.String({ description: 'Where it was sent to' }),
    startedOn: Type.String({ description: 'RFC 3339; `webhook-timestamp` in seconds is the same instant' }),
    durationMs: Type.Integer(),
    delivered: Type.Boolean({ description: 'Whether the endpoint took it: status 200 to 299' }),
    status: Type.Optional(Type.Integer({ description: 'Status of the response, if there was one' })),
    failure: Type.Optional(Type.String({ description: 'Why it does not count, for people' })),
    responseExcerpt: Type.String({ description: 'The first 1,024 bytes of the response' }),
    nextOn: Type.Optional(
      Type.String({ description: 'When it is tried again; absent when it is not, or was by now' }),
    ),
  },
  { title: 'WebhookAttempt', additionalProperties: false },
)

export const isTaken = (status: number | null): boolean => status !== null && status >= 200 && status < 300

export interface ListedAttempt extends Attempt {
  readonly type: string | null
  readonly isLast: boolean
}

const attemptToWire = (row: ListedAttempt, timeZone: string) => ({
  attemptId: row.attemptId,
  eventId: row.eventId,
  type: row.type ?? undefined,
  sequence: Number(row.sequence),
  attempt: row.attempt,
  url: row.url,
  startedOn: rfc3339(row.startedAt, timeZone),
  durationMs: row.durationMs,
  delivered: isTaken(row.status),
  status: row.status ?? undefined,
  failure: row.failure ?? undefined,
  responseExcerpt: row.responseExcerpt,
  nextOn: row.nextAt === null || !row.isLast ? undefined : rfc3339(row.nextAt, timeZone),
})

/** Attempts to deliver events to an endpoint, as every reader sees and finds them. */
export const webhookAttempt = {
  titles: { tenant: 'WebhookAttempt', operator: 'WebhookAttempt' },
  record: { schema: AttemptResponse, toWire: attemptToWire },
  from: {
    columns: `${webhookAttempts.columns}, o.type, not exists (
      select from webhook_attempts l where l.tenant_id = a.tenant_id and l.event_id = a.event_id
        and l.endpoint_id = a.endpoint_id and l.attempt > a.attempt) as "isLast"`,
    table: 'webhook_attempts a',
    alias: 'a',
    joins: 'left join outbox o on o.tenant_id = a.tenant_id and o.event_id = a.event_id',
  },
  tenant: 'a.tenant_id',
  keys: [
    { sql: 'a.started_at', type: 'timestamptz' },
    { sql: 'a.attempt_id', type: 'text' },
  ],
  fields: {},
  filters: {
    endpointId: {
      schema: idFilter('To this endpoint'),
      // The index begins with the tenant.
      sql: 'a.endpoint_id = ? and a.tenant_id = (select e.tenant_id from webhook_endpoints e where e.endpoint_id = ?)',
    },
    eventId: {
      schema: Type.Optional(Type.String({ description: 'Only attempts with this event' })),
      sql: 'a.event_id = ?',
    },
    outcome: {
      schema: choiceFilter(['failure'], 'Only attempts that the endpoint did not take'),
      sql: (filters) => filters.add('(a.status is null or a.status not between 200 and 299)', true),
    },
  },
} satisfies Resource<ListedAttempt>

export const listAttempts = listOf<ListedAttempt>(webhookAttempt, {
  ...ofWebhooks('webhooks:read'),
  id: 'listWebhookAttempts',
  path: '/api/v0/webhook-endpoints/:endpointId/attempts',
  summary: 'List delivery attempts',
  description: 'Newest first; pass `next` back as `after` for the next page.',
  params: EndpointParams,
  errors: ['webhook_endpoint_not_found'],
  async within(tx, { tenantId = '' }, { endpointId = '' }) {
    if (!(await findEndpoint(tx, tenantId, endpointId))) fail('webhook_endpoint_not_found')
  },
})
