import type { ErrorCode } from '@svc/contract/errors'
import { PLATFORM_TENANT } from '@svc/core/tenants/tenant'
import { rfc3339 } from '@svc/kernel/time'
import { Type } from 'typebox'
import {
  choiceFilter,
  exactFilter,
  listOf,
  type Resource,
  sinceFilter,
  tenantNameOf,
} from '../http/resource.ts'

/** A request, as the request log keeps it (decision O4). */
export interface LoggedRequest {
  readonly requestId: string
  readonly tenantId: string
  readonly tenantName: string | null
  readonly at: Date
  readonly operation: string
  readonly kind: 'command' | 'read'
  readonly method: string
  readonly path: string
  readonly status: number
  readonly durationMs: number
  readonly error: ErrorCode | null
  readonly description: string | null
}

const IN_TIME = { prefix: 'req', id: 'r.request_id', at: 'r.at' } as const

/** Failures have an index of their own: they are few among all requests. */
const FAILED = 'r.error is not null'

/** Kinds of things that few requests touch, unlike the accounts and companies that are in most. */
const IN_FEW = /^(?:card|qr|usr|ccf)_/

/** Logged requests, as every reader sees and finds them. */
export const loggedRequest = {
  titles: { tenant: 'LoggedRequest', operator: 'LoggedRequest' },
  from: {
    columns: `r.request_id as "requestId", r.tenant_id as "tenantId", r.at, r.operation, r.kind, r.method, r.path, r.status,
      r.duration_ms as "durationMs", r.error, r.description`,
    table: 'request_log r',
    alias: 'r',
  },
  operatorFrom: tenantNameOf('r.tenant_id'),
  tenant: 'r.tenant_id',
  // What members do in the portal is among their activity, not among the requests of programs.
  ofTenant: `r.path not like '/portal/%'`,
  keys: [{ sql: 'r.request_id', type: 'text' }],
  fields: {
    requestId: {
      schema: Type.String({ description: 'The `x-request-id` of the response' }),
      of: ({ requestId }) => requestId,
    },
    receivedOn: {
      schema: Type.String({ description: 'RFC 3339' }),
      of: ({ at }, timeZone) => rfc3339(at, timeZone),
    },
    operation: {
      schema: Type.String({ description: 'The `operationId` in the OpenAPI document' }),
      of: ({ operation }) => operation,
    },
    kind: { schema: Type.Enum(['command', 'read']), of: ({ kind }) => kind, operatorOnly: true },
    method: { schema: Type.String(), of: ({ method }) => method },
    path: { schema: Type.String({ description: 'Without the query string' }), of: ({ path }) => path },
    status: { schema: Type.Integer(), of: ({ status }) => status },
    durationMs: {
      schema: Type.Number({ description: 'Until the response was sent, in milliseconds' }),
      of: ({ durationMs }) => Math.round(durationMs * 100) / 100,
    },
    error: {
      schema: Type.Optional(Type.String({ description: 'The error code, of failures' })),
      of: ({ error }) => error,
    },
    description: {
      schema: Type.Optional(
        Type.String({
          description: 'The description of the error, without e-mail addresses and long numbers',
        }),
      ),
      of: ({ description }) => description,
    },
    tenantId: {
      schema: Type.Optional(Type.String({ description: 'Absent when no caller was authenticated' })),
      of: ({ tenantId }) => (tenantId === PLATFORM_TENANT ? undefined : tenantId),
      operatorOnly: true,
    },
    tenantName: {
      schema: Type.Optional(Type.String({ description: 'Of the merchant or the partner' })),
      of: ({ tenantName }) => tenantName,
      operatorOnly: true,
    },
  },
  filters: {
    q: { schema: exactFilter('Request id, exactly'), sql: 'r.request_id = ?', operatorOnly: true },
    status: {
      schema: choiceFilter(['2xx', '4xx', '5xx'], 'Only this class of status'),
      sql(filters, status) {
        const first = Number(status[0]) * 100
        filters.add('r.status between ?::integer and ?::integer + 99', first)
        if (status !== '2xx') filters.conditions.push(FAILED)
      },
    },
    outcome: {
      schema: choiceFilter(['failure', 'success'], 'Only these'),
      sql: (filters, outcome) =>
        void filters.conditions.push(outcome === 'failure' ? FAILED : 'r.error is null'),
    },
    operation: { schema: exactFilter('Of this operation, by its `operationId`'), sql: 'r.operation = ?' },
    error: {
      schema: exactFilter('Failed with this error code'),
      sql: (filters, error) => void filters.add('r.error = ?', error).conditions.push(FAILED),
    },
    tenantId: {
      schema: exactFilter('Of this merchant or partner'),
      sql: 'r.tenant_id = ?',
      operatorOnly: true,
    },
    objectId: {
      schema: exactFilter('Touched this card, QR code, payment …', 128),
      sql(filters, objectId) {
        filters.add('r.objects @> ?::text[]', [objectId])
        // No index has this: all requests about the thing are found first, instead of reading all by time.
        if (IN_FEW.test(objectId)) filters.keys = [{ sql: `(r.request_id || '')`, type: 'text' }]
      },
    },
    from: sinceFilter(IN_TIME, 'from', 'Received at this instant or later'),
    to: sinceFilter(IN_TIME, 'to', 'Received before this instant'),
  },
} satisfies Resource<LoggedRequest>

/** Ours: what a tenant sent, as the request log keeps it (decision O4). */
export const listOwnRequests = listOf<LoggedRequest>(loggedRequest, {
  id: 'listRequests',
  path: '/api/v0/requests',
  tag: 'Requests',
  summary: 'List requests',
  description:
    'Requests of your programs of the last days, newest first: every failure and every write, and a sample of the successful reads. Bodies, header fields and query strings are not shown. The log is written in the background: a request shows up within seconds. Pass `next` back as `after` for the next page.',
  auth: 'tenant',
  scope: 'requests:read',
  envelope: 'response_code',
})
