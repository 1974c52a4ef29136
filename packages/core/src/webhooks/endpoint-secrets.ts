import { fail } from '@svc/contract/errors'
import { newId } from '@svc/contract/id-kinds'
import { ByTenant } from '@svc/kernel/by-tenant'
import { type RandomBytes } from '@svc/kernel/ids'
import { Secret } from '@svc/kernel/secret'
import { rfc3339 } from '@svc/kernel/time'
import type { Keyring } from '@svc/platform/crypto/keyring'
import type { Tx, Writes } from '@svc/platform/db/database'
import { statement } from '@svc/platform/db/statement'
import { bytes, generated, instant, nullable, type RowOf, table, text } from '@svc/platform/db/table'

/** A new signing secret of Standard Webhooks: `whsec_` and 32 random bytes in base64. */
export const newSecret = (random: RandomBytes): Secret =>
  new Secret(`whsec_${Buffer.from(random(32)).toString('base64')}`)

/** How many may sign at a time: each one lengthens the headers of every delivery. */
const SECRETS_MAX = 5

/** Signing secrets of endpoints: each that has not expired signs. */
export const webhookSecrets = table('webhook_secrets', 's', ['tenantId', 'secretId'], {
  secretId: text,
  tenantId: text,
  endpointId: text,
  encrypted: bytes,
  createdAt: instant,
  expiresAt: generated(nullable(instant)),
})
export type WebhookSecret = RowOf<typeof webhookSecrets>

// An older secret that is about to end keeps its own, earlier end.
const EXPIRE = statement(
  'webhook_secrets_expire',
  `update webhook_secrets set expires_at = least(expires_at, $3)
   where tenant_id = $1 and endpoint_id = $2 and secret_id <> $4`,
)
const FORGET = statement(
  'webhook_secrets_forget',
  'delete from webhook_secrets where tenant_id = $1 and endpoint_id = $2 and expires_at <= $3',
)
const EXPIRIES = statement<Pick<WebhookSecret, 'tenantId' | 'endpointId' | 'expiresAt'>>(
  'webhook_secret_expiries',
  `select s.tenant_id as "tenantId", s.endpoint_id as "endpointId", s.expires_at as "expiresAt"
   from webhook_secrets s where s.tenant_id = any ($1) and s.endpoint_id = any ($2)`,
)

export const secretEncryptedFor = (secretId: string) => `webhook secret ${secretId}`

interface Owner {
  readonly tenantId: string
  readonly endpointId: string
}

/** When the secrets of endpoints expire, in milliseconds, by endpoint; the newest of each never does. */
export type Expiries = Map<string, readonly number[]>

const NEVER = Number.POSITIVE_INFINITY

/** Of these endpoints, which are locked. */
export async function secretExpiries(tx: Tx, owners: readonly Owner[]): Promise<ByTenant<Expiries>> {
  const state = new ByTenant((): Expiries => new Map())
  const keys = [owners.map(({ tenantId }) => tenantId), owners.map(({ endpointId }) => endpointId)]
  for (const { tenantId, endpointId, expiresAt } of await tx.query(EXPIRIES, keys)) {
    const own = state.of(tenantId)
    own.set(endpointId, [...(own.get(endpointId) ?? []), expiresAt?.getTime() ?? NEVER])
  }
  return state
}

/** When previous secrets end, beside one that is added now. */
interface Turn {
  readonly now: Date
  readonly previousUntil: Date
}

/**
 * The expiries once a secret was added: no previous one ends before its time. Fails with `too_many_webhook_secrets`
 * where more than five would sign.
 */
export function withNewSecret(
  expiries: readonly number[],
  { now, previousUntil }: Turn,
  timeZone: string,
): readonly number[] {
  const isLive = (at: number) => at > now.getTime()
  const previous = expiries.map((at) => Math.min(at, previousUntil.getTime())).filter(isLive)
  if (previous.length < SECRETS_MAX) return [...previous, NEVER]
  const next = new Date(Math.min(...expiries.filter(isLive)))
  return fail('too_many_webhook_secrets', {
    description: `${SECRETS_MAX} secrets of this endpoint are in use; the next one expires on ${rfc3339(next, timeZone)}`,
  })
}

export interface Tools {
  readonly keyring: Keyring
  readonly random: RandomBytes
}

/** Adds the secret that signs from now on. Previous ones go on signing beside it until `previousUntil`. */
export function saveSecret(
  tx: Writes,
  { keyring, random }: Tools,
  { tenantId, endpointId }: Owner,
  secret: Secret,
  { now, previousUntil }: Turn,
): void {
  const secretId = newId('whs', now.getTime(), random)
  const encrypted = keyring.encrypt(
    'webhook_secret',
    Buffer.from(secret.reveal()),
    secretEncryptedFor(secretId),
  )
  webhookSecrets.insert(tx, [{ secretId, tenantId, endpointId, encrypted, createdAt: now }])
  tx.write(EXPIRE, [tenantId, endpointId, previousUntil, secretId])
  tx.write(FORGET, [tenantId, endpointId, now])
}

export interface SigningSecret {
  readonly secret: Secret
  readonly expiresAtMs: number
}

export const openSecret = (
  keyring: Keyring,
  { secretId, encrypted, expiresAt }: WebhookSecret,
): SigningSecret => ({
  secret: new Secret(keyring.open('webhook_secret', encrypted, secretEncryptedFor(secretId)).toString()),
  expiresAtMs: expiresAt?.getTime() ?? Number.POSITIVE_INFINITY,
})
