import type { EventType } from '@svc/contract/events'
import { ByTenant } from '@svc/kernel/by-tenant'
import type { Secret } from '@svc/kernel/secret'
import { command } from '@svc/platform/command'
import type { Writes } from '@svc/platform/db/database'
import { type Endpoint, encryptHeaders, type Headers, urlRule } from './endpoint.ts'
import { checkedHeaders } from './endpoint-headers.ts'
import {
  type Expiries,
  newSecret,
  saveSecret,
  secretExpiries,
  type Tools,
  withNewSecret,
} from './endpoint-secrets.ts'
import {
  changedEndpoint,
  deleteEndpointRow,
  type EndpointKey,
  type Endpoints,
  endpointOf,
  lockEndpoints,
  saveEndpoint,
} from './endpoint-store.ts'
import { endpointUrl } from './endpoint-url.ts'

const GRACE_SECONDS = 86_400
export const GRACE_SECONDS_MAX = 30 * 86_400

/** Enabling or disabling an endpoint clears why the service had disabled it. */
const withEnabled = (enabled: boolean | undefined): Partial<Endpoint> =>
  enabled === undefined ? {} : { enabled, disabledReason: null }

interface UpdateEndpoint extends EndpointKey {
  /** What is absent stays as it is. */
  readonly changes: {
    readonly url?: string
    readonly description?: string
    readonly types?: readonly EventType[]
    readonly enabled?: boolean
    readonly headers?: Headers
  }
}

interface Update extends EndpointKey {
  readonly changes: Partial<Endpoint>
}

/** Changes the given fields of an endpoint, and no others. */
export const updateEndpoint = command({
  name: 'updateWebhookEndpoint',
  byServiceTime: true,

  prepare({ config, keyring }) {
    const rule = urlRule(config)
    return ({ tenantId, endpointId, changes: wanted }: UpdateEndpoint): Update => {
      const { url, description, types, enabled } = wanted
      const headers = wanted.headers && checkedHeaders(wanted.headers)
      const changes: Partial<Endpoint> = {
        ...(url !== undefined && { url: endpointUrl(url, rule) }),
        ...(description !== undefined && { description }),
        ...(types && { types }),
        ...(headers && {
          headerNames: Object.keys(headers),
          headersEncrypted: encryptHeaders(keyring, endpointId, headers),
        }),
        ...withEnabled(enabled),
      }
      return { tenantId, endpointId, changes }
    }
  },

  lock: lockEndpoints,
  decide: (endpoints, update: Update, now) =>
    changedEndpoint(endpointOf(endpoints, update), update.changes, now),
  apply: (endpoints, endpoint) => void endpoints.set(endpoint.endpointId, endpoint),
  // One by one: the audit has an entry for each change of an endpoint.
  save(tx, decisions) {
    for (const endpoint of decisions) saveEndpoint(tx, endpoint)
  },
})

/** Deletes an endpoint with its secrets, its attempts and its pending deliveries. */
export const deleteEndpoint = command({
  name: 'deleteWebhookEndpoint',

  prepare:
    () =>
    ({ tenantId, endpointId }: EndpointKey) => ({ tenantId, endpointId }),
  lock: lockEndpoints,
  decide: endpointOf,
  apply: (endpoints, { endpointId }) => void endpoints.delete(endpointId),
  save(tx, decisions) {
    for (const endpoint of decisions) deleteEndpointRow(tx, endpoint)
  },
})

interface RotateSecret extends EndpointKey {
  readonly graceSeconds?: number | undefined
}

interface Rotate extends EndpointKey {
  readonly graceSeconds: number
  readonly timeZone: string
  readonly secret: Secret
  readonly tools: Tools
}

interface Rotated {
  readonly endpoint: Endpoint
  readonly rotate: Rotate
  readonly now: Date
  readonly previousUntil: Date
  /** Of its secrets, with the new one. */
  readonly expiries: readonly number[]
}

/** What a rotation changes, of one tenant. */
interface Rotating {
  readonly endpoints: Endpoints
  readonly expiries: Expiries
}

/**
 * Adds a signing secret; the previous ones sign beside it for the grace period. Fails with `too_many_webhook_secrets`
 * while five of them are in use.
 */
export const rotateSecret = command({
  name: 'rotateWebhookSecret',
  byServiceTime: true,

  prepare:
    ({ config, keyring, random }) =>
    ({ tenantId, endpointId, graceSeconds = GRACE_SECONDS }: RotateSecret): Rotate => ({
      tenantId,
      endpointId,
      graceSeconds,
      timeZone: config.BUSINESS_TIME_ZONE,
      secret: newSecret(random),
      tools: { keyring, random },
    }),
  async lock(tx, rotations): Promise<ByTenant<Rotating>> {
    const endpoints = await lockEndpoints(tx, rotations)
    const expiries = await secretExpiries(tx, rotations)
    return new ByTenant((id) => ({ endpoints: endpoints.of(id), expiries: expiries.of(id) }))
  },
  decide({ endpoints, expiries }, rotate: Rotate, now): Rotated {
    const endpoint = changedEndpoint(endpointOf(endpoints, rotate), {}, now)
    const turn = { now, previousUntil: new Date(now.getTime() + rotate.graceSeconds * 1_000) }
    const previous = expiries.get(endpoint.endpointId) ?? []
    return { endpoint, rotate, ...turn, expiries: withNewSecret(previous, turn, rotate.timeZone) }
  },
  apply({ endpoints, expiries }, { endpoint, expiries: own }) {
    endpoints.set(endpoint.endpointId, endpoint)
    expiries.set(endpoint.endpointId, own)
  },
  save(tx, decisions) {
    for (const decision of decisions) saveRotated(tx, decision)
  },
})

/** The previous secrets go on signing beside the new one for the time of grace. */
function saveRotated(tx: Writes, { endpoint, rotate, now, previousUntil }: Rotated): void {
  const { tools, secret } = rotate
  saveEndpoint(tx, endpoint)
  saveSecret(tx, tools, endpoint, secret, { now, previousUntil })
}
