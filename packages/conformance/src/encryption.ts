import { createPublicKey, createSecretKey, type JsonWebKey, type KeyObject } from 'node:crypto'
import { CompactEncrypt } from 'jose'
import type { SharedKey } from './credentials.ts'

/** A key to encrypt with (decision C1). */
export interface EncryptionKey {
  readonly kid: string
  readonly alg: string
  readonly enc: string
  readonly key: KeyObject
}

export type PublishedKind = 'P-256' | 'X25519' | 'RSA'

export const sharedEncryptionKey = ({ kid, alg, enc, k }: SharedKey): EncryptionKey => ({
  kid,
  alg,
  enc,
  key: createSecretKey(Buffer.from(k, 'base64url')),
})

/** The server's published encryption key of a curve or type; `undefined` when the JWK set has none. */
export function publishedEncryptionKey(keys: unknown, kind: PublishedKind): EncryptionKey | undefined {
  if (!Array.isArray(keys)) return undefined
  const jwk = (keys as JsonWebKey[]).find(
    (key) => key['use'] === 'enc' && (key.crv === kind || (kind === 'RSA' && key.kty === 'RSA')),
  )
  if (!jwk) return undefined
  const alg = kind === 'RSA' ? 'RSA-OAEP-256' : 'ECDH-ES+A256KW'
  const key = createPublicKey({ key: jwk, format: 'jwk' })
  return { kid: String(jwk['kid']), alg, enc: 'A256GCM', key }
}

/** Encrypts a text: the compact JWE, with further header parameters if any. */
export function encrypt(
  text: string,
  { kid, alg, enc, key }: EncryptionKey,
  header: Readonly<Record<string, unknown>> = {},
): Promise<string> {
  return new CompactEncrypt(Buffer.from(text)).setProtectedHeader({ alg, enc, kid, ...header }).encrypt(key)
}

/** The same JWE with one bit of a part flipped; still canonical base64url. */
export function tampered(jwe: string, part: number): string {
  const parts = jwe.split('.')
  const bytes = Buffer.from(parts[part]!, 'base64url')
  bytes[Math.floor(bytes.length / 2)]! ^= 1
  parts[part] = bytes.toString('base64url')
  return parts.join('.')
}
