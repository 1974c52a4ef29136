import { createHash, createSecretKey, randomBytes } from 'node:crypto'
import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { openSeal, seal } from '../../../src/platform/crypto/seal.ts'
import { type SealFault, SealRejected } from '../../../src/platform/crypto/seal-fault.ts'
import {
  agreed,
  b64,
  epk,
  good,
  kinds,
  pairs,
  plaintext,
  point,
  recorder,
  rejection,
  sealKey,
  sealWithHeader,
  secret,
} from './seals.ts'

const headerAttacks: [string, SealFault, string | object | Buffer][] = [
  ['dir', 'algorithm', { ...good, alg: 'dir' }],
  ['RSA1_5', 'algorithm', { ...good, alg: 'RSA1_5' }],
  ['RSA-OAEP with SHA-1', 'algorithm', { ...good, alg: 'RSA-OAEP' }],
  [
    'PBES2 with a huge count',
    'algorithm',
    { ...good, alg: 'PBES2-HS256+A128KW', p2s: 'AAAAAAAAAAA', p2c: 2_147_483_647 },
  ],
  ['plain ECDH-ES', 'algorithm', { ...agreed, alg: 'ECDH-ES' }],
  ['A128KW', 'algorithm', { ...good, alg: 'A128KW' }],
  [
    'A256GCMKW',
    'algorithm',
    { ...good, alg: 'A256GCMKW', iv: b64(randomBytes(12)), tag: b64(randomBytes(16)) },
  ],
  ['none', 'algorithm', { ...good, alg: 'none' }],
  ['alg in lower case', 'algorithm', { ...good, alg: 'a256kw' }],
  ['alg named after a property of every object', 'algorithm', { ...good, alg: 'constructor' }],
  ['A128GCM', 'algorithm', { ...good, enc: 'A128GCM' }],
  ['A256CBC-HS512', 'algorithm', { ...good, enc: 'A256CBC-HS512' }],
  ['no alg', 'header', { enc: 'A256GCM', kid: 'key-1' }],
  ['no enc', 'header', { alg: 'A256KW', kid: 'key-1' }],
  ['alg a list', 'header', { ...good, alg: ['A256KW'] }],
  ['zip', 'header', { ...good, zip: 'DEF' }],
  ['crit', 'header', { ...good, crit: ['exp'], exp: 1 }],
  ['empty crit', 'header', { ...good, crit: [] }],
  ['b64', 'header', { ...good, b64: false }],
  ['jku', 'header', { ...good, jku: 'http://127.0.0.1/keys' }],
  ['jwk', 'header', { ...good, jwk: { kty: 'oct', k: b64(randomBytes(32)) } }],
  ['x5u', 'header', { ...good, x5u: 'http://127.0.0.1/chain' }],
  ['x5c', 'header', { ...good, x5c: ['MIIB'] }],
  ['x5t', 'header', { ...good, x5t: 'AAAA' }],
  ['x5t#S256', 'header', { ...good, 'x5t#S256': 'AAAA' }],
  ['p2c', 'header', { ...good, p2c: 1000 }],
  ['p2s', 'header', { ...good, p2s: 'AAAA' }],
  ['an unknown member', 'header', { ...good, tenant: 'other' }],
  ['__proto__', 'header', '{"alg":"A256KW","enc":"A256GCM","kid":"key-1","__proto__":{"zip":"DEF"}}'],
  ['epk on a shared key', 'header', { ...good, epk }],
  ['apu on a shared key', 'header', { ...good, apu: 'AAAA' }],
  ['no kid', 'header', { alg: 'A256KW', enc: 'A256GCM' }],
  ['kid a number', 'header', { ...good, kid: 1 }],
  ['kid empty', 'header', { ...good, kid: '' }],
  ['kid with a line break', 'header', { ...good, kid: 'key-1\n' }],
  ['kid of 129 characters', 'header', { ...good, kid: 'k'.repeat(129) }],
  ['kid an object', 'header', { ...good, kid: { toString: 'key-1' } }],
  ['typ a number', 'header', { ...good, typ: 1 }],
  ['cty very long', 'header', { ...good, cty: 'x'.repeat(101) }],
  ['alg twice', 'header', '{"alg":"dir","enc":"A256GCM","kid":"key-1","alg":"A256KW"}'],
  ['kid twice, once escaped', 'header', '{"alg":"A256KW","enc":"A256GCM","kid":"key-1","\\u006bid":"key-2"}'],
  ['a list', 'header', '["A256KW"]'],
  ['null', 'header', 'null'],
  ['a string', 'header', '"A256KW"'],
  ['nothing', 'header', ''],
  ['not JSON', 'header', '{alg:"A256KW"}'],
  ['more after the object', 'header', `${JSON.stringify(good)}{}`],
  ['invalid UTF-8', 'header', Buffer.concat([Buffer.from('{"kid":"'), Buffer.of(0xff), Buffer.from('"}')])],
  ['a byte order mark', 'header', `\ufeff${JSON.stringify(good)}`],
  ['deep nesting', 'header', `${'['.repeat(700)}${']'.repeat(700)}`],
  ['more than 2,048 characters', 'header', JSON.stringify(good) + ' '.repeat(1_600)],
  ['no epk', 'header', { ...good, alg: 'ECDH-ES+A256KW' }],
  ['epk null', 'header', { ...agreed, epk: null }],
  ['epk a list', 'header', { ...agreed, epk: [epk] }],
  ['epk with a private part', 'header', { ...agreed, epk: { ...epk, d: epk.x } }],
  ['epk with another member', 'header', { ...agreed, epk: { ...epk, kid: 'x' } }],
  ['epk with y on X25519', 'header', { ...agreed, epk: { ...epk, y: epk.x } }],
  ['epk without y on P-256', 'header', { ...agreed, epk: { kty: 'EC', crv: 'P-256', x: point.x } }],
  ['epk on P-384', 'header', { ...agreed, epk: { ...point, crv: 'P-384' } }],
  ['epk on secp256k1', 'header', { ...agreed, epk: { ...point, crv: 'secp256k1' } }],
  ['epk on X448', 'header', { ...agreed, epk: { ...epk, crv: 'X448', x: b64(randomBytes(56)) } }],
  ['epk of Ed25519', 'header', { ...agreed, epk: { ...epk, crv: 'Ed25519' } }],
  ['epk with kty and crv at odds', 'header', { ...agreed, epk: { ...epk, kty: 'EC' } }],
  ['epk of 31 bytes', 'header', { ...agreed, epk: { ...epk, x: b64(randomBytes(31)) } }],
  ['epk padded', 'header', { ...agreed, epk: { ...epk, x: `${epk.x}=` } }],
  ['epk with stray bits', 'header', { ...agreed, epk: { ...epk, x: `${'A'.repeat(42)}B` } }],
  ['apu not base64url', 'header', { ...agreed, apu: 'a+b/' }],
  ['apu a number', 'header', { ...agreed, apu: 1 }],
  ['apv of 129 bytes', 'header', { ...agreed, apv: b64(randomBytes(129)) }],
  ['apu equal to apv', 'header', { ...agreed, apu: 'QWxpY2U', apv: 'QWxpY2U' }],
]

describe('a hostile header', () => {
  test.each(headerAttacks)(
    '%s: refused as %s, 1,000 times, without a look at any key',
    async (_name, fault, header) => {
      const { seen, find } = recorder('A256KW', secret)
      const text = sealWithHeader(header)
      for (let i = 0; i < 1_000; i++) {
        const rejected = await openSeal(text, find).then(
          () => 'it opened',
          (error: unknown) => (error instanceof SealRejected ? error.fault : error),
        )
        if (rejected !== fault) expect(rejected).toBe(fault)
      }
      expect(seen).toEqual({ looked: [], keyReads: 0 })
    },
  )

  test('the maker of these attacks makes seals that open when the header is good', async () => {
    const opened = await openSeal(
      sealWithHeader({ ...good, typ: 'JOSE', cty: 'json' }),
      recorder('A256KW', secret).find,
    )
    expect(opened.plaintext).toEqual(plaintext)
  })

  test('any JSON at all for a header is refused or opens, and never fails in another way', async () => {
    const member = fc.constantFrom('alg', 'enc', 'kid', 'epk', 'apu', 'zip', 'crit', 'typ')
    const value = fc.oneof(
      fc.constantFrom('A256KW', 'A256GCM', 'ECDH-ES+A256KW', 'key-1', epk, point),
      fc.jsonValue(),
    )
    const headers = fc.oneof(fc.dictionary(member, value), fc.jsonValue())
    await fc.assert(
      fc.asyncProperty(headers, async (header) => {
        const text = sealWithHeader(JSON.stringify(header))
        await openSeal(text, recorder('A256KW', secret).find).catch((error: unknown) => {
          expect(error).toBeInstanceOf(SealRejected)
        })
      }),
      { numRuns: 500 },
    )
  })

  test.each(kinds)(
    '%s (%s) named for a key of another algorithm: the key is found, and never used',
    async (alg, kind, sealing) => {
      const text = await seal(plaintext, sealKey(alg, sealing))
      for (const [otherAlg, otherKind, , other] of kinds.filter(([candidate]) => candidate !== alg)) {
        const { seen, find } = recorder(otherAlg, other)
        expect((await rejection(text, find)).fault, `${kind} for ${otherKind}`).toBe('algorithm')
        expect(seen).toEqual({ looked: ['key-1'], keyReads: 0 })
      }
    },
  )

  test('a public key of ours taken for a shared secret opens nothing', async () => {
    const published = pairs.RSA.publicKey.export({ format: 'der', type: 'spki' })
    const forged = sealWithHeader(good, createSecretKey(createHash('sha256').update(published).digest()))
    expect((await rejection(forged, recorder('RSA-OAEP-256', pairs.RSA.privateKey).find)).fault).toBe(
      'algorithm',
    )
  })
})

describe('the ephemeral key of a seal', () => {
  const p256 = () => sealKey('ECDH-ES+A256KW', pairs['P-256'].privateKey)
  const x25519 = () => sealKey('ECDH-ES+A256KW', pairs.X25519.privateKey)
  const hex = (text: string) => b64(Buffer.from(text, 'hex'))

  test.each([
    ['x and y swapped', point.y, point.x],
    ['the point at infinity, as zeros', hex('00'.repeat(32)), hex('00'.repeat(32))],
    ['x beyond the field', hex('ff'.repeat(32)), point.y],
    // A point of another curve of the same form: the invalid-curve attack on ECDH-ES (RFC 8725 §2.5).
    ['y plus one', point.x, b64(plusOne(Buffer.from(point.y!, 'base64url')))],
  ])('a P-256 key that is no point of the curve (%s) is refused', async (_name, x, y) => {
    const text = sealWithHeader({ ...agreed, epk: { kty: 'EC', crv: 'P-256', x, y } })
    expect((await rejection(text, p256)).fault).toBe('header')
  })

  test.each([
    '0000000000000000000000000000000000000000000000000000000000000000',
    '0100000000000000000000000000000000000000000000000000000000000000',
    'e0eb7a7c3b41b8ae1656e3faf19fc46ada098deb9c32b1fd866205165f49b800',
    '5f9c95bca3508c24b1d0b1559c83ef5b04445cc4581c8e86d8224eddd09f1157',
    'ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f',
    'edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f',
    'eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f',
    '0000000000000000000000000000000000000000000000000000000000000080',
  ])('the X25519 key %s of low order is refused', async (low) => {
    const text = sealWithHeader({ ...agreed, epk: { ...epk, x: hex(low) } })
    expect((await rejection(text, x25519)).fault).toBe('header')
  })

  test('a key on the other curve is refused', async () => {
    expect((await rejection(sealWithHeader(agreed), p256)).fault).toBe('header')
    expect((await rejection(sealWithHeader({ ...agreed, epk: point }), x25519)).fault).toBe('header')
  })
})

function plusOne(bytes: Buffer): Buffer {
  const sum = BigInt(`0x${bytes.toString('hex')}`) + 1n
  return Buffer.from(sum.toString(16).padStart(64, '0').slice(-64), 'hex')
}
