import { createHash, createPrivateKey, createPublicKey, createSecretKey, type JsonWebKey } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import { base32, newId } from '../kernel/ids.ts'
import { Secret } from '../kernel/secret.ts'
import type { DataKey, KeyPurpose, Keyring } from '../platform/crypto/keyring.ts'
import { keyFromJwk, publicJwk, type SealAlgorithm, type SealKey } from '../platform/crypto/seal-keys.ts'
import type { Database, Tx } from '../platform/db/database.ts'
import { PointRead } from '../platform/db/point-read.ts'
import { statement } from '../platform/db/statement.ts'
import type { Seals } from '../platform/http/operation.ts'
import type { KeyMaker } from './api-key.ts'

const PAIRS: readonly { purpose: KeyPurpose; alg: SealAlgorithm }[] = [
  { purpose: 'seal_p256', alg: 'ECDH-ES+A256KW' },
  { purpose: 'seal_x25519', alg: 'ECDH-ES+A256KW' },
  { purpose: 'seal_rsa', alg: 'RSA-OAEP-256' },
]

/** A retired key of a partner stops opening within this time, in milliseconds. */
const PARTNER_KEYS_KEPT_MS = 1_000

const serviceKid = (key: DataKey) => base32(createHash('sha256').update(key.keyId).digest().subarray(0, 5))

/** Importing a key costs more than opening a seal, so it is kept as long as the data key is. */
const pairs = new WeakMap<DataKey, SealKey>()

function pairOf(dataKey: DataKey, alg: SealAlgorithm): SealKey {
  const known = pairs.get(dataKey)
  if (known) return known
  const key = createPrivateKey({ key: dataKey.bytes, format: 'der', type: 'pkcs8' })
  const pair: SealKey = { kid: serviceKid(dataKey), alg, enc: 'A256GCM', key }
  pairs.set(dataKey, pair)
  return pair
}

/** The service's own key pairs, all live ones: two of a kind while one replaces the other (decision C4). */
export const serviceSealKeys = (keyring: Keyring): SealKey[] =>
  PAIRS.flatMap(({ purpose, alg }) => keyring.all(purpose).map((key) => pairOf(key, alg)))

/** Newest first, so that who takes the first that fits takes the one that stays; those only that every process knows. */
export const publishedSealKeys = (keyring: Keyring): JsonWebKey[] =>
  PAIRS.flatMap(({ purpose, alg }) =>
    [...keyring.effective(purpose)].reverse().map((dataKey) => {
      const { kid, key } = pairOf(dataKey, alg)
      return publicJwk(kid, alg, createPublicKey(key))
    }),
  )

interface PartnerKeys {
  readonly partnerId: string
  readonly plain: boolean
  /** Newest first. */
  readonly shared: readonly SealKey[]
  readonly registered: readonly SealKey[]
}

interface PartnerKeysRow {
  partner_id: string
  plain_requests: boolean
  kid: string | null
  kind: 'shared' | 'public' | null
  material: Buffer | null
}

const KEYS = statement<PartnerKeysRow>(
  'partner_seal_keys',
  `select p.partner_id, p.plain_requests, k.kid, k.kind, k.material
   from partners p left join partner_seal_keys k on k.partner_id = p.partner_id and k.retired_at is null
   where p.partner_id = any ($1) order by k.created_at desc`,
)

/** Where sealed bodies find their keys: the service's own, and each partner's. */
export function sealKeys(keyring: Keyring, database: Database): Seals {
  const kept = new LRUCache<string, PartnerKeys>({ max: 5_000, ttl: PARTNER_KEYS_KEPT_MS })
  const reads = new PointRead<PartnerKeys>(
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
      const own = serviceSealKeys(keyring).find((key) => key.kid === kid)
      return own ?? (await keysOf(tenantId))?.shared.find((key) => key.kid === kid)
    },
    async sealingKey(tenantId) {
      const keys = await keysOf(tenantId)
      return keys?.registered[0] ?? keys?.shared[0]
    },
    takesPlain: async (tenantId) => (await keysOf(tenantId))?.plain ?? false,
  }
}

function toPartnerKeys(keyring: Keyring, partnerId: string, rows: readonly PartnerKeysRow[]): PartnerKeys[] {
  const [first] = rows
  if (!first) return []
  const shared: SealKey[] = []
  const registered: SealKey[] = []
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

const INSERT = statement(
  'partner_seal_key_insert',
  `insert into partner_seal_keys (kid, partner_id, kind, alg, material, created_at) values ($1, $2, $3, $4, $5, clock_timestamp())`,
)
const RETIRE = statement<{ kid: string; partner_id: string; retired_at: Date }>(
  'partner_seal_key_retire',
  `update partner_seal_keys set retired_at = coalesce(retired_at, clock_timestamp()) where partner_id = $1 and kid = $2
   returning kid, partner_id, retired_at`,
)

/** As an integrator needs it to seal: a symmetric JWK's parts. */
export interface SharedKey {
  readonly kid: string
  readonly alg: 'A256KW'
  readonly enc: 'A256GCM'
  readonly k: Secret
}

/** Issues a key that the partner and the service share; shown here and never again. Former ones stay valid until retired. */
export async function issueSharedKey(
  tx: Tx,
  { keyring, random }: KeyMaker,
  partnerId: string,
): Promise<SharedKey> {
  const kid = newId('sk', Date.now(), random)
  const bytes = random(32)
  await tx.query(INSERT, [
    kid,
    partnerId,
    'shared',
    'A256KW',
    keyring.seal('partner_key', bytes, `${partnerId} ${kid}`),
  ])
  return { kid, alg: 'A256KW', enc: 'A256GCM', k: new Secret(Buffer.from(bytes).toString('base64url')) }
}

/** Registers a partner's public key for sealed answers (decision C3). Throws `UnfitSealKey` with the reason. */
export async function registerPublicKey(tx: Tx, partnerId: string, jwk: unknown): Promise<SealKey> {
  const key = keyFromJwk(jwk, 'public')
  await tx.query(INSERT, [key.kid, partnerId, 'public', key.alg, Buffer.from(JSON.stringify(jwk))])
  return key
}

export async function retireSealKey(tx: Tx, partnerId: string, kid: string) {
  const [row] = await tx.query(RETIRE, [partnerId, kid])
  return row && { kid: row.kid, partnerId: row.partner_id, retiredAt: row.retired_at }
}
