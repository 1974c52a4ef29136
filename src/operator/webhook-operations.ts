import { Type } from 'typebox'
import { fail } from '../errors.ts'
import { rfc3339 } from '../kernel/time.ts'
import type { Tx } from '../platform/db/database.ts'
import { statement } from '../platform/db/statement.ts'
import { query } from '../platform/http/operation.ts'
import {
  ENDPOINT_COLUMNS,
  EndpointResponse,
  type EndpointRow,
  endpointToWire,
  toEndpoint,
} from '../webhooks/endpoint.ts'
import { EVENT_COLUMNS, EventResponse, type EventRow, eventToWire } from '../webhooks/event.ts'
import {
  ATTEMPT_COLUMNS,
  AttemptResponse,
  type AttemptRow,
  attemptToWire,
  isTaken,
} from '../webhooks/list-attempts.ts'
import {
  BY_TIME,
  CONSOLE_API,
  consoleOperation,
  exact,
  idParam,
  instant,
  listOf,
  listQuery,
  maybe,
  maybeInstant,
  oneOf,
  record,
  text,
} from './console-schema.ts'
import { begins, Filters, type ListPlan, readList } from './list.ts'

const TAG = 'Webhooks'
const PATH = `${CONSOLE_API}/webhooks`
const params = idParam('endpointId')
/** Of deliveries that wait; an endpoint that was away for days has millions. */
const COUNTED_MAX = 1_000

const WebhookRow = record('WebhookRow', {
  endpoint: EndpointResponse,
  tenantId: text(),
  tenantKind: Type.Enum(['merchant', 'partner']),
  tenantName: text(),
  waiting: record('WaitingDeliveries', {
    count: Type.Integer({ description: `Events still to be delivered; counted up to ${COUNTED_MAX}` }),
    exact: Type.Boolean({ description: 'False: there are more' }),
  }),
  lastAttempt: Type.Optional(
    record('LastWebhookAttempt', {
      startedOn: instant,
      delivered: Type.Boolean({ description: 'Whether the endpoint took it: status 200 to 299' }),
      status: Type.Optional(Type.Integer({ description: 'Status of the answer, if there was one' })),
      failure: maybe('Why it does not count, for people'),
    }),
  ),
})

type ListedEndpoint = EndpointRow & {
  tenant_kind: 'merchant' | 'partner'
  tenant_name: string
  waiting: number
  started_at: Date | null
  status: number | null
  failure: string | null
}

const COLUMNS = `${ENDPOINT_COLUMNS}, t.kind as tenant_kind, coalesce(m.name, p.name) as tenant_name, w.waiting,
  a.started_at, a.status, a.failure`
/** Two short look-ups a row, for the rows that are shown. */
const JOINS = `join tenants t on t.tenant_id = e.tenant_id
  left join merchants m on m.merchant_id = e.tenant_id left join partners p on p.partner_id = e.tenant_id
  cross join lateral (
    select count(*)::integer as waiting
    from (select from webhook_deliveries d where d.endpoint_id = e.endpoint_id limit ${COUNTED_MAX + 1}) d) w
  left join lateral (
    select a.started_at, a.status, a.failure from webhook_attempts a
    where a.tenant_id = e.tenant_id and a.endpoint_id = e.endpoint_id
    order by a.started_at desc, a.attempt_id desc limit 1) a on true`
const URL_BEGIN = `left(lower(e.url), 255) collate "C"`

const FIND = statement<ListedEndpoint>(
  'console_webhook',
  `select ${COLUMNS} from webhook_endpoints e ${JOINS} where e.endpoint_id = $1`,
)
const TENANT = statement<{ tenant_id: string }>(
  'console_webhook_tenant',
  'select tenant_id from webhook_endpoints where endpoint_id = $1',
)
const SECRETS = statement<{ created_at: Date; expires_at: Date | null }>(
  'console_webhook_secrets',
  `select created_at, expires_at from webhook_secrets
   where tenant_id = $1 and endpoint_id = $2 and (expires_at is null or expires_at > $3)
   order by created_at desc, secret_id desc`,
)
const EVENT = statement<EventRow>(
  'console_webhook_event',
  `select ${EVENT_COLUMNS} from outbox o
   where o.tenant_id = $1 and o.event_id = $2 and o.sequence is not null`,
)

const rowOf = (row: ListedEndpoint, timeZone: string) => ({
  endpoint: endpointToWire(toEndpoint(row), timeZone),
  tenantId: row.tenant_id,
  tenantKind: row.tenant_kind,
  tenantName: row.tenant_name,
  waiting: { count: Math.min(row.waiting, COUNTED_MAX), exact: row.waiting <= COUNTED_MAX },
  lastAttempt: row.started_at
    ? {
        startedOn: rfc3339(row.started_at, timeZone),
        delivered: isTaken(row.status),
        status: row.status ?? undefined,
        failure: row.failure ?? undefined,
      }
    : undefined,
})

/** Whose endpoint it is. Throws `webhook_endpoint_not_found`. */
export async function tenantOfEndpoint(tx: Tx, endpointId: string): Promise<string> {
  const [row] = await tx.query(TENANT, [endpointId])
  return row ? row.tenant_id : fail('webhook_endpoint_not_found')
}

/** People type hosts without a scheme. */
function addUrl(filters: Filters, begin: string): void {
  const begun = [begin, `https://${begin}`, `http://${begin}`].map(
    (url) => `${URL_BEGIN} like lower(${filters.param(begins(url))})`,
  )
  filters.conditions.push(`(${begun.join(' or ')})`)
}

export const listWebhooks = query({
  ...consoleOperation,
  id: 'listWebhooks',
  method: 'GET',
  path: PATH,
  tag: TAG,
  summary: 'List webhook endpoints of all tenants',
  role: 'viewer',
  query: listQuery(BY_TIME, {
    q: exact('Id of the endpoint, or the begin of its URL', 255),
    tenantId: exact('Of this merchant or partner'),
    state: oneOf(['enabled', 'disabled'], 'Only these'),
  }),
  result: listOf(WebhookRow),
  errors: [],
  mount({ config: { BUSINESS_TIME_ZONE: timeZone }, database }) {
    return async ({ query }) => {
      const { q, sort, state, tenantId } = query
      const filters = new Filters()
        .add('e.tenant_id = ?', tenantId)
        .add('e.enabled = ?', state && state === 'enabled')
      if (q?.startsWith('whe_')) filters.add('e.endpoint_id = ?', q)
      else if (q !== undefined) addUrl(filters, q)
      const plan: ListPlan = {
        columns: COLUMNS,
        table: 'webhook_endpoints e',
        alias: 'e',
        joins: JOINS,
        filters,
        keys: [{ sql: 'e.endpoint_id', type: 'text' }],
        descending: sort !== 'created',
      }
      const page = await database.operate((tx) =>
        readList(tx, plan, query, (row: ListedEndpoint) => rowOf(row, timeZone)),
      )
      return { body: JSON.stringify(page) }
    }
  },
})

export const showWebhook = query({
  ...consoleOperation,
  id: 'showWebhook',
  method: 'GET',
  path: `${PATH}/:endpointId`,
  tag: TAG,
  summary: 'Show webhook endpoint with its live secrets, without their values',
  role: 'viewer',
  params,
  result: record('WebhookDetail', {
    row: WebhookRow,
    secrets: Type.Array(record('WebhookSecret', { createdOn: instant, expiresOn: maybeInstant }), {
      description: 'Those that sign, newest first; a former one has an end',
    }),
  }),
  errors: ['webhook_endpoint_not_found'],
  mount({ clock, config: { BUSINESS_TIME_ZONE: timeZone }, database }) {
    return async ({ params: { endpointId } }) => {
      const { row, secrets } = await database.operate(async (tx) => {
        const [row] = await tx.query(FIND, [endpointId])
        if (!row) return fail('webhook_endpoint_not_found')
        const live = [row.tenant_id, endpointId, new Date(clock.now())]
        return { row, secrets: await tx.query(SECRETS, live) }
      })
      return {
        body: JSON.stringify({
          row: rowOf(row, timeZone),
          secrets: secrets.map(({ created_at, expires_at }) => ({
            createdOn: rfc3339(created_at, timeZone),
            expiresOn: expires_at ? rfc3339(expires_at, timeZone) : undefined,
          })),
        }),
      }
    }
  },
})

export const listWebhookAttemptsInConsole = query({
  ...consoleOperation,
  id: 'listWebhookAttempts',
  method: 'GET',
  path: `${PATH}/:endpointId/attempts`,
  tag: TAG,
  summary: 'List delivery attempts of a webhook endpoint',
  role: 'viewer',
  params,
  query: listQuery(['-started'], {
    eventId: exact('Only attempts with this event'),
    outcome: oneOf(['failure'], 'Only attempts that the endpoint did not take'),
  }),
  result: listOf(AttemptResponse),
  errors: ['webhook_endpoint_not_found'],
  mount({ config: { BUSINESS_TIME_ZONE: timeZone }, database }) {
    return async ({ params: { endpointId }, query }) => {
      const page = await database.operate(async (tx) => {
        const filters = new Filters()
          .add('a.tenant_id = ?', await tenantOfEndpoint(tx, endpointId))
          .add('a.endpoint_id = ?', endpointId)
          .add('a.event_id = ?', query.eventId)
        if (query.outcome !== undefined)
          filters.conditions.push('(a.status is null or a.status not between 200 and 299)')
        const plan: ListPlan = {
          columns: ATTEMPT_COLUMNS,
          table: 'webhook_attempts a',
          alias: 'a',
          filters,
          keys: [
            { sql: 'a.started_at', type: 'timestamptz' },
            { sql: 'a.attempt_id', type: 'text' },
          ],
          descending: true,
        }
        return readList(tx, plan, query, (row: AttemptRow) => attemptToWire(row, timeZone))
      })
      return { body: JSON.stringify(page) }
    }
  },
})

export const showWebhookEvent = query({
  ...consoleOperation,
  id: 'showWebhookEvent',
  method: 'GET',
  path: `${PATH}/:endpointId/events/:eventId`,
  tag: TAG,
  summary: 'Show an event as it is sent to a webhook endpoint',
  role: 'viewer',
  params: Type.Object({
    endpointId: Type.String({ maxLength: 128 }),
    eventId: Type.String({ maxLength: 128 }),
  }),
  result: EventResponse,
  errors: ['webhook_endpoint_not_found', 'event_not_found'],
  mount({ config: { BUSINESS_TIME_ZONE: timeZone }, database }) {
    return async ({ params: { endpointId, eventId } }) => {
      const [row] = await database.operate(async (tx) =>
        tx.query(EVENT, [await tenantOfEndpoint(tx, endpointId), eventId]),
      )
      return { body: JSON.stringify(eventToWire(row ?? fail('event_not_found'), timeZone)) }
    }
  },
})
