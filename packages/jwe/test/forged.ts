import { createCipheriv, type KeyObject, randomBytes } from 'node:crypto'
import type { JweErrorReason } from '@svc/jwe/jwe-error'
import { newJweKeyPair } from '@svc/jwe/keys'

export const b64 = (bytes: Uint8Array | string) => Buffer.from(bytes as string).toString('base64url')

interface Inside {
  readonly plaintext: Uint8Array
  readonly contentKey?: Buffer
}

/** a JWE with any header text at all, whose tag is right for the secret key: only the header can be refused. */
export function encryptWithHeader(
  header: string | object | Buffer,
  wrapWith: KeyObject,
  { plaintext, contentKey = randomBytes(32) }: Inside,
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
export const P256_PAIR = newJweKeyPair('P-256')
export const point = P256_PAIR.publicKey.export({ format: 'jwk' })
export const agreed = { ...good, alg: 'ECDH-ES+A256KW', epk }

/** Headers that are refused, as what, and why. */
export const HEADER_ATTACKS: [string, JweErrorReason, string | object | Buffer][] = [
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
  ['epk with a shared secret', 'header', { ...agreed, epk: { ...epk, k: epk.x } }],
  ['epk with a private part of null', 'header', { ...agreed, epk: { ...epk, d: null } }],
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

/** Points of X25519 on which every agreement comes to nothing, or to one of few values. */
export const LOW_ORDER_POINTS = [
  '0000000000000000000000000000000000000000000000000000000000000000',
  '0100000000000000000000000000000000000000000000000000000000000000',
  'e0eb7a7c3b41b8ae1656e3faf19fc46ada098deb9c32b1fd866205165f49b800',
  '5f9c95bca3508c24b1d0b1559c83ef5b04445cc4581c8e86d8224eddd09f1157',
  'ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f',
  'edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f',
  'eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f',
  '0000000000000000000000000000000000000000000000000000000000000080',
]
