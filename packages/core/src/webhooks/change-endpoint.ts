import type { EventType } from '@svc/contract/events'
import type { Secret } from '@svc/kernel/secret'
import { command } from '@svc/platform/command'
import type { Writes } from '@svc/platform/db/database'
import { type Endpoint, encryptHeaders, type Headers, urlRule } from './endpoint.ts'
import { checkedHeaders } from './endpoint-headers.ts'
import { newSecret, saveSecret, type Tools } from './endpoint-secrets.ts'
import {
  changedEndpoint,
  deleteEndpointRow,
  type EndpointKey,
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
  readonly secret: Secret
  readonly tools: Tools
}

interface Rotated {
  readonly endpoint: Endpoint
  readonly rotate: Rotate
  readonly now: Date
}

/** Adds a signing secret; the previous ones sign beside it for the grace period. */
export const rotateSecret = command({
  name: 'rotateWebhookSecret',

  prepare:
    ({ keyring, random }) =>
    ({ tenantId, endpointId, graceSeconds = GRACE_SECONDS }: RotateSecret): Rotate => ({
      tenantId,
      endpointId,
      graceSeconds,
      secret: newSecret(random),
      tools: { keyring, random },
    }),
  lock: lockEndpoints,
  decide: (endpoints, rotate: Rotate, now): Rotated => ({
    endpoint: changedEndpoint(endpointOf(endpoints, rotate), {}, now),
    rotate,
    now,
  }),
  apply: (endpoints, { endpoint }) => void endpoints.set(endpoint.endpointId, endpoint),
  save(tx, decisions) {
    for (const decision of decisions) saveRotated(tx, decision)
  },
})

/** The previous secrets go on signing beside the new one for the time of grace. */
function saveRotated(tx: Writes, { endpoint, rotate, now }: Rotated): void {
  const { tools, secret, graceSeconds } = rotate
  saveEndpoint(tx, endpoint)
  saveSecret(tx, tools, endpoint, secret, {
    now,
    formerUntil: new Date(now.getTime() + graceSeconds * 1_000),
  })
}
