import { fail } from '@svc/contract/errors'
import type { EventType } from '@svc/contract/events'
import { ByTenant } from '@svc/kernel/by-tenant'
import type { Secret } from '@svc/kernel/secret'
import { command } from '@svc/platform/command'
import type { Writes } from '@svc/platform/db/database'
import { statement } from '@svc/platform/db/statement'
import { type Endpoint, encryptHeaders, type Headers, urlRule, webhookEndpoints } from './endpoint.ts'
import { checkedHeaders } from './endpoint-headers.ts'
import { newSecret, saveSecret, type Tools } from './endpoint-secrets.ts'
import { endpointUrl } from './endpoint-url.ts'

export const ENDPOINTS_MAX = 20

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
/** Registers where a tenant wants its events sent to; the decision has the signing secret. */
export const createEndpoint = command({
  name: 'createWebhookEndpoint',
  byServiceTime: true,

  prepare({ config, keyring, newId, random }) {
    const rule = urlRule(config)
    return (wanted: NewEndpoint): CreateEndpoint => ({
      ...wanted,
      endpointId: newId('whe'),
      url: endpointUrl(wanted.url, rule),
      headers: checkedHeaders(wanted.headers ?? {}),
      secret: newSecret(random),
      tools: { keyring, random },
    })
  },

  async lock(tx, creates) {
    const tenants = [...new Set(creates.map(({ tenantId }) => tenantId))].sort()
    await tx.query(LOCK, [tenants])
    const rows = await tx.query(COUNT, [tenants])
    const state = new ByTenant(() => ({ endpoints: 0 }))
    for (const { tenant_id: tenantId, endpoints } of rows) state.of(tenantId).endpoints = endpoints
    return state
  },

  decide({ endpoints }, create, now): Created {
    if (endpoints >= ENDPOINTS_MAX)
      fail('too_many_webhook_endpoints', {
        description: `The tenant has ${ENDPOINTS_MAX} webhook endpoints, the maximum: delete one first`,
      })
    return { endpoint: newEndpoint(create, now), command: create }
  },

  apply: (state) => void state.endpoints++,

  save(tx, decisions) {
    for (const decision of decisions) insertEndpoint(tx, decision)
  },
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
    headersEncrypted: encryptHeaders(tools.keyring, endpointId, headers),
    createdAt: now,
    modifiedAt: now,
  }
}

function insertEndpoint(tx: Writes, { endpoint, command: { secret, tools } }: Created): void {
  const now = endpoint.createdAt
  webhookEndpoints.insert(tx, [endpoint])
  saveSecret(tx, tools, endpoint, secret, { now, previousUntil: now })
}
