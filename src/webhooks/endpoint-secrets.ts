import { newId, type RandomBytes } from '../kernel/ids.ts'
import { Secret } from '../kernel/secret.ts'
import type { Keyring } from '../platform/crypto/keyring.ts'
import type { Writes } from '../platform/db/database.ts'
import { statement } from '../platform/db/statement.ts'

/** A new signing secret of Standard Webhooks: `whsec_` and 32 random bytes in base64. */
export const newSecret = (random: RandomBytes): Secret =>
  new Secret(`whsec_${Buffer.from(random(32)).toString('base64')}`)

const SECRETS_MAX = 5

const INSERT = statement(
  'webhook_secret_insert',
  `insert into webhook_secrets (secret_id, tenant_id, endpoint_id, sealed, created_at) values ($1, $2, $3, $4, $5)`,
)
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

export const secretSealedFor = (secretId: string) => `webhook secret ${secretId}`

interface Owner {
  readonly tenantId: string
  readonly endpointId: string
}

export interface Tools {
  readonly keyring: Keyring
  readonly random: RandomBytes
}

/** Adds the secret that signs from now on. Former ones go on signing beside it until `formerUntil`. */
export function saveSecret(
  tx: Writes,
  { keyring, random }: Tools,
  { tenantId, endpointId }: Owner,
  secret: Secret,
  { now, formerUntil }: { now: Date; formerUntil: Date },
): void {
  const secretId = newId('whs', now.getTime(), random)
  const sealed = keyring.seal('webhook_secret', Buffer.from(secret.reveal()), secretSealedFor(secretId))
  tx.write(INSERT, [secretId, tenantId, endpointId, sealed, now])
  tx.write(EXPIRE, [tenantId, endpointId, formerUntil, secretId])
  tx.write(FORGET, [tenantId, endpointId, now])
}

export interface SecretRow {
  secret_id: string
  endpoint_id: string
  sealed: Buffer
  expires_at: Date | null
}

export interface SigningSecret {
  readonly secret: Secret
  readonly expiresAtMs: number
}

export const openSecret = (
  keyring: Keyring,
  { secret_id, sealed, expires_at }: SecretRow,
): SigningSecret => ({
  secret: new Secret(keyring.open('webhook_secret', sealed, secretSealedFor(secret_id)).toString()),
  expiresAtMs: expires_at?.getTime() ?? Number.POSITIVE_INFINITY,
})
