import { Type } from 'typebox'
import { EVENT_TYPES, type EventType } from '../events.ts'
import { rfc3339 } from '../kernel/time.ts'
import type { Keyring } from '../platform/crypto/keyring.ts'
import type { Tx } from '../platform/db/database.ts'
import { statement } from '../platform/db/statement.ts'
import type { Services } from '../platform/http/operation.ts'
import type { UrlRule } from './endpoint-url.ts'
import { addressRule, LOOPBACK } from './safe-address.ts'

/** Where a tenant wants its events sent to. */
export interface Endpoint {
  readonly endpointId: string
  readonly tenantId: string
  readonly url: string
  readonly description: string
  /** Empty: all of them. */
  readonly types: readonly EventType[]
  readonly enabled: boolean
  /** `gone`: switched off by the service after status 410. */
  readonly disabledReason: string | null
  /** Names of the headers that the tenant added; their values may be secrets and are not answered. */
  readonly headerNames: readonly string[]
  readonly headersSealed: Buffer | null
  readonly createdAt: Date
  readonly modifiedAt: Date
}

export interface EndpointRow {
  endpoint_id: string
  tenant_id: string
  url: string
  description: string
  types: EventType[]
  enabled: boolean
  disabled_reason: string | null
  header_names: string[]
  headers_sealed: Buffer | null
  created_at: Date
  modified_at: Date
}

export const ENDPOINT_COLUMNS = `e.endpoint_id, e.tenant_id, e.url, e.description, e.types, e.enabled, e.disabled_reason,
  e.header_names, e.headers_sealed, e.created_at, e.modified_at`

export const toEndpoint = (row: EndpointRow): Endpoint => ({
  endpointId: row.endpoint_id,
  tenantId: row.tenant_id,
  url: row.url,
  description: row.description,
  types: row.types,
  enabled: row.enabled,
  disabledReason: row.disabled_reason,
  headerNames: row.header_names,
  headersSealed: row.headers_sealed,
  createdAt: row.created_at,
  modifiedAt: row.modified_at,
})

const FIELDS = {
  endpointId: Type.String(),
  url: Type.String(),
  description: Type.String(),
  types: Type.Array(Type.Enum(EVENT_TYPES), { description: 'What is sent; empty for everything' }),
  enabled: Type.Boolean(),
  disabledReason: Type.Optional(
    Type.String({ description: '`gone`: the service switched it off after status 410' }),
  ),
  headerNames: Type.Array(Type.String(), { description: 'Names of the headers of your own' }),
  createdOn: Type.String({ description: 'RFC 3339 with milliseconds and zone offset' }),
  modifiedOn: Type.String({ description: 'RFC 3339 with milliseconds and zone offset' }),
}

export const EndpointResponse = Type.Object(FIELDS, { title: 'WebhookEndpoint', additionalProperties: false })

export const EndpointWithSecret = Type.Object(
  {
    ...FIELDS,
    secret: Type.String({
      description: '`whsec_…`, with which to verify deliveries. Shown here and never again',
    }),
  },
  { title: 'WebhookEndpointWithSecret', additionalProperties: false },
)

export const EndpointParams = Type.Object({
  endpointId: Type.String({ description: 'The id that the create operation answered' }),
})

export const endpointToWire = (endpoint: Endpoint, timeZone: string) => ({
  endpointId: endpoint.endpointId,
  url: endpoint.url,
  description: endpoint.description,
  types: endpoint.types,
  enabled: endpoint.enabled,
  disabledReason: endpoint.disabledReason ?? undefined,
  headerNames: endpoint.headerNames,
  createdOn: rfc3339(endpoint.createdAt, timeZone),
  modifiedOn: rfc3339(endpoint.modifiedAt, timeZone),
})

/** Where webhooks may go in this mode, with these settings. */
export function urlRule({ SVC_MODE, WEBHOOK_ALLOWED_NETWORKS }: Services['config']): UrlRule {
  const sandbox = SVC_MODE === 'sandbox'
  const allowed = sandbox ? [...LOOPBACK, ...WEBHOOK_ALLOWED_NETWORKS] : WEBHOOK_ALLOWED_NETWORKS
  return { sandbox, mayReach: addressRule(allowed) }
}

const FIND = statement<EndpointRow>(
  'webhook_endpoint_find',
  `select ${ENDPOINT_COLUMNS} from webhook_endpoints e where e.tenant_id = $1 and e.endpoint_id = $2`,
)
const LIST = statement<EndpointRow>(
  'webhook_endpoints_list',
  `select ${ENDPOINT_COLUMNS} from webhook_endpoints e where e.tenant_id = $1 order by e.endpoint_id`,
)

export async function findEndpoint(
  tx: Tx,
  tenantId: string,
  endpointId: string,
): Promise<Endpoint | undefined> {
  const [row] = await tx.query(FIND, [tenantId, endpointId])
  return row && toEndpoint(row)
}

export const listTenantEndpoints = async (tx: Tx, tenantId: string): Promise<Endpoint[]> =>
  (await tx.query(LIST, [tenantId])).map(toEndpoint)

export type Headers = Readonly<Record<string, string>>

export const headersSealedFor = (endpointId: string) => `webhook headers ${endpointId}`

export const sealHeaders = (keyring: Keyring, endpointId: string, headers: Headers): Buffer | null =>
  Object.keys(headers).length === 0
    ? null
    : keyring.seal('webhook_secret', Buffer.from(JSON.stringify(headers)), headersSealedFor(endpointId))

export const openHeaders = (keyring: Keyring, { endpointId, headersSealed }: Endpoint): Headers =>
  headersSealed === null
    ? {}
    : (JSON.parse(
        keyring.open('webhook_secret', headersSealed, headersSealedFor(endpointId)).toString(),
      ) as Headers)
