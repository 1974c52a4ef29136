import { type ErrorCode, FAILURES, fail } from '@svc/contract/errors'
import { JWE_ERROR_REASONS } from '@svc/jwe/jwe-error'
import { rfc3339 } from '@svc/kernel/time'
import { query } from '@svc/server/http/operation'
import { listOf, type Resource, showOf } from '@svc/server/http/resource'
import { type LoggedRequest, loggedRequest } from '@svc/server/requests/list-requests'
import { Type } from 'typebox'
import { CONSOLE_API, consoleOperation, idParam, maybe, record, text } from '../console-schema.ts'
import { completeSince } from '../records/request-log-retention.ts'
import { objectKind } from '../records/touched-objects.ts'

const TAG = 'Requests'
const PATH = `${CONSOLE_API}/requests`

export interface DetailRow extends LoggedRequest {
  readonly address: string
  readonly bodyBytes: number
  readonly body: unknown
  readonly jwe: {
    readonly kid?: string
    readonly alg?: string
    readonly enc?: string
    readonly opened: boolean
    readonly failedCheck?: string
    readonly explanation?: string
  } | null
  readonly objects: readonly string[]
  readonly traceId: string | null
}

function helpWith(code: ErrorCode) {
  const { description, remedy } = FAILURES[code]
  return { description, remedy, href: `/docs/errors#${code}` }
}

/** A logged request with what people look into it for. */
export const requestDetail = {
  ...loggedRequest,
  titles: { operator: 'LoggedRequestDetail' },
  from: {
    ...loggedRequest.from,
    columns: `${loggedRequest.from.columns}, r.address, r.body_bytes as "bodyBytes", r.body, r.jwe, r.objects, r.trace_id as "traceId"`,
  },
  fields: {
    ...loggedRequest.fields,
    address: { schema: maybe('The caller’s address'), of: ({ address }) => address || undefined },
    bodyBytes: { schema: Type.Optional(Type.Integer()), of: ({ bodyBytes }) => bodyBytes },
    body: {
      schema: Type.Optional(
        Type.Unknown({
          description:
            'The body by its schema: only known fields, secrets never, personal data masked, long text cut',
        }),
      ),
      of: ({ body }) => body,
    },
    jwe: {
      schema: Type.Optional(
        record('LoggedJwe', {
          kid: maybe(),
          alg: maybe(),
          enc: maybe(),
          opened: Type.Boolean(),
          failedCheck: Type.Optional(Type.Enum(Object.keys(JWE_ERROR_REASONS))),
          explanation: maybe('Which check failed, in words; also in live mode'),
        }),
      ),
      of: ({ jwe }) => jwe,
    },
    objects: {
      schema: Type.Array(
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
      of: ({ objects }) => objects.map((id) => ({ kind: objectKind(id), id })),
    },
    traceId: {
      schema: maybe('Of its OpenTelemetry trace; absent while tracing is off'),
      of: ({ traceId }) => traceId,
    },
    help: {
      schema: Type.Optional(
        record('ErrorHelp', {
          description: text(),
          remedy: text('What the caller does about it'),
          href: text('Of the error reference, such as `/docs/errors#decryption_failed`'),
        }),
      ),
      of: ({ error }) => (error && error in FAILURES ? helpWith(error) : undefined),
    },
  },
} satisfies Resource<DetailRow>

export const listRequests = listOf<LoggedRequest>(loggedRequest, {
  ...consoleOperation,
  id: 'console.listRequests',
  path: PATH,
  tag: TAG,
  summary: 'List logged requests',
  description:
    'Every failure and every command of the last days, and a sample of the reads. Written in the background: a request shows up within seconds.',
  permission: 'view',
})

export const showRequest = showOf<DetailRow>(requestDetail, {
  ...consoleOperation,
  id: 'console.showRequest',
  path: `${PATH}/:requestId`,
  tag: TAG,
  summary: 'Show logged request',
  permission: 'view',
  params: idParam('requestId'),
  errors: ['request_not_found'],
  notFound: () => fail('request_not_found'),
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
