import { createPublicKey, type KeyObject, sign } from 'node:crypto'
import type { Secret } from '@svc/kernel/secret'
import type { Keyring } from '@svc/platform/crypto/keyring'
import { signingKey } from '@svc/platform/crypto/signed'
import { Webhook } from 'standardwebhooks'

export interface SigningKey {
  readonly kid: string
  readonly privateKey: KeyObject
}

/** The service's Ed25519 keys: all live ones sign, so that receivers can change over. */
export const signingKeys = (keyring: Keyring): SigningKey[] => keyring.all('webhook_signing').map(signingKey)

/** The public half, as `whpk_<base64 of the 32 bytes>` and as JWK (RFC 8037). */
export function publicKey({ kid, privateKey }: SigningKey) {
  const jwk = createPublicKey(privateKey).export({ format: 'jwk' })
  const key = `whpk_${Buffer.from(jwk.x!, 'base64url').toString('base64')}`
  return { kid, kty: 'OKP', crv: 'Ed25519', use: 'sig', alg: 'EdDSA', x: jwk.x!, key }
}

/**
 * The headers of Standard Webhooks 1.0: one `v1` signature for each secret that has not expired, one `v1a` for each
 * Ed25519 key.
 */
export function signedHeaders(
  id: string,
  at: Date,
  body: Buffer,
  secrets: readonly Secret[],
  keys: readonly SigningKey[],
): Record<string, string> {
  const timestamp = Math.floor(at.getTime() / 1_000)
  const text = Buffer.concat([Buffer.from(`${id}.${timestamp}.`), body])
  const signatures = [
    ...secrets.map((secret) => new Webhook(secret.reveal()).sign(id, at, body)),
    ...keys.map(({ privateKey }) => `v1a,${sign(null, text, privateKey).toString('base64')}`),
  ]
  return {
    'webhook-id': id,
    'webhook-timestamp': String(timestamp),
    'webhook-signature': signatures.join(' '),
  }
}
