import { fail } from '@svc/contract/errors'
import { type Attempt, webhookAttempts } from '@svc/core/webhooks/attempt'
import {
  type Endpoint,
  EndpointResponse,
  endpointToWire,
  webhookEndpoints,
} from '@svc/core/webhooks/endpoint'
import { type WebhookSecret, webhookSecrets } from '@svc/core/webhooks/endpoint-secrets'
import { EventResponse, eventToWire } from '@svc/core/webhooks/event'
import { rfc3339 } from '@svc/kernel/time'
import type { Tx } from '@svc/platform/db/database'
import { statement } from '@svc/platform/db/statement'
import { EVENTS_WITH_NUMBERS, NUMBERED_COLUMNS, type NumberedEvent } from '@svc/platform/outbox'
import { EVENT_RECORDS } from '@svc/server/event-records'
import { begins, Filters, type ListPlan, readList } from '@svc/server/http/list'
import { query } from '@svc/server/http/operation'
import { AttemptResponse, attemptToWire, isTaken } from '@svc/server/webhooks/list-attempts'
import { Type } from 'typebox'
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
import { redact } from './redact.ts'
import { isRevealed } from './reveals.ts'

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
      status: Type.Optional(Type.Integer({ description: 'Status of the response, if there was one' })),
      failure: maybe('Why it does not count, for people'),
    }),
  ),
})

type ListedEndpoint = Endpoint &
  Pick<Attempt, 'status' | 'failure'> & {
    readonly tenantKind: 'merchant' | 'partner'
    readonly tenantName: string
    readonly waiting: number
    /** Of the last attempt. */
    readonly startedAt: Date | null
  }

const COLUMNS = `${webhookEndpoints.columns}, t.kind as "tenantKind", coalesce(m.name, p.name) as "tenantName", w.waiting,
  a.started_at as "startedAt", a.status, a.failure`
/** Two short lookups a row, for the rows that are shown. */
const JOINS = `join tenants t on t.tenant_id = e.tenant_id
  left join merchants m on m.merchant_id = e.tenant_id left join partners p on p.partner_id = e.tenant_id
  cross join lateral (
    select count(*)::integer as waiting
    from (select from webhook_deliveries d
      where d.tenant_id = e.tenant_id and d.endpoint_id = e.endpoint_id limit ${COUNTED_MAX + 1}) d) w
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
const SECRETS = statement<WebhookSecret>(
  'console_webhook_secrets',
  `select ${webhookSecrets.columns} from webhook_secrets s
   where s.tenant_id = $1 and s.endpoint_id = $2 and (s.expires_at is null or s.expires_at > $3)
   order by s.created_at desc, s.secret_id desc`,
)
const EVENT = statement<NumberedEvent>(
  'console_webhook_event',
  `select ${NUMBERED_COLUMNS} from ${EVENTS_WITH_NUMBERS} where o.tenant_id = $1 and o.event_id = $2`,
)

const rowOf = (row: ListedEndpoint, timeZone: string) => ({
  endpoint: endpointToWire(row, timeZone),
  tenantId: row.tenantId,
  tenantKind: row.tenantKind,
  tenantName: row.tenantName,
  waiting: { count: Math.min(row.waiting, COUNTED_MAX), exact: row.waiting <= COUNTED_MAX },
  lastAttempt: row.startedAt
    ? {
        startedOn: rfc3339(row.startedAt, timeZone),
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
  id: 'console.listWebhooks',
  method: 'GET',
  path: PATH,
  tag: TAG,
  summary: 'List webhook endpoints of all tenants',
  permission: 'view',
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
      const page = await database.report((tx) =>
        readList(tx, plan, query, (row: ListedEndpoint) => rowOf(row, timeZone)),
      )
      return { body: JSON.stringify(page) }
    }
  },
})

export const showWebhook = query({
  ...consoleOperation,
  id: 'console.showWebhook',
  method: 'GET',
  path: `${PATH}/:endpointId`,
  tag: TAG,
  summary: 'Show webhook endpoint with its live secrets, without their values',
  permission: 'view',
  params,
  result: record('WebhookDetail', {
    row: WebhookRow,
    secrets: Type.Array(record('WebhookSecret', { createdOn: instant, expiresOn: maybeInstant }), {
      description: 'Those that sign, newest first; a previous one has an end',
    }),
  }),
  errors: ['webhook_endpoint_not_found'],
  mount({ clock, config: { BUSINESS_TIME_ZONE: timeZone }, database }) {
    return async ({ params: { endpointId } }) => {
      const { row, secrets } = await database.operate(async (tx) => {
        const [row] = await tx.query(FIND, [endpointId])
        if (!row) return fail('webhook_endpoint_not_found')
        const live = [row.tenantId, endpointId, new Date(clock.now())]
        return { row, secrets: await tx.query(SECRETS, live) }
      })
      return {
        body: JSON.stringify({
          row: rowOf(row, timeZone),
          secrets: secrets.map(({ createdAt, expiresAt }) => ({
            createdOn: rfc3339(createdAt, timeZone),
            expiresOn: expiresAt ? rfc3339(expiresAt, timeZone) : undefined,
          })),
        }),
      }
    }
  },
})

export const listWebhookAttemptsInConsole = query({
  ...consoleOperation,
  id: 'console.listWebhookAttempts',
  method: 'GET',
  path: `${PATH}/:endpointId/attempts`,
  tag: TAG,
  summary: 'List delivery attempts of a webhook endpoint',
  description: 'Excerpts of responses are masked until the endpoint’s personal data is revealed.',
  permission: 'view',
  params,
  query: listQuery(['-started'], {
    eventId: exact('Only attempts with this event'),
    outcome: oneOf(['failure'], 'Only attempts that the endpoint did not take'),
  }),
  result: listOf(AttemptResponse),
  errors: ['webhook_endpoint_not_found'],
  mount(services) {
    const { config, database } = services
    const timeZone = config.BUSINESS_TIME_ZONE
    return async (input) => {
      const { params, query } = input
      const { endpointId } = params
      const isShown = await isRevealed(services, input)
      const toRecord = (row: Attempt) => {
        const attempt = attemptToWire(row, timeZone)
        const { responseExcerpt } = attempt
        // Endpoints may return what they were sent.
        return !isShown && responseExcerpt !== ''
          ? {
              ...attempt,
              responseExcerpt: redact(AttemptResponse.properties.responseExcerpt, responseExcerpt),
            }
          : attempt
      }
      const page = await database.report(async (tx) => {
        const filters = new Filters()
          .add('a.tenant_id = ?', await tenantOfEndpoint(tx, endpointId))
          .add('a.endpoint_id = ?', endpointId)
          .add('a.event_id = ?', query.eventId)
        if (query.outcome !== undefined)
          filters.conditions.push('(a.status is null or a.status not between 200 and 299)')
        const plan: ListPlan = {
          columns: webhookAttempts.columns,
          table: 'webhook_attempts a',
          alias: 'a',
          filters,
          keys: [
            { sql: 'a.started_at', type: 'timestamptz' },
            { sql: 'a.attempt_id', type: 'text' },
          ],
          descending: true,
        }
        return readList(tx, plan, query, toRecord)
      })
      return { body: JSON.stringify(page) }
    }
  },
})

export const showWebhookEvent = query({
  ...consoleOperation,
  id: 'console.showWebhookEvent',
  method: 'GET',
  path: `${PATH}/:endpointId/events/:eventId`,
  tag: TAG,
  summary: 'Show an event as it is sent to a webhook endpoint',
  description:
    'Personal data is masked, as in the request log, until that of the endpoint is revealed (decision O4).',
  permission: 'view',
  params: Type.Object({
    endpointId: Type.String({ maxLength: 128 }),
    eventId: Type.String({ maxLength: 128 }),
  }),
  result: EventResponse,
  errors: ['webhook_endpoint_not_found', 'event_not_found'],
  mount(services) {
    const { config, database } = services
    return async (input) => {
      const { endpointId, eventId } = input.params
      const [row] = await database.operate(async (tx) =>
        tx.query(EVENT, [await tenantOfEndpoint(tx, endpointId), eventId]),
      )
      const event = eventToWire(row ?? fail('event_not_found'), config.BUSINESS_TIME_ZONE)
      const isShown = await isRevealed(services, input)
      const data = isShown ? event.data : redact(EVENT_RECORDS[event.type], event.data)
      return { body: JSON.stringify({ ...event, data }) }
    }
  },
})
