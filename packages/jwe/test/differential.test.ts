import { decryptJwe, encrypt } from '@svc/jwe/jwe'
import * as fc from 'fast-check'
import { CompactEncrypt, compactDecrypt } from 'jose'
import { describe, expect, test } from 'vitest'
import { agreeing, jweKey, keyRing, kinds, rejection } from './compact-jwes.ts'
import { b64 } from './forged.ts'

describe('compared with jose', () => {
  const party = fc.option(fc.uint8Array({ maxLength: 128 }), { nil: undefined })
  const body = fc.uint8Array({ maxLength: 300 })

  test.each(agreeing)(
    '%s (%s): any JWE of jose, with any apu and apv, decrypts to the same bytes',
    async (alg, _kind, encryption, opening) => {
      await fc.assert(
        fc.asyncProperty(body, party, party, async (bytes, apu, apv) => {
          fc.pre(apu === undefined || apv === undefined || Buffer.compare(apu, apv) !== 0)
          const text = await new CompactEncrypt(bytes)
            .setProtectedHeader({ alg, enc: 'A256GCM', kid: 'key-1' })
            .setKeyManagementParameters({ ...(apu && { apu }), ...(apv && { apv }) })
            .encrypt(encryption)
          expect((await decryptJwe(text, () => jweKey(alg, opening))).plaintext).toEqual(Buffer.from(bytes))
        }),
        { numRuns: 100 },
      )
    },
  )

  test.each(kinds)(
    '%s (%s): jose decrypts any JWE of the package to the same bytes',
    async (alg, _kind, encryption, opening) => {
      await fc.assert(
        fc.asyncProperty(body, async (bytes) => {
          const text = await encrypt(bytes, jweKey(alg, encryption))
          expect(Buffer.from((await compactDecrypt(text, opening)).plaintext)).toEqual(Buffer.from(bytes))
        }),
        { numRuns: 50 },
      )
    },
  )

  test.each(kinds)(
    '%s (%s): with any one bit of any part flipped, both reject it',
    async (alg, _kind, encryption, opening) => {
      await fc.assert(
        fc.asyncProperty(
          fc.nat(4),
          fc.nat(),
          fc.uint8Array({ minLength: 1, maxLength: 60 }),
          async (at, bit, bytes) => {
            const parts = (await encrypt(bytes, jweKey(alg, encryption))).split('.')
            const altered = Buffer.from(parts[at]!, 'base64url')
            altered[(bit >> 3) % altered.length]! ^= 1 << (bit & 7)
            const text = parts.with(at, b64(altered)).join('.')
            await rejection(text, keyRing(alg, opening))
            await expect(compactDecrypt(text, opening)).rejects.toThrow()
          },
        ),
        { numRuns: 150 },
      )
    },
  )
})
