import { Type } from 'typebox'
import { fail } from '../errors.ts'
import type { Tx } from '../platform/db/database.ts'
import { statement } from '../platform/db/statement.ts'
import { query, type Services, succeed } from '../platform/http/operation.ts'
import {
  ENDPOINT_COLUMNS,
  type Endpoint,
  EndpointParams,
  EndpointResponse,
  type EndpointRow,
  EndpointWithSecret,
  endpointToWire,
  sealHeaders,
  toEndpoint,
  urlRule,
} from './endpoint.ts'
import { checkedHeaders, ENDPOINT_FIELDS } from './endpoint-request.ts'
import { newSecret, saveSecret } from './endpoint-secrets.ts'
import { endpointUrl } from './endpoint-url.ts'

const GRACE_SECONDS = 86_400
const GRACE_SECONDS_MAX = 30 * 86_400

// `null` keeps what is there. Whoever enables an endpoint anew clears why it was switched off.
const UPDATE = statement<EndpointRow>(
  'webhook_endpoint_update',
  `update webhook_endpoints e set url = coalesce($3, e.url), description = coalesce($4, e.description),
     types = coalesce($5, e.types), enabled = coalesce($6, e.enabled),
     disabled_reason = case when $6::boolean is null then e.disabled_reason end,
     header_names = coalesce($7, e.header_names),
     headers_sealed = case when $7::text[] is null then e.headers_sealed else $8 end,
     modified_at = greatest($9, e.modified_at + interval '1 millisecond')
   where e.tenant_id = $1 and e.endpoint_id = $2 returning ${ENDPOINT_COLUMNS}`,
)
const TOUCH = statement<EndpointRow>(
  'webhook_endpoint_touch',
  `update webhook_endpoints e set modified_at = greatest($3, e.modified_at + interval '1 millisecond')
   where e.tenant_id = $1 and e.endpoint_id = $2 returning ${ENDPOINT_COLUMNS}`,
)
const DELETE = statement<{ endpoint_id: string }>(
  'webhook_endpoint_delete',
  'delete from webhook_endpoints where tenant_id = $1 and endpoint_id = $2 returning endpoint_id',
)

export async function setEndpointEnabled(
  tx: Tx,
  tenantId: string,
  endpointId: string,
  enabled: boolean,
  now: Date,
) {
  const [row] = await tx.query(UPDATE, [tenantId, endpointId, null, null, null, enabled, null, null, now])
  return row && toEndpoint(row)
}

export const removeEndpoint = async (tx: Tx, tenantId: string, endpointId: string): Promise<boolean> =>
  (await tx.query(DELETE, [tenantId, endpointId])).length > 0

/** A new signing secret; the former ones go on signing beside it for the time of grace. */
export async function rotateEndpointSecret(
  tx: Tx,
  tools: Pick<Services, 'keyring' | 'random'>,
  { tenantId, endpointId }: Pick<Endpoint, 'tenantId' | 'endpointId'>,
  now: Date,
  graceSeconds = GRACE_SECONDS,
) {
  const [row] = await tx.query(TOUCH, [tenantId, endpointId, now])
  if (!row) return undefined
  const endpoint = toEndpoint(row)
  const secret = newSecret(tools.random)
  await saveSecret(tx, tools, endpoint, secret, {
    now,
    formerUntil: new Date(now.getTime() + graceSeconds * 1_000),
  })
  return { endpoint, secret }
}

/** Changes the fields that are sent, and no others. */
export const updateEndpoint = query({
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

  mount({ clock, config, database, keyring }) {
    const rule = urlRule(config)
    return async ({ caller: { tenantId }, params: { endpointId }, body }) => {
      const url = body.url === undefined ? null : endpointUrl(body.url, rule)
      const headers = body.headers && checkedHeaders(body.headers)
      const sealed = headers ? sealHeaders(keyring, endpointId, headers) : null
      const { description, types, enabled } = body
      const changes = [url, description, types, enabled, headers && Object.keys(headers), sealed]
      const [row] = await database.write([tenantId], (tx) =>
        tx.query(UPDATE, [tenantId, endpointId, ...changes, new Date(clock.now())]),
      )
      if (!row) return fail('webhook_endpoint_not_found')
      return { body: succeed(endpointToWire(toEndpoint(row), config.BUSINESS_TIME_ZONE)) }
    }
  },
})

/** Deletes an endpoint with its secrets, its attempts and what was still to be sent. */
export const deleteEndpoint = query({
  id: 'deleteWebhookEndpoint',
  method: 'DELETE',
  path: '/api/v0/webhook-endpoints/:endpointId',
  tag: 'Webhooks',
  summary: 'Delete a webhook endpoint',
  auth: 'tenant',
  family: 'response_code',
  params: EndpointParams,
  result: Type.Object({ endpointId: Type.String() }, { additionalProperties: false }),
  errors: ['webhook_endpoint_not_found'],

  mount({ database }) {
    return async ({ caller: { tenantId }, params: { endpointId } }) => {
      const deleted = await database.write([tenantId], (tx) => removeEndpoint(tx, tenantId, endpointId))
      return deleted ? { body: succeed({ endpointId }) } : fail('webhook_endpoint_not_found')
    }
  },
})

export const rotateSecret = query({
  id: 'rotateWebhookSecret',
  method: 'POST',
  path: '/api/v0/webhook-endpoints/:endpointId/rotate-secret',
  tag: 'Webhooks',
  summary: 'Rotate the signing secret',
  description:
    'Answers a new secret, once. Until the time of grace ends every delivery carries a signature with each of the live secrets, so that your receivers can change over one by one. A repeat makes yet another secret and takes none of the former away before its time.',
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

  mount({ clock, config, database, keyring, random }) {
    return async ({ caller: { tenantId }, params: { endpointId }, body: { graceSeconds } }) => {
      const now = new Date(clock.now())
      const rotated = await database.write([tenantId], (tx) =>
        rotateEndpointSecret(tx, { keyring, random }, { tenantId, endpointId }, now, graceSeconds),
      )
      if (!rotated) return fail('webhook_endpoint_not_found')
      const shown = endpointToWire(rotated.endpoint, config.BUSINESS_TIME_ZONE)
      return { body: succeed({ ...shown, secret: rotated.secret.reveal() }) }
    }
  },
})
