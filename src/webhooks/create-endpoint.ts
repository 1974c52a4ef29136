import { Type } from 'typebox'
import { fail } from '../errors.ts'
import type { EventType } from '../events.ts'
import { newId } from '../kernel/ids.ts'
import type { Secret } from '../kernel/secret.ts'
import type { Tx, Writes } from '../platform/db/database.ts'
import { statement } from '../platform/db/statement.ts'
import { command, ok } from '../platform/http/operation.ts'
import {
  type Endpoint,
  EndpointWithSecret,
  endpointToWire,
  type Headers,
  sealHeaders,
  urlRule,
} from './endpoint.ts'
import { checkedHeaders, ENDPOINT_FIELDS } from './endpoint-request.ts'
import { newSecret, saveSecret, type Tools } from './endpoint-secrets.ts'
import { endpointUrl } from './endpoint-url.ts'

export const ENDPOINTS_MAX = 20

const { url, description, types, enabled, headers } = ENDPOINT_FIELDS
const CreateRequest = Type.Object(
  {
    url,
    description: Type.Optional(description),
    types: Type.Optional(types),
    enabled: Type.Optional(enabled),
    headers: Type.Optional(headers),
  },
  { additionalProperties: false },
)

export interface NewEndpoint {
  readonly tenantId: string
  readonly url: string
  readonly description?: string | undefined
  readonly types?: readonly EventType[] | undefined
  readonly enabled?: boolean | undefined
  readonly headers?: Headers | undefined
}

interface CreateEndpoint extends NewEndpoint {
  readonly endpointId: string
  readonly headers: Headers
  readonly secret: Secret
  readonly tools: Tools
  readonly timeZone: string
}

interface Created {
  readonly endpoint: Endpoint
  readonly command: CreateEndpoint
}

const COUNT = statement<{ tenant_id: string; endpoints: number }>(
  'webhook_endpoints_count',
  `select tenant_id, count(*)::integer as endpoints from webhook_endpoints where tenant_id = any ($1) group by tenant_id`,
)
// Two creates of one tenant at once, of different processes, must not pass the limit together.
const LOCK = statement(
  'webhook_endpoints_lock',
  `select pg_advisory_xact_lock(hashtextextended('svc webhook endpoints ' || t, 0)) from unnest($1::text[]) t order by t`,
)
const INSERT = statement(
  'webhook_endpoint_insert',
  `insert into webhook_endpoints
     (endpoint_id, tenant_id, url, description, types, enabled, header_names, headers_sealed, created_at, modified_at)
   values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $9)`,
)

/** Registers where a tenant wants its events sent to; answers the signing secret, once. */
export const createEndpoint = command({
  id: 'createWebhookEndpoint',
  method: 'POST',
  path: '/api/v0/webhook-endpoints',
  tag: 'Webhooks',
  summary: 'Create a webhook endpoint',
  description:
    'From now on every event of the chosen types is sent to the URL, signed as Standard Webhooks 1.0 says. The answer holds the signing secret, which is never shown again.',
  auth: 'tenant',
  family: 'response_code',
  body: CreateRequest,
  result: EndpointWithSecret,
  errors: ['webhook_url_refused', 'too_many_webhook_endpoints'],

  prepare({ clock, config, keyring, random }) {
    const rule = urlRule(config)
    return ({ caller, body }): CreateEndpoint => ({
      ...body,
      tenantId: caller.tenantId,
      endpointId: newId('whe', clock.now(), random),
      url: endpointUrl(body.url, rule),
      headers: checkedHeaders(body.headers ?? {}),
      secret: newSecret(random),
      tools: { keyring, random },
      timeZone: config.BUSINESS_TIME_ZONE,
    })
  },

  async lock(tx, creates) {
    const tenants = [...new Set(creates.map(({ tenantId }) => tenantId))].sort()
    await tx.query(LOCK, [tenants])
    const rows = await tx.query(COUNT, [tenants])
    return new Map(rows.map((row) => [row.tenant_id, row.endpoints]))
  },

  decide(counts, create, now): Created {
    if ((counts.get(create.tenantId) ?? 0) >= ENDPOINTS_MAX) fail('too_many_webhook_endpoints')
    return { endpoint: newEndpoint(create, now), command: create }
  },

  apply: (counts, { endpoint: { tenantId } }) => void counts.set(tenantId, (counts.get(tenantId) ?? 0) + 1),

  save(tx, decisions) {
    for (const decision of decisions) insertEndpoint(tx, decision)
  },

  answer: ({ endpoint, command: { secret, timeZone } }) =>
    ok({ ...endpointToWire(endpoint, timeZone), secret: secret.reveal() }),
})

function newEndpoint(create: CreateEndpoint, now: Date): Endpoint {
  const { endpointId, tenantId, url, headers, tools, description = '', types = [], enabled = true } = create
  return {
    endpointId,
    tenantId,
    url,
    description,
    types,
    enabled,
    disabledReason: null,
    headerNames: Object.keys(headers),
    headersSealed: sealHeaders(tools.keyring, endpointId, headers),
    createdAt: now,
    modifiedAt: now,
  }
}

function insertEndpoint(tx: Writes, { endpoint, command: { secret, tools } }: Created): void {
  const { endpointId, tenantId, createdAt: now } = endpoint
  tx.write(INSERT, [
    endpointId,
    tenantId,
    endpoint.url,
    endpoint.description,
    endpoint.types,
    endpoint.enabled,
    endpoint.headerNames,
    endpoint.headersSealed,
    now,
  ])
  saveSecret(tx, tools, endpoint, secret, { now, formerUntil: now })
}

/** For the command line, in a transaction of the operator. */
export async function operatorCreatesEndpoint(
  tx: Tx,
  tools: Tools,
  plan: NewEndpoint & { readonly endpointId: string; readonly now: Date },
): Promise<{ endpoint: Endpoint; secret: Secret }> {
  const secret = newSecret(tools.random)
  const headers = checkedHeaders(plan.headers ?? {})
  const command = { ...plan, headers, secret, tools, timeZone: 'UTC' }
  const [count] = await tx.query(COUNT, [[plan.tenantId]])
  if ((count?.endpoints ?? 0) >= ENDPOINTS_MAX) fail('too_many_webhook_endpoints')
  const endpoint = newEndpoint(command, plan.now)
  insertEndpoint(tx, { endpoint, command })
  return { endpoint, secret }
}
