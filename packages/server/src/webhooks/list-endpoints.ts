import { fail } from '@svc/contract/errors'
import type { Attempt } from '@svc/core/webhooks/attempt'
import {
  type Endpoint,
  EndpointParams,
  EndpointResponse,
  endpointToWire,
  webhookEndpoints,
} from '@svc/core/webhooks/endpoint'
import { rfc3339 } from '@svc/kernel/time'
import { Type } from 'typebox'
import { begins, type Filters } from '../http/list.ts'
import { choiceFilter, exactFilter, idFilter, listOf, type Resource, showOf } from '../http/resource.ts'
import { isTaken, ofWebhooks } from './list-attempts.ts'

const ENDPOINTS = '/api/v0/webhook-endpoints'
/** Of deliveries that wait; an endpoint that was away for days has millions. */
const COUNTED_MAX = 1_000

/** An endpoint, and for operators whose it is and how it fares. */
export type ListedEndpoint = Endpoint &
  Pick<Attempt, 'status' | 'failure'> & {
    readonly tenantKind: 'merchant' | 'partner'
    readonly tenantName: string
    readonly waiting: number
    /** Of the last attempt. */
    readonly startedAt: Date | null
  }

const URL_BEGIN = `left(lower(e.url), 255) collate "C"`

/** People type hosts without a scheme. */
function addUrl(filters: Filters, begin: string): void {
  const begun = [begin, `https://${begin}`, `http://${begin}`].map(
    (url) => `${URL_BEGIN} like lower(${filters.param(begins(url))})`,
  )
  filters.conditions.push(`(${begun.join(' or ')})`)
}

const closed = <P extends Parameters<typeof Type.Object>[0]>(title: string, fields: P) =>
  Type.Object(fields, { title, additionalProperties: false })

const Waiting = closed('WaitingDeliveries', {
  count: Type.Integer({ description: `Events still to be delivered; counted up to ${COUNTED_MAX}` }),
  exact: Type.Boolean({ description: 'False: there are more' }),
})
const LastAttempt = closed('LastWebhookAttempt', {
  startedOn: Type.String({ description: 'RFC 3339 with milliseconds and zone offset' }),
  delivered: Type.Boolean({ description: 'Whether the endpoint took it: status 200 to 299' }),
  status: Type.Optional(Type.Integer({ description: 'Status of the response, if there was one' })),
  failure: Type.Optional(Type.String({ description: 'Why it does not count, for people' })),
})

/** Webhook endpoints, as every reader sees and finds them. */
export const webhookEndpoint = {
  titles: { tenant: 'WebhookEndpoint', operator: 'WebhookRow' },
  record: { schema: EndpointResponse, toWire: endpointToWire },
  from: { columns: webhookEndpoints.columns, table: 'webhook_endpoints e', alias: 'e' },
  operatorFrom: {
    columns: `t.kind as "tenantKind", coalesce(m.name, p.name) as "tenantName", w.waiting,
      a.started_at as "startedAt", a.status, a.failure`,
    // Two short lookups a row, for the rows that are shown.
    joins: `join tenants t on t.tenant_id = e.tenant_id
      left join merchants m on m.merchant_id = e.tenant_id left join partners p on p.partner_id = e.tenant_id
      cross join lateral (
        select count(*)::integer as waiting
        from (select from webhook_deliveries d
          where d.tenant_id = e.tenant_id and d.endpoint_id = e.endpoint_id limit ${COUNTED_MAX + 1}) d) w
      left join lateral (
        select a.started_at, a.status, a.failure from webhook_attempts a
        where a.tenant_id = e.tenant_id and a.endpoint_id = e.endpoint_id
        order by a.started_at desc, a.attempt_id desc limit 1) a on true`,
  },
  tenant: 'e.tenant_id',
  keys: [{ sql: 'e.endpoint_id', type: 'text' }],
  fields: {
    tenantId: { schema: Type.String(), of: ({ tenantId }) => tenantId, operatorOnly: true },
    tenantKind: {
      schema: Type.Enum(['merchant', 'partner']),
      of: ({ tenantKind }) => tenantKind,
      operatorOnly: true,
    },
    tenantName: { schema: Type.String(), of: ({ tenantName }) => tenantName, operatorOnly: true },
    waiting: {
      schema: Waiting,
      of: ({ waiting }) => ({ count: Math.min(waiting, COUNTED_MAX), exact: waiting <= COUNTED_MAX }),
      operatorOnly: true,
    },
    lastAttempt: {
      schema: Type.Optional(LastAttempt),
      of: ({ failure, startedAt, status }, timeZone) =>
        startedAt && {
          startedOn: rfc3339(startedAt, timeZone),
          delivered: isTaken(status),
          status: status ?? undefined,
          failure: failure ?? undefined,
        },
      operatorOnly: true,
    },
  },
  filters: {
    q: {
      schema: exactFilter('Id of the endpoint, or the begin of its URL', 255),
      sql: (filters, q) => (q.startsWith('whe_') ? filters.add('e.endpoint_id = ?', q) : addUrl(filters, q)),
      operatorOnly: true,
    },
    tenantId: { schema: idFilter('Of this merchant or partner'), sql: 'e.tenant_id = ?', operatorOnly: true },
    state: {
      schema: choiceFilter(['enabled', 'disabled']),
      sql: (filters, state) => filters.add('e.enabled = ?', state === 'enabled'),
    },
  },
} satisfies Resource<ListedEndpoint>

export const listEndpoints = listOf<ListedEndpoint>(webhookEndpoint, {
  ...ofWebhooks('webhooks:read'),
  id: 'listWebhookEndpoints',
  path: ENDPOINTS,
  summary: 'List webhook endpoints',
  description: 'Newest first; a tenant may have twenty.',
})

export const getEndpoint = showOf<ListedEndpoint>(webhookEndpoint, {
  ...ofWebhooks('webhooks:read'),
  id: 'getWebhookEndpoint',
  path: `${ENDPOINTS}/:endpointId`,
  summary: 'Get a webhook endpoint',
  params: EndpointParams,
  errors: ['webhook_endpoint_not_found'],
  notFound: () => fail('webhook_endpoint_not_found'),
})
