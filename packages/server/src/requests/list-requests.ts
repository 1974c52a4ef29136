import { idFloor } from '@svc/contract/id-kinds'
import { rfc3339 } from '@svc/kernel/time'
import { type Statement, statement } from '@svc/platform/db/statement'
import { type Static, Type } from 'typebox'
import { Instant, readInstant } from '../http/fields.ts'
import { query, succeed } from '../http/operation.ts'
import { PAGE_IN_QUERY, PageOf, page, readPage } from '../http/page.ts'

const LoggedRequest = Type.Object(
  {
    requestId: Type.String({ description: 'The `x-request-id` of the response' }),
    receivedOn: Type.String({ description: 'RFC 3339' }),
    operation: Type.String({ description: 'The `operationId` in the OpenAPI document' }),
    method: Type.String(),
    path: Type.String({ description: 'Without the query string' }),
    status: Type.Integer(),
    durationMs: Type.Number({ description: 'Until the response was sent, in milliseconds' }),
    error: Type.Optional(Type.String({ description: 'The error code, of failures' })),
    description: Type.Optional(
      Type.String({
        description: 'The description of the error, without e-mail addresses and long numbers',
      }),
    ),
  },
  { title: 'LoggedRequest', additionalProperties: false },
)

const exact = (description: string) =>
  Type.Optional(Type.String({ minLength: 1, maxLength: 64, description }))

const FILTERS = {
  status: Type.Optional(Type.Enum(['2xx', '4xx', '5xx'], { description: 'Only this class of status' })),
  operation: exact('Of this operation, by its `operationId`'),
  error: exact('Failed with this error code'),
  from: Type.Optional(Instant('Received at this instant or later')),
  to: Type.Optional(Instant('Received before this instant')),
}
const Filter = Type.Object(FILTERS)
type RequestFilter = Static<typeof Filter>

interface RequestRow {
  readonly requestId: string
  readonly at: Date
  readonly operation: string
  readonly method: string
  readonly path: string
  readonly status: number
  readonly durationMs: number
  readonly error: string | null
  readonly description: string | null
}

/** An id is drawn when its request arrives; `at` is counted back from the end of the response. */
const ID_SLACK_MS = 300_000

const pageOf = (name: string, rows: string): Statement<RequestRow> =>
  statement<RequestRow>(
    name,
    `select r.request_id as "requestId", r.at, r.operation, r.method, r.path, r.status,
       r.duration_ms as "durationMs", r.error, r.description
     from request_log r
     where r.tenant_id = $1 and r.path not like '/portal/%' and ${rows}
       and ($2::integer is null or r.status between $2 and $2 + 99)
       and ($3::text is null or r.operation = $3)
       and ($4::text is null or r.error = $4)
       and ($5::timestamptz is null or (r.at >= $5 and r.request_id >= $6::text))
       and ($7::timestamptz is null or (r.at < $7 and r.request_id < $8::text))
       and ($9::text is null or r.request_id < $9)
     order by r.request_id desc limit $10`,
  )
const PAGE = pageOf('request_log_page', 'true')
// Failures have an index of their own: they are few among all requests.
const FAILURES_PAGE = pageOf('request_log_failures_page', 'r.error is not null')

const isOfFailures = ({ error, status }: RequestFilter): boolean =>
  error !== undefined || status === '4xx' || status === '5xx'

const floorOf = (at: Date | undefined, slackMs: number): string | undefined =>
  at && idFloor('req', new Date(at.getTime() + slackMs))

const toWire = (row: RequestRow, timeZone: string) => ({
  requestId: row.requestId,
  receivedOn: rfc3339(row.at, timeZone),
  operation: row.operation,
  method: row.method,
  path: row.path,
  status: row.status,
  durationMs: Math.round(row.durationMs * 100) / 100,
  error: row.error ?? undefined,
  description: row.description ?? undefined,
})

/** Ours: what a tenant sent, as the request log keeps it (decision O4). */
export const listOwnRequests = query({
  id: 'listRequests',
  method: 'GET',
  path: '/api/v0/requests',
  tag: 'Requests',
  summary: 'List requests',
  description:
    'Requests of your programs of the last days, newest first: every failure and every write, and a sample of the successful reads. Bodies, header fields and query strings are not shown. The log is written in the background: a request shows up within seconds. Pass `next` back as `after` for the next page.',
  auth: 'tenant',
  scope: 'requests:read',
  envelope: 'response_code',
  query: Type.Object({ ...FILTERS, ...PAGE_IN_QUERY }, { additionalProperties: false }),
  result: PageOf(LoggedRequest),
  errors: [],

  mount({ database, config: { BUSINESS_TIME_ZONE: timeZone } }) {
    return async ({ caller: { tenantId }, query }) => {
      const { limit, after } = readPage(query)
      const { status, operation, error } = query
      const from = readInstant('from', query.from)
      const to = readInstant('to', query.to)
      const rows = await database.read([tenantId], (tx) =>
        tx.query(isOfFailures(query) ? FAILURES_PAGE : PAGE, [
          tenantId,
          status && Number(status[0]) * 100,
          operation,
          error,
          from,
          floorOf(from, -ID_SLACK_MS),
          to,
          floorOf(to, ID_SLACK_MS),
          after?.id,
          limit + 1,
        ]),
      )
      const positionOf = (row: RequestRow) => ({ at: row.at, id: row.requestId })
      return { body: succeed(page(rows, limit, positionOf, (row) => toWire(row, timeZone))) }
    }
  },
})
