import { createHash, createSecretKey, type KeyObject } from 'node:crypto'
import { compactDecrypt, decodeProtectedHeader } from 'jose'
import { LRUCache } from 'lru-cache'
import { statement } from './database.ts'
import { fail } from './failures.ts'
import { decryptFor } from './secrets.ts'
import type { Services } from './services.ts'

/** A shared key that was retired opens nothing a second later. */
const KEYS_CACHED_MS = 1_000

const KEYS = statement<{ kid: string; material: Buffer }>(
  'shared_keys',
  `select kid, material from partner_encryption_keys where partner_id = $1 and kind = 'shared' and retired_at is null`,
)

/** Decrypts orders with the key that their partner shares with the service. */
export function orderReader({ pool, config }: Services) {
  const known = new LRUCache<string, ReadonlyMap<string, KeyObject>>({ max: 5_000, ttl: KEYS_CACHED_MS })
  async function keysOf(partnerId: string): Promise<ReadonlyMap<string, KeyObject>> {
    const cached = known.get(partnerId)
    if (cached) return cached
    const rows = await KEYS(pool, [partnerId])
    const keys = new Map(
      rows.map(({ kid, material }) => [
        kid,
        createSecretKey(decryptFor(config.keys.partnerKey, material, `${partnerId} ${kid}`)),
      ]),
    )
    known.set(partnerId, keys)
    return keys
  }
  return async (partnerId: string, jwe: string): Promise<{ content: unknown; ciphertextHash: Buffer }> => {
    const keys = await keysOf(partnerId)
    try {
      const key = keys.get(decodeProtectedHeader(jwe).kid ?? '') ?? fail('decryption_failed')
      const options = { keyManagementAlgorithms: ['A256KW'], contentEncryptionAlgorithms: ['A256GCM'] }
      const { plaintext } = await compactDecrypt(jwe, key, options)
      const parts = jwe.split('.').slice(2)
      const hash = createHash('sha256')
      for (const part of parts) hash.update(Buffer.from(part, 'base64url'))
      return {
        content: JSON.parse(Buffer.from(plaintext).toString()) as unknown,
        ciphertextHash: hash.digest(),
      }
    } catch {
      // One response for all that is wrong with an encrypted request.
      return fail('decryption_failed')
    }
  }
}

/** The JWE comes bare, as a JSON string, or as `{"payload": "<JWE>"}`. */
export function jweOf(body: unknown): string {
  const payload = (body as { payload?: unknown } | null)?.payload ?? body
  return typeof payload === 'string' ? payload.trim() : fail('request_not_encrypted')
}
