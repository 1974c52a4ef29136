import { Type } from 'typebox'
import { fail } from '../errors.ts'
import { rfc3339 } from '../kernel/time.ts'
import { statement } from '../platform/db/statement.ts'
import { query, succeed } from '../platform/http/operation.ts'
import { Cursor, LIMIT_DEFAULT, LIMIT_MAX, PageOf, page, readCursor } from '../platform/http/page.ts'
import { EndpointParams, findEndpoint } from './endpoint.ts'

const AttemptResponse = Type.Object(
  {
    attemptId: Type.String(),
    eventId: Type.String({ description: 'The event that was sent, its `webhook-id`' }),
    sequence: Type.Integer(),
    attempt: Type.Integer({ description: '1 for the first attempt with this event' }),
    url: Type.String({ description: 'Where it was sent to' }),
    startedOn: Type.String({ description: 'RFC 3339; `webhook-timestamp` in seconds is the same instant' }),
    durationMs: Type.Integer(),
    delivered: Type.Boolean({ description: 'Whether the endpoint took it: status 200 to 299' }),
    status: Type.Optional(Type.Integer({ description: 'Status of the answer, if there was one' })),
    failure: Type.Optional(Type.String({ description: 'Why it does not count, for people' })),
    responseExcerpt: Type.String({ description: 'The first 1,024 bytes of the answer' }),
    nextOn: Type.Optional(Type.String({ description: 'When it is tried again; absent when it is not' })),
  },
  { title: 'WebhookAttempt', additionalProperties: false },
)

interface AttemptRow {
  attempt_id: string
  event_id: string
  sequence: bigint
  attempt: number
  url: string
  started_at: Date
  duration_ms: number
  status: number | null
  failure: string | null
  response_excerpt: string
  next_at: Date | null
}

const ATTEMPTS = statement<AttemptRow>(
  'webhook_attempts_list',
  `select attempt_id, event_id, sequence, attempt, url, started_at, duration_ms, status, failure, response_excerpt, next_at
   from webhook_attempts
   where tenant_id = $1 and endpoint_id = $2 and ($3::text is null or event_id = $3)
     and ($4::timestamptz is null or (started_at, attempt_id) < ($4, $5::text))
   order by started_at desc, attempt_id desc limit $6`,
)

const toWire = (row: AttemptRow, timeZone: string) => ({
  attemptId: row.attempt_id,
  eventId: row.event_id,
  sequence: Number(row.sequence),
  attempt: row.attempt,
  url: row.url,
  startedOn: rfc3339(row.started_at, timeZone),
  durationMs: row.duration_ms,
  delivered: row.status !== null && row.status >= 200 && row.status < 300,
  status: row.status ?? undefined,
  failure: row.failure ?? undefined,
  responseExcerpt: row.response_excerpt,
  nextOn: row.next_at === null ? undefined : rfc3339(row.next_at, timeZone),
})

/** What was sent to an endpoint and what it answered, newest first. */
export const listAttempts = query({
  id: 'listWebhookAttempts',
  method: 'GET',
  path: '/api/v0/webhook-endpoints/:endpointId/attempts',
  tag: 'Webhooks',
  summary: 'List delivery attempts',
  description: 'Newest first; pass `next` back as `after` for the next page.',
  auth: 'tenant',
  family: 'response_code',
  params: EndpointParams,
  query: Type.Object(
    {
      eventId: Type.Optional(Type.String({ maxLength: 64, description: 'Only attempts with this event' })),
      limit: Type.Optional(
        Type.String({
          pattern: '^[1-9][0-9]{0,2}$',
          'x-rule': `must be a whole number from 1 to ${LIMIT_MAX}`,
          description: `Attempts in a page, ${LIMIT_DEFAULT} by default, ${LIMIT_MAX} at most`,
        }),
      ),
      after: Type.Optional(Cursor),
    },
    { additionalProperties: false },
  ),
  result: PageOf(AttemptResponse),
  errors: ['webhook_endpoint_not_found'],

  mount({ database, config }) {
    return async ({
      caller: { tenantId },
      params: { endpointId },
      query: { eventId, limit: wanted, after },
    }) => {
      const limit = Math.min(LIMIT_MAX, Number(wanted ?? LIMIT_DEFAULT))
      const position = readCursor(after)
      const rows = await database.read([tenantId], async (tx) => {
        if (!(await findEndpoint(tx, tenantId, endpointId))) fail('webhook_endpoint_not_found')
        return tx.query(ATTEMPTS, [tenantId, endpointId, eventId, position?.at, position?.id, limit + 1])
      })
      const positionOf = (row: AttemptRow) => ({ at: row.started_at, id: row.attempt_id })
      return { body: succeed(page(rows, limit, positionOf, (row) => toWire(row, config.BUSINESS_TIME_ZONE))) }
    }
  },
})
