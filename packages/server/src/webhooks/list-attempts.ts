import { fail } from '@svc/contract/errors'
import { type Attempt, webhookAttempts } from '@svc/core/webhooks/attempt'
import { EndpointParams, findEndpoint } from '@svc/core/webhooks/endpoint'
import { rfc3339 } from '@svc/kernel/time'
import { statement } from '@svc/platform/db/statement'
import { Type } from 'typebox'
import { query, succeed } from '../http/operation.ts'
import { PAGE_IN_QUERY, PageOf, page, readPage } from '../http/page.ts'

export const AttemptResponse = Type.Object(
  {
    attemptId: Type.String(),
    eventId: Type.String({ description: 'The event that was sent, its `webhook-id`' }),
    sequence: Type.Integer(),
    attempt: Type.Integer({ description: '1 for the first attempt with this event' }),
    url: Type.String({ description: 'Where it was sent to' }),
    startedOn: Type.String({ description: 'RFC 3339; `webhook-timestamp` in seconds is the same instant' }),
    durationMs: Type.Integer(),
    delivered: Type.Boolean({ description: 'Whether the endpoint took it: status 200 to 299' }),
    status: Type.Optional(Type.Integer({ description: 'Status of the response, if there was one' })),
    failure: Type.Optional(Type.String({ description: 'Why it does not count, for people' })),
    responseExcerpt: Type.String({ description: 'The first 1,024 bytes of the response' }),
    nextOn: Type.Optional(Type.String({ description: 'When it is tried again; absent when it is not' })),
  },
  { title: 'WebhookAttempt', additionalProperties: false },
)

const pageOf = (name: string, filter: string) =>
  statement<Attempt>(
    name,
    `select ${webhookAttempts.columns} from webhook_attempts a
     where a.tenant_id = $1 and a.endpoint_id = $2 and ${filter}
       and ($4::timestamptz is null or (a.started_at, a.attempt_id) < ($4, $5::text))
     order by a.started_at desc, a.attempt_id desc limit $6`,
  )
// One statement each: with a plan for both the attempts with one event would be looked for among all of the endpoint.
const ATTEMPTS = pageOf('webhook_attempts_list', '$3::text is null')
const ATTEMPTS_OF_EVENT = pageOf('webhook_attempts_of_event', 'a.event_id = $3')

export const isTaken = (status: number | null): boolean => status !== null && status >= 200 && status < 300

export const attemptToWire = (row: Attempt, timeZone: string) => ({
  attemptId: row.attemptId,
  eventId: row.eventId,
  sequence: Number(row.sequence),
  attempt: row.attempt,
  url: row.url,
  startedOn: rfc3339(row.startedAt, timeZone),
  durationMs: row.durationMs,
  delivered: isTaken(row.status),
  status: row.status ?? undefined,
  failure: row.failure ?? undefined,
  responseExcerpt: row.responseExcerpt,
  nextOn: row.nextAt === null ? undefined : rfc3339(row.nextAt, timeZone),
})

/** What was sent to an endpoint and its responses, newest first. */
export const listAttempts = query({
  id: 'listWebhookAttempts',
  method: 'GET',
  path: '/api/v0/webhook-endpoints/:endpointId/attempts',
  tag: 'Webhooks',
  summary: 'List delivery attempts',
  description: 'Newest first; pass `next` back as `after` for the next page.',
  auth: 'tenant',
  scope: 'webhooks:read',
  envelope: 'response_code',
  params: EndpointParams,
  query: Type.Object(
    {
      eventId: Type.Optional(Type.String({ description: 'Only attempts with this event' })),
      ...PAGE_IN_QUERY,
    },
    { additionalProperties: false },
  ),
  result: PageOf(AttemptResponse),
  errors: ['webhook_endpoint_not_found'],

  mount({ database, config }) {
    return async ({ caller: { tenantId }, params: { endpointId }, query }) => {
      const { eventId } = query
      const { limit, after } = readPage(query)
      const rows = await database.read([tenantId], async (tx) => {
        if (!(await findEndpoint(tx, tenantId, endpointId))) fail('webhook_endpoint_not_found')
        const statement = eventId === undefined ? ATTEMPTS : ATTEMPTS_OF_EVENT
        return tx.query(statement, [tenantId, endpointId, eventId, after?.at, after?.id, limit + 1])
      })
      const positionOf = (row: Attempt) => ({ at: row.startedAt, id: row.attemptId })
      return {
        body: succeed(page(rows, limit, positionOf, (row) => attemptToWire(row, config.BUSINESS_TIME_ZONE))),
      }
    }
  },
})
