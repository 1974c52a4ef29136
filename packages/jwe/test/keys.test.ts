import { createPublicKey, randomBytes } from 'node:crypto'
import { keyFromJwk, publicJwk, UnusableJweKey } from '@svc/jwe/keys'
import { describe, expect, test } from 'vitest'
import { pairs, secret } from './compact-jwes.ts'
import { b64, point } from './forged.ts'

describe('keys', () => {
  test.each(['P-256', 'X25519', 'RSA'] as const)(
    'a published %s key has what a sender needs and no secret part',
    (kind) => {
      const alg = kind === 'RSA' ? 'RSA-OAEP-256' : 'ECDH-ES+A256KW'
      const jwk = publicJwk('key-1', alg, pairs[kind].privateKey)
      const form = { 'P-256': ['crv', 'kty', 'x', 'y'], X25519: ['crv', 'kty', 'x'], RSA: ['e', 'kty', 'n'] }[
        kind
      ]
      expect(Object.keys(jwk).sort()).toEqual([...form, 'alg', 'kid', 'use'].sort())
      expect(jwk).toMatchObject({ use: 'enc', alg, kid: 'key-1' })
      const read = keyFromJwk(jwk, 'public')
      expect(read.key.equals(createPublicKey(pairs[kind].privateKey))).toBe(true)
      expect(read).toMatchObject({ kid: 'key-1', alg, enc: 'A256GCM' })
    },
  )

  test('a secret is never published', () => {
    expect(() => publicJwk('key-1', 'A256KW', secret)).toThrow()
  })

  test('private and shared keys parse back from their JWK', () => {
    for (const { privateKey } of Object.values(pairs)) {
      const read = keyFromJwk({ ...privateKey.export({ format: 'jwk' }), kid: 'key-1' }, 'private')
      expect(read.key.equals(privateKey)).toBe(true)
    }
    expect(
      keyFromJwk({ ...secret.export({ format: 'jwk' }), kid: 'key-1' }, 'secret').key.equals(secret),
    ).toBe(true)
  })

  const publicP256 = { ...point, kid: 'key-1' }
  test.each([
    [
      'a private key where a public one is asked for',
      { ...pairs.RSA.privateKey.export({ format: 'jwk' }), kid: 'key-1' },
    ],
    ['a key for signing', { ...publicP256, use: 'sig' }],
    ['a key for another enc', { ...publicP256, enc: 'A128GCM' }],
    ['an alg that its type does not serve', { ...publicP256, alg: 'RSA-OAEP-256' }],
    ['an alg that we do not have', { ...publicP256, alg: 'ECDH-ES' }],
    ['no kid', point],
    ['a point off the curve', { ...publicP256, x: point.y }],
    ['another curve', { ...publicP256, crv: 'P-384' }],
    ['another kty', { ...publicP256, kty: 'toString' }],
    ['a padded coordinate', { ...publicP256, x: `${point.x}=` }],
    ['RSA of 1024 bits', { kty: 'RSA', kid: 'key-1', e: 'AQAB', n: b64(Buffer.alloc(128, 0xc7)) }],
    ['RSA of 8192 bits', { kty: 'RSA', kid: 'key-1', e: 'AQAB', n: b64(Buffer.alloc(1024, 0xc7)) }],
    ['RSA with exponent 3', { ...pairs.RSA.publicKey.export({ format: 'jwk' }), kid: 'key-1', e: 'Aw' }],
    ['a shared key', { ...secret.export({ format: 'jwk' }), kid: 'key-1' }],
    ['a string', 'key'],
    ['null', null],
  ])('%s is not accepted as a public key', (_name, jwk) => {
    expect(() => keyFromJwk(jwk, 'public')).toThrow(UnusableJweKey)
  })

  test('a shared key must have 32 bytes', () => {
    for (const size of [0, 16, 24, 31, 33, 64])
      expect(() => keyFromJwk({ kty: 'oct', kid: 'key-1', k: b64(randomBytes(size)) }, 'secret')).toThrow(
        UnusableJweKey,
      )
  })
})
