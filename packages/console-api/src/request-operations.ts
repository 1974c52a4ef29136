import { type ErrorCode, FAILURES, fail } from '@svc/contract/errors'
import { PLATFORM_TENANT } from '@svc/core/tenants/tenant'
import { JWE_ERROR_REASONS } from '@svc/jwe/jwe-error'
import { rfc3339 } from '@svc/kernel/time'
import { statement } from '@svc/platform/db/statement'
import { readInstant } from '@svc/server/http/fields'
import { Filters, readList } from '@svc/server/http/list'
import { query } from '@svc/server/http/operation'
import { Type } from 'typebox'
import {
  CONSOLE_API,
  consoleOperation,
  exact,
  idParam,
  instant,
  listOf,
  listQuery,
  maybe,
  oneOf,
  record,
  since,
  text,
} from './console-schema.ts'
import { completeSince } from './request-log-retention.ts'
import { objectKind } from './touched-objects.ts'

const TAG = 'Requests'
const PATH = `${CONSOLE_API}/requests`
const words = Object.keys(FAILURES)

const fields = {
  requestId: text(),
  at: instant,
  operation: text('`none` when none was found'),
  kind: Type.Enum(['command', 'read']),
  method: text(),
  path: text('Without the query string'),
  status: Type.Integer(),
  durationMs: Type.Number(),
  error: Type.Optional(Type.Enum(words)),
  tenantId: maybe('Absent when no caller was authenticated'),
}

interface RequestRow {
  request_id: string
  tenant_id: string
  at: Date
  operation: string
  kind: 'command' | 'read'
  method: string
  path: string
  status: number
  duration_ms: number
  error: ErrorCode | null
}

export interface DetailRow extends RequestRow {
  description: string | null
  address: string
  body_bytes: number
  body: unknown
  jwe: {
    kid?: string
    alg?: string
    enc?: string
    opened: boolean
    failedCheck?: string
    explanation?: string
  } | null
  objects: string[]
  trace_id: string | null
}

const COLUMNS = `r.request_id, r.tenant_id, r.at, r.operation, r.kind, r.method, r.path, r.status, r.duration_ms, r.error`
export const FIND_REQUEST = statement<DetailRow>(
  'console_request',
  `select ${COLUMNS}, r.description, r.address, r.body_bytes, r.body, r.jwe, r.objects, r.trace_id from request_log r
   where r.request_id = $1`,
)

const toWire = (row: RequestRow, timeZone: string) => ({
  requestId: row.request_id,
  at: rfc3339(row.at, timeZone),
  operation: row.operation,
  kind: row.kind,
  method: row.method,
  path: row.path,
  status: row.status,
  durationMs: Math.round(row.duration_ms * 100) / 100,
  error: row.error ?? undefined,
  tenantId: row.tenant_id === PLATFORM_TENANT ? undefined : row.tenant_id,
})

function helpWith(code: ErrorCode) {
  const { description, remedy } = FAILURES[code]
  return { description, remedy, href: `/docs/errors#${code}` }
}

/** Kinds of things that few requests touch, unlike the accounts and companies that are in most. */
const IN_FEW = /^(?:card|qr|usr|ccf)_/
/** The same, and no index has it: all requests about the thing are found first, instead of reading all by time. */
const UNORDERED = `(r.request_id || '')`

export const listRequests = query({
  ...consoleOperation,
  id: 'console.listRequests',
  method: 'GET',
  path: PATH,
  tag: TAG,
  summary: 'List logged requests',
  description:
    'Every failure and every command of the last days, and a sample of the reads. Written in the background: a request shows up within seconds.',
  permission: 'view',
  query: listQuery(['-at'], {
    q: exact('Request id, exactly'),
    outcome: oneOf(['failure', 'success'], 'Only these'),
    error: oneOf(words, 'Failed with this code'),
    operation: exact('Of this operation, by its id'),
    tenantId: exact('Of this merchant or partner'),
    objectId: exact('Touched this card, QR code, payment …', 128),
    from: since('At this instant or later'),
    to: since('Before this instant'),
  }),
  result: listOf(record('LoggedRequest', fields)),
  errors: [],
  mount({ config: { BUSINESS_TIME_ZONE: timeZone }, database }) {
    return async ({ query }) => {
      const { error, from, objectId, operation, outcome, q, tenantId, to } = query
      const filters = new Filters()
        .add('r.request_id = ?', q)
        .add('r.error = ?', error)
        .add('r.operation = ?', operation)
        .add('r.tenant_id = ?', tenantId)
        .created('r.request_id', 'req', readInstant('from', from), readInstant('to', to))
        .add('r.objects @> ?::text[]', objectId === undefined ? undefined : [objectId])
      if (outcome !== undefined)
        filters.conditions.push(`r.error is ${outcome === 'failure' ? 'not ' : ''}null`)
      const plan = {
        columns: COLUMNS,
        table: 'request_log r',
        alias: 'r',
        filters,
        keys: [
          { sql: objectId && IN_FEW.test(objectId) ? UNORDERED : 'r.request_id', type: 'text' } as const,
        ],
        descending: true,
      }
      const page = await database.report((tx) =>
        readList(tx, plan, query, (row: RequestRow) => toWire(row, timeZone)),
      )
      return { body: JSON.stringify(page) }
    }
  },
})

export const showRequestLog = query({
  ...consoleOperation,
  id: 'console.showRequestLog',
  method: 'GET',
  path: `${CONSOLE_API}/request-log`,
  tag: TAG,
  summary: 'Show how far the request log goes back',
  permission: 'view',
  result: record('RequestLog', {
    days: Type.Integer({ description: 'Entries are deleted when they are older: `REQUEST_LOG_DAYS`' }),
    rowsMax: Type.Integer({ description: 'Most entries: `REQUEST_LOG_ROWS_MAX`' }),
    completeSince: Type.Optional(
      text('RFC 3339; present where `rowsMax` deleted entries before `days` were over'),
    ),
  }),
  errors: [],
  mount(services) {
    const { config, database } = services
    const { BUSINESS_TIME_ZONE: timeZone, REQUEST_LOG_DAYS: days, REQUEST_LOG_ROWS_MAX: rowsMax } = config
    return async () => {
      const since = await database.operate((tx) => completeSince(tx, services))
      return { body: JSON.stringify({ days, rowsMax, completeSince: since && rfc3339(since, timeZone) }) }
    }
  },
})

/** A logged request with all that is kept of it. */
export const RequestDetail = record('LoggedRequestDetail', {
  ...fields,
  description: maybe('The description that the caller received, for failures'),
  address: maybe('The caller’s address'),
  bodyBytes: Type.Optional(Type.Integer()),
  body: Type.Optional(
    Type.Unknown({
      description:
        'The body by its schema: only known fields, secrets never, personal data masked, long text cut',
    }),
  ),
  jwe: Type.Optional(
    record('LoggedJwe', {
      kid: maybe(),
      alg: maybe(),
      enc: maybe(),
      opened: Type.Boolean(),
      failedCheck: Type.Optional(Type.Enum(Object.keys(JWE_ERROR_REASONS))),
      explanation: maybe('Which check failed, in words; also in live mode'),
    }),
  ),
  objects: Type.Array(
    record('TouchedObject', {
      kind: Type.Enum([
        'card',
        'qrCode',
        'merchant',
        'partner',
        'company',
        'cardAccount',
        'user',
        'coinConfig',
        'webhookEndpoint',
        'other',
      ]),
      id: text(),
    }),
    { description: 'What it named or made; link them' },
  ),
  traceId: maybe('Of its OpenTelemetry trace; absent while tracing is off'),
  help: Type.Optional(
    record('ErrorHelp', {
      description: text(),
      remedy: text('What the caller does about it'),
      href: text('Of the error reference, such as `/docs/errors#decryption_failed`'),
    }),
  ),
})

export const detailToWire = (row: DetailRow, timeZone: string) => ({
  ...toWire(row, timeZone),
  description: row.description ?? undefined,
  address: row.address || undefined,
  bodyBytes: row.body_bytes,
  body: row.body ?? undefined,
  jwe: row.jwe ?? undefined,
  objects: row.objects.map((id) => ({ kind: objectKind(id), id })),
  traceId: row.trace_id ?? undefined,
  help: row.error && row.error in FAILURES ? helpWith(row.error) : undefined,
})

export const showRequest = query({
  ...consoleOperation,
  id: 'console.showRequest',
  method: 'GET',
  path: `${PATH}/:requestId`,
  tag: TAG,
  summary: 'Show logged request',
  permission: 'view',
  params: idParam('requestId'),
  result: RequestDetail,
  errors: ['request_not_found'],
  mount({ config: { BUSINESS_TIME_ZONE: timeZone }, database }) {
    return async ({ params: { requestId } }) => {
      const [row] = await database.operate((tx) => tx.query(FIND_REQUEST, [requestId]))
      return { body: JSON.stringify(detailToWire(row ?? fail('request_not_found'), timeZone)) }
    }
  },
})
