import { createHash, createSecretKey, diffieHellman } from 'node:crypto'
import { decryptJwe, encrypt } from '@svc/jwe/jwe'
import { DecryptionFailed } from '@svc/jwe/jwe-error'
import { newJweKeyPair } from '@svc/jwe/keys'
import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  encryptWithHeader,
  jweKey,
  kinds,
  pairs,
  plaintext,
  recorder,
  rejection,
  secret,
} from './compact-jwes.ts'
import { agreed, b64, epk, good, HEADER_ATTACKS, LOW_ORDER_POINTS, point } from './forged.ts'

describe('a hostile header', () => {
  test.each(HEADER_ATTACKS)(
    '%s: rejected as %s, 1,000 times, without looking up any key',
    async (_name, problem, header) => {
      const { seen, find } = recorder('A256KW', secret)
      const text = encryptWithHeader(header)
      for (let i = 0; i < 1_000; i++) {
        const rejected = await decryptJwe(text, find).then(
          () => 'it opened',
          (error: unknown) => (error instanceof DecryptionFailed ? error.reason : error),
        )
        if (rejected !== problem) expect(rejected).toBe(problem)
      }
      expect(seen).toEqual({ looked: [], keyReads: 0 })
    },
  )

  test('the generator of these attacks creates JWEs that decrypt when the header is valid', async () => {
    const opened = await decryptJwe(
      encryptWithHeader({ ...good, typ: 'JOSE', cty: 'json' }),
      recorder('A256KW', secret).find,
    )
    expect(opened.plaintext).toEqual(plaintext)
  })

  test('any JSON at all as a header is rejected or decrypts, and never fails in another way', async () => {
    const member = fc.constantFrom('alg', 'enc', 'kid', 'epk', 'apu', 'zip', 'crit', 'typ')
    const value = fc.oneof(
      fc.constantFrom('A256KW', 'A256GCM', 'ECDH-ES+A256KW', 'key-1', epk, point),
      fc.jsonValue(),
    )
    const headers = fc.oneof(fc.dictionary(member, value), fc.jsonValue())
    await fc.assert(
      fc.asyncProperty(headers, async (header) => {
        const text = encryptWithHeader(JSON.stringify(header))
        await decryptJwe(text, recorder('A256KW', secret).find).catch((error: unknown) => {
          expect(error).toBeInstanceOf(DecryptionFailed)
        })
      }),
      { numRuns: 500 },
    )
  })

  test.each(kinds)(
    '%s (%s) named for a key of another algorithm: the key is found, and never used',
    async (alg, kind, encryption) => {
      const text = await encrypt(plaintext, jweKey(alg, encryption))
      for (const [otherAlg, otherKind, , other] of kinds.filter(([candidate]) => candidate !== alg)) {
        const { seen, find } = recorder(otherAlg, other)
        expect((await rejection(text, find)).reason, `${kind} for ${otherKind}`).toBe('algorithm')
        expect(seen).toEqual({ looked: ['key-1'], keyReads: 0 })
      }
    },
  )

  test('a public key of the service used as a shared secret decrypts nothing', async () => {
    const published = pairs.RSA.publicKey.export({ format: 'der', type: 'spki' })
    const forged = encryptWithHeader(good, createSecretKey(createHash('sha256').update(published).digest()))
    expect((await rejection(forged, recorder('RSA-OAEP-256', pairs.RSA.privateKey).find)).reason).toBe(
      'algorithm',
    )
  })
})

describe('the ephemeral key of a JWE', () => {
  const p256 = () => jweKey('ECDH-ES+A256KW', pairs['P-256'].privateKey)
  const x25519 = () => jweKey('ECDH-ES+A256KW', pairs.X25519.privateKey)
  const hex = (text: string) => b64(Buffer.from(text, 'hex'))

  test.each([
    ['x and y swapped', point.y, point.x],
    ['the point at infinity, as zeros', hex('00'.repeat(32)), hex('00'.repeat(32))],
    ['x beyond the field', hex('ff'.repeat(32)), point.y],
    // A point of another curve of the same form: the invalid-curve attack on ECDH-ES (RFC 8725 §2.5).
    ['y plus one', point.x, b64(plusOne(Buffer.from(point.y!, 'base64url')))],
  ])('a P-256 key that is not a point of the curve (%s) is rejected', async (_name, x, y) => {
    const text = encryptWithHeader({ ...agreed, epk: { kty: 'EC', crv: 'P-256', x, y } })
    expect((await rejection(text, p256)).reason).toBe('header')
  })

  test.each(LOW_ORDER_POINTS)('the X25519 key %s of low order is rejected', async (low) => {
    const text = encryptWithHeader({ ...agreed, epk: { ...epk, x: hex(low) } })
    expect((await rejection(text, x25519)).reason).toBe('header')
  })

  test.each([
    ['kid, use, alg and key_ops', { kid: 'e1', use: 'enc', alg: 'ECDH-ES+A256KW', key_ops: [] }],
    ['ext, as WebCrypto exports it', { ext: true, key_ops: ['deriveBits'] }],
    ['a member that nobody registered', { 'x-note': 'ephemeral' }],
  ])('further public members of the key have no effect (%s)', async (_name, members) => {
    for (const [kind, find] of [
      ['P-256', p256],
      ['X25519', x25519],
    ] as const) {
      const ephemeral = newJweKeyPair(kind)
      const shared = diffieHellman({ privateKey: ephemeral.privateKey, publicKey: pairs[kind].publicKey })
      const header = { ...agreed, epk: { ...ephemeral.publicKey.export({ format: 'jwk' }), ...members } }
      const opened = await decryptJwe(encryptWithHeader(header, wrappingKey(shared)), find)
      expect(opened.plaintext).toEqual(plaintext)
    }
  })

  test('a key on the other curve is rejected', async () => {
    expect((await rejection(encryptWithHeader(agreed), p256)).reason).toBe('header')
    expect((await rejection(encryptWithHeader({ ...agreed, epk: point }), x25519)).reason).toBe('header')
  })
})

/** Concat KDF of RFC 7518 §4.6.2, written a second time. */
const wrappingKey = (shared: Buffer) => {
  const alg = Buffer.from('ECDH-ES+A256KW')
  const info = Buffer.concat([Buffer.of(0, 0, 0, alg.length), alg, Buffer.alloc(8), Buffer.of(0, 0, 1, 0)])
  const round = Buffer.concat([Buffer.of(0, 0, 0, 1), shared, info])
  return createSecretKey(createHash('sha256').update(round).digest())
}

function plusOne(bytes: Buffer): Buffer {
  const sum = BigInt(`0x${bytes.toString('hex')}`) + 1n
  return Buffer.from(sum.toString(16).padStart(64, '0').slice(-64), 'hex')
}
