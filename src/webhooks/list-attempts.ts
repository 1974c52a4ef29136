import { Type } from 'typebox'
import { fail } from '../errors.ts'
import { rfc3339 } from '../kernel/time.ts'
import { statement } from '../platform/db/statement.ts'
import { query, succeed } from '../platform/http/operation.ts'
import { Cursor, LIMIT_DEFAULT, LIMIT_MAX, PageOf, page, readCursor } from '../platform/http/page.ts'
import { EndpointParams, findEndpoint } from './endpoint.ts'

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
    status: Type.Optional(Type.Integer({ description: 'Status of the answer, if there was one' })),
    failure: Type.Optional(Type.String({ description: 'Why it does not count, for people' })),
    responseExcerpt: Type.String({ description: 'The first 1,024 bytes of the answer' }),
    nextOn: Type.Optional(Type.String({ description: 'When it is tried again; absent when it is not' })),
  },
  { title: 'WebhookAttempt', additionalProperties: false },
)

export interface AttemptRow {
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

export const ATTEMPT_COLUMNS = `a.attempt_id, a.event_id, a.sequence, a.attempt, a.url, a.started_at, a.duration_ms, a.status,
  a.failure, a.response_excerpt, a.next_at`

const pageOf = (name: string, filter: string) =>
  statement<AttemptRow>(
    name,
    `select ${ATTEMPT_COLUMNS} from webhook_attempts a
     where a.tenant_id = $1 and a.endpoint_id = $2 and ${filter}
       and ($4::timestamptz is null or (a.started_at, a.attempt_id) < ($4, $5::text))
     order by a.started_at desc, a.attempt_id desc limit $6`,
  )
// One statement each: with a plan for both the attempts with one event would be looked for among all of the endpoint.
const ATTEMPTS = pageOf('webhook_attempts_list', '$3::text is null')
const ATTEMPTS_OF_EVENT = pageOf('webhook_attempts_of_event', 'a.event_id = $3')

export const isTaken = (status: number | null): boolean => status !== null && status >= 200 && status < 300

export const attemptToWire = (row: AttemptRow, timeZone: string) => ({
  attemptId: row.attempt_id,
  eventId: row.event_id,
  sequence: Number(row.sequence),
  attempt: row.attempt,
  url: row.url,
  startedOn: rfc3339(row.started_at, timeZone),
  durationMs: row.duration_ms,
  delivered: isTaken(row.status),
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
        const statement = eventId === undefined ? ATTEMPTS : ATTEMPTS_OF_EVENT
        return tx.query(statement, [tenantId, endpointId, eventId, position?.at, position?.id, limit + 1])
      })
      const positionOf = (row: AttemptRow) => ({ at: row.started_at, id: row.attempt_id })
      return {
        body: succeed(page(rows, limit, positionOf, (row) => attemptToWire(row, config.BUSINESS_TIME_ZONE))),
      }
    }
  },
})
