import { createHash, createPrivateKey, createPublicKey, createSecretKey, type JsonWebKey } from 'node:crypto'
import { newId } from '@svc/contract/id-kinds'
import { type JweAlgorithm, type JweKey, keyFromJwk, publicJwk } from '@svc/jwe/keys'
import { base32 } from '@svc/kernel/ids'
import { Secret } from '@svc/kernel/secret'
import type { DataKey, KeyPurpose, Keyring } from '@svc/platform/crypto/keyring'
import { BatchedLookup } from '@svc/platform/db/batched-lookup'
import type { Database, Tx } from '@svc/platform/db/database'
import { statement } from '@svc/platform/db/statement'
import {
  bytes,
  generated,
  instant,
  nullable,
  type RowOf,
  secret,
  stamped,
  table,
  text,
  textOf,
} from '@svc/platform/db/table'
import type { JweKeys } from '@svc/platform/services'
import { LRUCache } from 'lru-cache'
import type { KeyMaker } from './api-key.ts'

const PAIRS: readonly { purpose: KeyPurpose; alg: JweAlgorithm }[] = [
  { purpose: 'encryption_p256', alg: 'ECDH-ES+A256KW' },
  { purpose: 'encryption_x25519', alg: 'ECDH-ES+A256KW' },
  { purpose: 'encryption_rsa', alg: 'RSA-OAEP-256' },
]

/** A retired key of a partner stops opening within this time, in milliseconds. */
const PARTNER_KEYS_KEPT_MS = 1_000

const serviceKid = (key: DataKey) => base32(createHash('sha256').update(key.keyId).digest().subarray(0, 5))

/** Importing a key costs more than decrypting a JWE, so it is kept as long as the data key is. */
const pairs = new WeakMap<DataKey, JweKey>()

function pairOf(dataKey: DataKey, alg: JweAlgorithm): JweKey {
  const known = pairs.get(dataKey)
  if (known) return known
  const key = createPrivateKey({ key: dataKey.bytes, format: 'der', type: 'pkcs8' })
  const pair: JweKey = { kid: serviceKid(dataKey), alg, enc: 'A256GCM', key }
  pairs.set(dataKey, pair)
  return pair
}

/** The service's own key pairs, all live ones: two of a kind while one replaces the other (decision C4). */
export const serviceJweKeys = (keyring: Keyring): JweKey[] =>
  PAIRS.flatMap(({ purpose, alg }) => keyring.all(purpose).map((key) => pairOf(key, alg)))

/** Newest first, so that who takes the first that fits takes the one that stays; those only that every process knows. */
export const publishedJweKeys = (keyring: Keyring): JsonWebKey[] =>
  PAIRS.flatMap(({ purpose, alg }) =>
    [...keyring.effective(purpose)].reverse().map((dataKey) => {
      const { kid, key } = pairOf(dataKey, alg)
      return publicJwk(kid, alg, createPublicKey(key))
    }),
  )

interface PartnerKeys {
  readonly partnerId: string
  readonly plain: boolean
  /** Oldest first. */
  readonly shared: readonly JweKey[]
  readonly registered: readonly JweKey[]
}

interface PartnerKeysRow {
  partner_id: string
  plain_requests: boolean
  kid: string | null
  kind: 'shared' | 'public' | null
  material: Buffer | null
}

const KEYS = statement<PartnerKeysRow>(
  'partner_encryption_keys',
  `select p.partner_id, p.plain_requests, k.kid, k.kind, k.material
   from partners p left join partner_encryption_keys k on k.partner_id = p.partner_id and k.retired_at is null
   where p.partner_id = any ($1) order by k.created_at, k.kid`,
)

/** Where encrypted bodies find their keys: the service's own, and each partner's. */
export function jweKeys(keyring: Keyring, database: Database): JweKeys {
  const kept = new LRUCache<string, PartnerKeys>({ max: 5_000, ttl: PARTNER_KEYS_KEPT_MS })
  const reads = new BatchedLookup<PartnerKeys>(
    async (keys) => {
      const ids = keys.map(({ id }) => id)
      const rows = await database.read(ids, (tx) => tx.query(KEYS, [ids]))
      return ids.flatMap((id) =>
        toPartnerKeys(
          keyring,
          id,
          rows.filter((row) => row.partner_id === id),
        ),
      )
    },
    ({ partnerId: id }) => ({ tenantId: id, id }),
  )
  async function keysOf(partnerId: string): Promise<PartnerKeys | undefined> {
    const known = kept.get(partnerId)
    if (known) return known
    // Counted from before the read, and never renewed by use: else a busy partner's retired key would open for ever.
    const start = performance.now()
    const read = await reads.get(partnerId, partnerId)
    if (read) kept.set(partnerId, read, { start })
    return read
  }
  return {
    async openingKey(tenantId, kid) {
      const own = serviceJweKeys(keyring).find((key) => key.kid === kid)
      return own ?? (await keysOf(tenantId))?.shared.find((key) => key.kid === kid)
    },
    async encryptionKey(tenantId, requestKid) {
      const keys = await keysOf(tenantId)
      // The oldest: all of the partner's clients have it until it is retired (decision C4).
      return keys?.registered[0] ?? keys?.shared.find(({ kid }) => kid === requestKid) ?? keys?.shared[0]
    },
    acceptsPlain: async (tenantId) => (await keysOf(tenantId))?.plain ?? false,
  }
}

function toPartnerKeys(keyring: Keyring, partnerId: string, rows: readonly PartnerKeysRow[]): PartnerKeys[] {
  const [first] = rows
  if (!first) return []
  const shared: JweKey[] = []
  const registered: JweKey[] = []
  for (const { kid, kind, material } of rows) {
    if (!kid || !material) continue
    if (kind === 'public') registered.push(keyFromJwk(JSON.parse(material.toString('utf8')), 'public'))
    else
      shared.push({
        kid,
        alg: 'A256KW',
        enc: 'A256GCM',
        key: createSecretKey(keyring.open('partner_key', material, `${partnerId} ${kid}`)),
      })
  }
  return [{ partnerId, plain: first.plain_requests, shared, registered }]
}

export const partnerJweKeys = table('partner_encryption_keys', 'k', ['partnerId', 'kid'], {
  kid: text,
  partnerId: text,
  kind: textOf<'shared' | 'public'>(),
  alg: text,
  material: secret(bytes),
  createdAt: stamped(instant),
  retiredAt: generated(nullable(instant)),
})
const RETIRE = statement<{ kid: string; partnerId: string; retiredAt: Date }>(
  'partner_encryption_key_retire',
  `update partner_encryption_keys set retired_at = coalesce(retired_at, clock_timestamp()) where partner_id = $1 and kid = $2
   returning kid, partner_id as "partnerId", retired_at as "retiredAt"`,
)

/** As an integrator needs it to encrypt: a symmetric JWK (RFC 7517, RFC 7518 section 6.4). */
export interface SharedKey {
  readonly kty: 'oct'
  readonly kid: string
  readonly alg: 'A256KW'
  readonly enc: 'A256GCM'
  readonly k: Secret
}

/** Issues a key that the partner and the service share; shown here and never again. Previous ones stay valid until retired. */
export async function issueSharedKey(
  tx: Tx,
  { keyring, random }: KeyMaker,
  partnerId: string,
): Promise<SharedKey> {
  const kid = newId('sk', Date.now(), random)
  const key = random(32)
  const material = keyring.encrypt('partner_key', key, `${partnerId} ${kid}`)
  partnerJweKeys.insert(tx, [{ kid, partnerId, kind: 'shared', alg: 'A256KW', material }])
  const k = new Secret(Buffer.from(key).toString('base64url'))
  return { kty: 'oct', kid, alg: 'A256KW', enc: 'A256GCM', k }
}

/** Registers a partner's public key for encrypted responses (decision C3). Throws `UnusableJweKey` with the reason. */
export async function registerPublicKey(tx: Tx, partnerId: string, jwk: unknown): Promise<JweKey> {
  const key = keyFromJwk(jwk, 'public')
  const material = Buffer.from(JSON.stringify(jwk))
  partnerJweKeys.insert(tx, [{ kid: key.kid, partnerId, kind: 'public', alg: key.alg, material }])
  return key
}

export async function retireJweKey(tx: Tx, partnerId: string, kid: string) {
  const [retired] = await tx.query(RETIRE, [partnerId, kid])
  return retired
}

const JWE_KEYS = statement<RowOf<typeof partnerJweKeys>>(
  'partner_encryption_keys_list',
  `select ${partnerJweKeys.columns} from partner_encryption_keys k where k.partner_id = $1 order by k.created_at, k.kid`,
)

/** Encryption keys of a partner, shared ones and registered ones, without their key material. */
export const listJweKeys = async (tx: Tx, partnerId: string) =>
  (await tx.query(JWE_KEYS, [partnerId])).map(({ kid, kind, alg, createdAt, retiredAt }) => ({
    kid,
    kind,
    alg,
    createdAt,
    retiredAt,
  }))

const LAST_USES = statement<{ kid: string; at: Date }>(
  'partner_encryption_key_uses',
  `select r.jwe ->> 'kid' as kid, max(r.at) as at from request_log r
   where r.tenant_id = $1 and r.jwe is not null and (r.jwe ->> 'opened')::boolean group by 1`,
)

/** When a request was encrypted with each key last, as far back as the request log goes. */
export const lastUsesOfJweKeys = async (tx: Tx, partnerId: string): Promise<ReadonlyMap<string, Date>> =>
  new Map((await tx.query(LAST_USES, [partnerId])).map(({ kid, at }) => [kid, at]))
