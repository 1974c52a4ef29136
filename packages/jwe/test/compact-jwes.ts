import { createSecretKey, type KeyObject, randomBytes } from 'node:crypto'
import { decryptJwe, type OpeningKey } from '@svc/jwe/jwe'
import { DecryptionFailed } from '@svc/jwe/jwe-error'
import { type JweAlgorithm, newJweKeyPair } from '@svc/jwe/keys'
import { expect } from 'vitest'
import { encryptWithHeader as forge, P256_PAIR } from './forged.ts'

export const secret = createSecretKey(randomBytes(32))
export const pairs = {
  'P-256': P256_PAIR,
  X25519: newJweKeyPair('X25519'),
  RSA: newJweKeyPair('RSA'),
}
export const kinds = [
  ['A256KW', 'secret', secret, secret],
  ['ECDH-ES+A256KW', 'P-256', pairs['P-256'].publicKey, pairs['P-256'].privateKey],
  ['ECDH-ES+A256KW', 'X25519', pairs.X25519.publicKey, pairs.X25519.privateKey],
  ['RSA-OAEP-256', 'RSA', pairs.RSA.publicKey, pairs.RSA.privateKey],
] as const
export const agreeing = kinds.filter(([alg]) => alg === 'ECDH-ES+A256KW')

export const jweKey = (alg: JweAlgorithm, key: KeyObject): OpeningKey => ({
  kid: 'key-1',
  alg,
  enc: 'A256GCM',
  key,
})
export const plaintext = Buffer.from(JSON.stringify({ firstName: 'अनीता', loadAmount: '500' }))

/** A key ring of one key that records the lookups. */
export function recorder(alg: JweAlgorithm, key: KeyObject) {
  const seen = { looked: [] as string[], keyReads: 0 }
  const opening: OpeningKey = {
    kid: 'key-1',
    alg,
    enc: 'A256GCM',
    get key() {
      seen.keyReads++
      return key
    },
  }
  return {
    seen,
    find(kid: string) {
      seen.looked.push(kid)
      return kid === 'key-1' ? opening : undefined
    },
  }
}

/** Finds the one key, by its kid only. */
export const keyRing = (alg: JweAlgorithm, key: KeyObject) => (kid: string) =>
  kid === 'key-1' ? jweKey(alg, key) : undefined

export async function rejection(
  text: string,
  find: Parameters<typeof decryptJwe>[1],
): Promise<DecryptionFailed> {
  const error: unknown = await decryptJwe(text, find).then(
    () => 'it opened',
    (reason: unknown) => reason,
  )
  expect(error).toBeInstanceOf(DecryptionFailed)
  return error as DecryptionFailed
}

export const encryptWithHeader = (
  header: string | object | Buffer,
  wrapWith: KeyObject = secret,
  contentKey?: Buffer,
): string => forge(header, wrapWith, { plaintext, ...(contentKey && { contentKey }) })
