import { EVENT_TYPES, type EventType } from '@svc/contract/events'
import type { Secret } from '@svc/kernel/secret'
import { rfc3339 } from '@svc/kernel/time'
import type { Keyring } from '@svc/platform/crypto/keyring'
import type { Tx } from '@svc/platform/db/database'
import { bytes, flag, instant, nullable, type RowOf, table, text, texts } from '@svc/platform/db/table'
import type { CoreServices } from '@svc/platform/services'
import { Type } from 'typebox'
import type { UrlRule } from './endpoint-url.ts'
import { addressRule, LOOPBACK } from './safe-address.ts'

/** Where a tenant wants its events sent to. */
export const webhookEndpoints = table('webhook_endpoints', 'e', ['tenantId', 'endpointId'], {
  endpointId: text,
  tenantId: text,
  url: text,
  description: text,
  /** Empty: all of them. */
  types: texts<EventType>(),
  enabled: flag,
  /** `gone`: switched off by the service after status 410. */
  disabledReason: nullable(text),
  /** Names of the headers that the tenant added; their values may be secrets and are never returned. */
  headerNames: texts(),
  headersEncrypted: nullable(bytes),
  createdAt: instant,
  modifiedAt: instant,
})
export type Endpoint = RowOf<typeof webhookEndpoints>

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
  endpointId: Type.String({ description: 'The id that the create operation returned' }),
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

/** With the signing secret, which is shown once. */
export const endpointWithSecretToWire = (endpoint: Endpoint, secret: Secret, timeZone: string) => ({
  ...endpointToWire(endpoint, timeZone),
  secret: secret.reveal(),
})

/** Where webhooks may go in this mode, with these settings. */
export function urlRule({ SVC_MODE, WEBHOOK_ALLOWED_NETWORKS }: CoreServices['config']): UrlRule {
  const sandbox = SVC_MODE === 'sandbox'
  const allowed = sandbox ? [...LOOPBACK, ...WEBHOOK_ALLOWED_NETWORKS] : WEBHOOK_ALLOWED_NETWORKS
  return { sandbox, mayReach: addressRule(allowed) }
}

export async function findEndpoint(
  tx: Tx,
  tenantId: string,
  endpointId: string,
): Promise<Endpoint | undefined> {
  const [endpoint] = await tx.query(webhookEndpoints.find, webhookEndpoints.keys([{ tenantId, endpointId }]))
  return endpoint
}

export type Headers = Readonly<Record<string, string>>

export const headersEncryptedFor = (endpointId: string) => `webhook headers ${endpointId}`

export const encryptHeaders = (keyring: Keyring, endpointId: string, headers: Headers): Buffer | null =>
  Object.keys(headers).length === 0
    ? null
    : keyring.encrypt('webhook_secret', Buffer.from(JSON.stringify(headers)), headersEncryptedFor(endpointId))

export const openHeaders = (keyring: Keyring, { endpointId, headersEncrypted }: Endpoint): Headers =>
  headersEncrypted === null
    ? {}
    : (JSON.parse(
        keyring.open('webhook_secret', headersEncrypted, headersEncryptedFor(endpointId)).toString(),
      ) as Headers)
