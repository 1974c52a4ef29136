import { newId } from '@svc/contract/id-kinds'
import { type RandomBytes } from '@svc/kernel/ids'
import { Secret } from '@svc/kernel/secret'
import type { Keyring } from '@svc/platform/crypto/keyring'
import type { Writes } from '@svc/platform/db/database'
import { statement } from '@svc/platform/db/statement'
import { bytes, generated, instant, nullable, type RowOf, table, text } from '@svc/platform/db/table'

/** A new signing secret of Standard Webhooks: `whsec_` and 32 random bytes in base64. */
export const newSecret = (random: RandomBytes): Secret =>
  new Secret(`whsec_${Buffer.from(random(32)).toString('base64')}`)

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
  `delete from webhook_secrets where tenant_id = $1 and endpoint_id = $2 and (expires_at <= $3 or secret_id not in (
     select secret_id from webhook_secrets where tenant_id = $1 and endpoint_id = $2
     order by created_at desc, secret_id desc limit ${SECRETS_MAX}))`,
)

export const secretEncryptedFor = (secretId: string) => `webhook secret ${secretId}`

interface Owner {
  readonly tenantId: string
  readonly endpointId: string
}

export interface Tools {
  readonly keyring: Keyring
  readonly random: RandomBytes
}

/** Adds the secret that signs from now on. Previous ones go on signing beside it until `formerUntil`. */
export function saveSecret(
  tx: Writes,
  { keyring, random }: Tools,
  { tenantId, endpointId }: Owner,
  secret: Secret,
  { now, formerUntil }: { now: Date; formerUntil: Date },
): void {
  const secretId = newId('whs', now.getTime(), random)
  const encrypted = keyring.encrypt(
    'webhook_secret',
    Buffer.from(secret.reveal()),
    secretEncryptedFor(secretId),
  )
  webhookSecrets.insert(tx, [{ secretId, tenantId, endpointId, encrypted, createdAt: now }])
  tx.write(EXPIRE, [tenantId, endpointId, formerUntil, secretId])
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
