import { Type } from 'typebox'
import type { Secret } from '../kernel/secret.ts'
import type { Tx, Writes } from '../platform/db/database.ts'
import { command, ok } from '../platform/http/operation.ts'
import {
  type Endpoint,
  EndpointParams,
  EndpointResponse,
  EndpointWithSecret,
  endpointToWire,
  sealHeaders,
  urlRule,
} from './endpoint.ts'
import { checkedHeaders, ENDPOINT_FIELDS } from './endpoint-request.ts'
import { newSecret, saveSecret, type Tools } from './endpoint-secrets.ts'
import {
  changedEndpoint,
  deleteEndpointRow,
  type EndpointKey,
  endpointOf,
  lockEndpoint,
  lockEndpoints,
  saveEndpoint,
} from './endpoint-store.ts'
import { endpointUrl } from './endpoint-url.ts'

const GRACE_SECONDS = 86_400
const GRACE_SECONDS_MAX = 30 * 86_400

/** Whoever switches an endpoint on anew, or off, clears why the service had switched it off. */
const withEnabled = (enabled: boolean | undefined): Partial<Endpoint> =>
  enabled === undefined ? {} : { enabled, disabledReason: null }

interface Update extends EndpointKey {
  readonly changes: Partial<Endpoint>
  readonly timeZone: string
}

/** Changes the fields that are sent, and no others. */
export const updateEndpoint = command({
  id: 'updateWebhookEndpoint',
  method: 'PATCH',
  path: '/api/v0/webhook-endpoints/:endpointId',
  tag: 'Webhooks',
  summary: 'Change a webhook endpoint',
  description:
    'Fields that are left out stay as they are. A disabled endpoint is sent nothing and misses what happens meanwhile: replay it.',
  auth: 'tenant',
  family: 'response_code',
  params: EndpointParams,
  body: Type.Partial(Type.Object(ENDPOINT_FIELDS), { additionalProperties: false }),
  result: EndpointResponse,
  errors: ['webhook_endpoint_not_found', 'webhook_url_refused'],

  prepare({ config, keyring }) {
    const rule = urlRule(config)
    return ({ caller: { tenantId }, params: { endpointId }, body }): Update => {
      const { url, description, types, enabled } = body
      const headers = body.headers && checkedHeaders(body.headers)
      const changes: Partial<Endpoint> = {
        ...(url !== undefined && { url: endpointUrl(url, rule) }),
        ...(description !== undefined && { description }),
        ...(types && { types }),
        ...(headers && {
          headerNames: Object.keys(headers),
          headersSealed: sealHeaders(keyring, endpointId, headers),
        }),
        ...withEnabled(enabled),
      }
      return { tenantId, endpointId, changes, timeZone: config.BUSINESS_TIME_ZONE }
    }
  },

  lock: (tx, updates: readonly Update[]) => lockEndpoints(tx, updates),
  decide: (endpoints, update: Update, now) =>
    changedEndpoint(endpointOf(endpoints, update), update.changes, now),
  apply: (endpoints, endpoint) => void endpoints.set(endpoint.endpointId, endpoint),
  save(tx, decisions) {
    for (const endpoint of decisions) saveEndpoint(tx, endpoint)
  },
  answer: (endpoint, { timeZone }) => ok(endpointToWire(endpoint, timeZone)),
})

/** Deletes an endpoint with its secrets, its attempts and what was still to be sent. */
export const deleteEndpoint = command({
  id: 'deleteWebhookEndpoint',
  method: 'DELETE',
  path: '/api/v0/webhook-endpoints/:endpointId',
  tag: 'Webhooks',
  summary: 'Delete a webhook endpoint',
  description: 'With its secrets, its attempts and what was still to be sent to it.',
  auth: 'tenant',
  family: 'response_code',
  params: EndpointParams,
  result: Type.Object({ endpointId: Type.String() }, { additionalProperties: false }),
  errors: ['webhook_endpoint_not_found'],

  prepare:
    () =>
    ({ caller: { tenantId }, params: { endpointId } }): EndpointKey => ({ tenantId, endpointId }),
  lock: lockEndpoints,
  decide: endpointOf,
  apply: (endpoints, { endpointId }) => void endpoints.delete(endpointId),
  save(tx, decisions) {
    for (const endpoint of decisions) deleteEndpointRow(tx, endpoint)
  },
  answer: ({ endpointId }) => ok({ endpointId }),
})

interface Rotate extends EndpointKey {
  readonly graceSeconds: number
  readonly secret: Secret
  readonly tools: Tools
  readonly timeZone: string
}

interface Rotated {
  readonly endpoint: Endpoint
  readonly rotate: Rotate
  readonly now: Date
}

export const rotateSecret = command({
  id: 'rotateWebhookSecret',
  method: 'POST',
  path: '/api/v0/webhook-endpoints/:endpointId/rotate-secret',
  tag: 'Webhooks',
  summary: 'Rotate the signing secret',
  description:
    'Answers a new secret, once. Until the time of grace ends every delivery carries a signature with each of the live secrets, so that your receivers can change over one by one. A repeat without an `Idempotency-Key` makes yet another secret and takes none of the former away before its time.',
  auth: 'tenant',
  family: 'response_code',
  params: EndpointParams,
  body: Type.Object(
    {
      graceSeconds: Type.Optional(
        Type.Integer({
          minimum: 0,
          maximum: GRACE_SECONDS_MAX,
          description: 'How long the former secrets go on signing; a day by default',
        }),
      ),
    },
    { additionalProperties: false },
  ),
  result: EndpointWithSecret,
  errors: ['webhook_endpoint_not_found'],

  prepare:
    ({ config, keyring, random }) =>
    ({ caller: { tenantId }, params: { endpointId }, body: { graceSeconds = GRACE_SECONDS } }): Rotate => ({
      tenantId,
      endpointId,
      graceSeconds,
      secret: newSecret(random),
      tools: { keyring, random },
      timeZone: config.BUSINESS_TIME_ZONE,
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
  answer: ({ endpoint, rotate: { secret, timeZone } }) =>
    ok({ ...endpointToWire(endpoint, timeZone), secret: secret.reveal() }),
})

/** The former secrets go on signing beside the new one for the time of grace. */
function saveRotated(tx: Writes, { endpoint, rotate, now }: Rotated): void {
  const { tools, secret, graceSeconds } = rotate
  saveEndpoint(tx, endpoint)
  saveSecret(tx, tools, endpoint, secret, {
    now,
    formerUntil: new Date(now.getTime() + graceSeconds * 1_000),
  })
}

/** For the command line, in a transaction of the operator, as the next one. */
export async function operatorRotatesSecret(tx: Tx, tools: Tools, key: EndpointKey, now: Date) {
  const found = await lockEndpoint(tx, key)
  if (!found) return undefined
  const secret = newSecret(tools.random)
  const endpoint = changedEndpoint(found, {}, now)
  const rotate = { ...key, tools, secret, graceSeconds: GRACE_SECONDS, timeZone: 'UTC' }
  saveRotated(tx, { endpoint, rotate, now })
  return { endpoint, secret }
}

/** Answers whether there was one. */
export async function operatorDeletesEndpoint(tx: Tx, key: EndpointKey): Promise<boolean> {
  const found = await lockEndpoint(tx, key)
  if (found) deleteEndpointRow(tx, key)
  return found !== undefined
}

export async function setEndpointEnabled(tx: Tx, key: EndpointKey, enabled: boolean, now: Date) {
  const found = await lockEndpoint(tx, key)
  if (!found) return undefined
  const endpoint = changedEndpoint(found, withEnabled(enabled), now)
  saveEndpoint(tx, endpoint)
  return endpoint
}
