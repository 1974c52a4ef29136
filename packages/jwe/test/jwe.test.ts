import { createHash, createSecretKey, randomBytes } from 'node:crypto'
import { decryptJwe, encrypt } from '@svc/jwe/jwe'
import { JWE_ERROR_REASONS } from '@svc/jwe/jwe-error'
import { newJweKeyPair } from '@svc/jwe/keys'
import { CompactEncrypt, compactDecrypt } from 'jose'
import { describe, expect, test } from 'vitest'
import {
  encryptWithHeader,
  jweKey,
  keyRing,
  kinds,
  pairs,
  plaintext,
  recorder,
  rejection,
  secret,
} from './compact-jwes.ts'
import { b64, good } from './forged.ts'

describe.each(kinds)('%s with a %s key', (alg, _kind, encryption, opening) => {
  const find = keyRing(alg, opening)

  test('encrypted bytes decrypt to the same bytes', async () => {
    for (const body of [plaintext, Buffer.alloc(0), randomBytes(40_000)]) {
      const opened = await decryptJwe(await encrypt(body, jweKey(alg, encryption)), find)
      expect(opened.plaintext.equals(body)).toBe(true)
      expect(opened).toMatchObject({ kid: 'key-1', alg })
    }
  })

  test('jose decrypts JWEs of the package, and the package decrypts those of jose', async () => {
    const ours = await encrypt(plaintext, jweKey(alg, encryption))
    expect(Buffer.from((await compactDecrypt(ours, opening)).plaintext)).toEqual(plaintext)
    const header = { alg, enc: 'A256GCM', kid: 'key-1', typ: 'JOSE', cty: 'application/json' }
    const theirs = await new CompactEncrypt(plaintext).setProtectedHeader(header).encrypt(encryption)
    expect((await decryptJwe(theirs, find)).plaintext).toEqual(plaintext)
  })

  test('two JWEs of the same bytes have nothing in common', async () => {
    const [one, two] = (await Promise.all([1, 2].map(() => encrypt(plaintext, jweKey(alg, encryption))))).map(
      (text) => text.split('.'),
    )
    for (const part of [1, 2, 3, 4]) expect(one![part]).not.toBe(two![part])
  })

  test('the hash covers the decoded IV, ciphertext and tag', async () => {
    const text = await encrypt(plaintext, jweKey(alg, encryption))
    const [iv, ciphertext, tag] = text
      .split('.')
      .slice(2)
      .map((part) => Buffer.from(part, 'base64url'))
    const expected = createHash('sha256')
      .update(Buffer.concat([iv!, ciphertext!, tag!]))
      .digest()
    expect((await decryptJwe(text, find)).ciphertextHash).toEqual(expected)
  })

  test('a JWE with any one character changed is rejected', async () => {
    const text = await encrypt(plaintext, jweKey(alg, encryption))
    const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'
    for (let at = 0; at < text.length; at++) {
      const value = alphabet.indexOf(text[at]!)
      // The neighbour differs in the last bit only, which is a stray bit at the end of some parts.
      const others =
        value < 0 ? ['A', ''] : [alphabet[value ^ 1]!, alphabet[(value + 17) % 64]!, '.', '=', '+']
      for (const other of others) await rejection(text.slice(0, at) + other + text.slice(at + 1), find)
    }
  })

  test('a truncated or extended JWE is rejected', async () => {
    const text = await encrypt(plaintext, jweKey(alg, encryption))
    for (let end = 0; end < text.length; end++) await rejection(text.slice(0, end), find)
    for (const more of ['A', 'AAAA', '=', '.', '.AAAA', '\n', ' ']) {
      await rejection(text + more, find)
      await rejection(more + text, find)
    }
  })

  test('a JWE encrypted for another key of the same kind does not decrypt', async () => {
    const other =
      alg === 'A256KW' ? createSecretKey(randomBytes(32)) : newJweKeyPair(_kind as 'RSA').privateKey
    const text = await encrypt(plaintext, jweKey(alg, encryption))
    expect((await rejection(text, () => jweKey(alg, other))).reason).toBe('tag')
  })
})

describe('the parts of a JWE', () => {
  const { find } = recorder('A256KW', secret)
  const parts = encryptWithHeader(good).split('.')
  const withPart = (at: number, part: string) => parts.with(at, part).join('.')

  test.each([
    ['nothing', ''],
    ['one part', 'abc'],
    ['four parts', parts.slice(0, 4).join('.')],
    ['six parts', `${parts.join('.')}.`],
    ['60,000 dots', '.'.repeat(60_000)],
    ['JSON serialization', JSON.stringify({ protected: parts[0], ciphertext: parts[3] })],
    ['an IV of 64 bits', withPart(2, b64(randomBytes(8)))],
    ['an IV of 128 bits', withPart(2, b64(randomBytes(16)))],
    ['no IV', withPart(2, '')],
    ['a tag of 96 bits', withPart(4, parts[4]!.slice(0, 16))],
    ['a tag of 32 bits', withPart(4, b64(Buffer.from(parts[4]!, 'base64url').subarray(0, 4)))],
    ['no tag', withPart(4, '')],
    ['no encrypted key', withPart(1, '')],
    ['an encrypted key of 24 bytes', withPart(1, b64(randomBytes(24)))],
    ['an encrypted key of 48 bytes', withPart(1, b64(randomBytes(48)))],
  ])('%s is not a JWE', async (_name, text) => {
    expect((await rejection(text, find)).reason).toBe('not_jwe')
  })

  test.each([0, 1, 2, 3, 4])('part %i in any other spelling of the same bytes is rejected', async (at) => {
    // Repeated until the part is sure to have a spelling with stray bits, '-' or '_'.
    for (let i = 0; i < 50; i++) {
      const fresh = encryptWithHeader(at === 0 ? { ...good, typ: 'x'.repeat(i) } : good).split('.')
      const part = fresh[at]!
      const spellings = [
        `${part}=`,
        `${part}==`,
        ` ${part}`,
        `${part}\n`,
        `${part}\0`,
        `${part.slice(0, 3)}\u00e9${part.slice(3)}`,
      ]
      if (/[-_]/.test(part)) spellings.push(part.replaceAll('-', '+').replaceAll('_', '/'))
      const bytes = Buffer.from(part, 'base64url')
      for (const last of 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_') {
        const respelled = part.slice(0, -1) + last
        if (respelled !== part && Buffer.from(respelled, 'base64url').equals(bytes)) spellings.push(respelled)
      }
      for (const spelling of spellings)
        expect((await rejection(fresh.with(at, spelling).join('.'), find)).reason).toBe('not_canonical')
    }
  })

  test('65,537 characters are rejected unread, 65,536 are read', async () => {
    expect((await rejection('.'.repeat(65_537), find)).reason).toBe('too_large')
    expect((await rejection('.'.repeat(65_536), find)).reason).toBe('not_jwe')
  })

  test('an encrypted key that does not unwrap is never replaced by one that a forger can guess', async () => {
    const otherKey = createSecretKey(randomBytes(32))
    for (const guess of [Buffer.alloc(32), Buffer.alloc(32, 0xff), Buffer.alloc(32, 0xa6)])
      expect((await rejection(encryptWithHeader(good, otherKey, guess), find)).reason).toBe('tag')
  })

  test('an RSA encrypted key of another size than the modulus is rejected', async () => {
    const text = (await encrypt(plaintext, jweKey('RSA-OAEP-256', pairs.RSA.publicKey))).split('.')
    for (const size of [0, 1, 40, 255, 257, 512]) {
      const forged = text.with(1, b64(randomBytes(size))).join('.')
      expect((await rejection(forged, () => jweKey('RSA-OAEP-256', pairs.RSA.privateKey))).reason).toBe('tag')
    }
  })
})

describe('what a caller learns', () => {
  test('an unknown kid is reported as such, with the kid and alg of the header', async () => {
    const rejected = await rejection(
      encryptWithHeader({ ...good, kid: 'key-9' }),
      recorder('A256KW', secret).find,
    )
    expect(rejected).toMatchObject({
      reason: 'unknown_kid',
      kid: 'key-9',
      alg: 'A256KW',
      message: JWE_ERROR_REASONS.unknown_kid,
    })
  })

  test('a key found under another kid than the requested one counts as unknown', async () => {
    const text = encryptWithHeader({ ...good, kid: 'KEY-1' })
    expect((await rejection(text, () => jweKey('A256KW', secret))).reason).toBe('unknown_kid')
  })

  test('no message repeats any part of the JWE', async () => {
    const mark = 'QxZ9markQxZ9'
    for (const header of [
      { ...good, [mark]: 1 },
      { ...good, alg: mark },
      { ...good, kid: mark },
      `{"${mark}`,
    ]) {
      const rejected = await rejection(encryptWithHeader(header), recorder('A256KW', secret).find)
      expect(rejected.message).not.toContain(mark)
    }
  })

  test('a failure of the key store is not reported as an error of the JWE', async () => {
    const down = new Error('the key store is down')
    await expect(decryptJwe(encryptWithHeader(good), () => Promise.reject(down))).rejects.toBe(down)
  })
})
