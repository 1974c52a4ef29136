import { createCipheriv, createSecretKey, type KeyObject, randomBytes } from 'node:crypto'
import { expect } from 'vitest'
import { type OpeningKey, openSeal } from '../../../src/platform/crypto/seal.ts'
import { SealRejected } from '../../../src/platform/crypto/seal-fault.ts'
import { newSealKeyPair, type SealAlgorithm } from '../../../src/platform/crypto/seal-keys.ts'

export const secret = createSecretKey(randomBytes(32))
export const pairs = {
  'P-256': newSealKeyPair('P-256'),
  X25519: newSealKeyPair('X25519'),
  RSA: newSealKeyPair('RSA'),
}
export const kinds = [
  ['A256KW', 'secret', secret, secret],
  ['ECDH-ES+A256KW', 'P-256', pairs['P-256'].publicKey, pairs['P-256'].privateKey],
  ['ECDH-ES+A256KW', 'X25519', pairs.X25519.publicKey, pairs.X25519.privateKey],
  ['RSA-OAEP-256', 'RSA', pairs.RSA.publicKey, pairs.RSA.privateKey],
] as const
export const agreeing = kinds.filter(([alg]) => alg === 'ECDH-ES+A256KW')

export const sealKey = (alg: SealAlgorithm, key: KeyObject): OpeningKey => ({
  kid: 'key-1',
  alg,
  enc: 'A256GCM',
  key,
})
export const plaintext = Buffer.from(JSON.stringify({ firstName: 'अनीता', loadAmount: '500' }))

/** A key ring of one key that notes what is asked of it. */
export function recorder(alg: SealAlgorithm, key: KeyObject) {
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
export const keyRing = (alg: SealAlgorithm, key: KeyObject) => (kid: string) =>
  kid === 'key-1' ? sealKey(alg, key) : undefined

export async function rejection(text: string, find: Parameters<typeof openSeal>[1]): Promise<SealRejected> {
  const error: unknown = await openSeal(text, find).then(
    () => 'it opened',
    (reason: unknown) => reason,
  )
  expect(error).toBeInstanceOf(SealRejected)
  return error as SealRejected
}

export const b64 = (bytes: Uint8Array | string) => Buffer.from(bytes as string).toString('base64url')

/** A seal with any header text at all, whose tag is right for the secret key: only the header can be refused. */
export function sealWithHeader(
  header: string | object | Buffer,
  wrapWith: KeyObject = secret,
  contentKey: Buffer = randomBytes(32),
): string {
  const text = b64(typeof header === 'string' || Buffer.isBuffer(header) ? header : JSON.stringify(header))
  const iv = randomBytes(12)
  const wrap = createCipheriv('id-aes256-wrap', wrapWith, Buffer.alloc(8, 0xa6))
  const encryptedKey = Buffer.concat([wrap.update(contentKey), wrap.final()])
  const cipher = createCipheriv('aes-256-gcm', contentKey, iv).setAAD(Buffer.from(text))
  const ciphertext = Buffer.concat([cipher.update(plaintext), cipher.final()])
  return [text, ...[encryptedKey, iv, ciphertext, cipher.getAuthTag()].map(b64)].join('.')
}

export const good = { alg: 'A256KW', enc: 'A256GCM', kid: 'key-1' }
export const epk = { kty: 'OKP', crv: 'X25519', x: b64(randomBytes(32)) }
export const point = pairs['P-256'].publicKey.export({ format: 'jwk' })
export const agreed = { ...good, alg: 'ECDH-ES+A256KW', epk }
