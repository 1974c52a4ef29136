import { randomBytes } from 'node:crypto'
import { inspect } from 'node:util'
import { newId } from '@svc/contract/id-kinds'
import { base32, inPieces, readId, sortableId } from '@svc/kernel/ids'
import { Secret } from '@svc/kernel/secret'
import fc from 'fast-check'
import { expect, test } from 'vitest'

const MS_MAX = 2 ** 48 - 1

test('an id created later sorts later, whatever its random part', () => {
  const instants = fc.integer({ min: 0, max: MS_MAX })
  const chance = fc.uint8Array({ minLength: 10, maxLength: 10 })
  fc.assert(
    fc.property(instants, instants, chance, chance, (a, b, first, second) => {
      fc.pre(a !== b)
      const ids = [sortableId(a, () => first), sortableId(b, () => second)]
      expect(ids[0]! < ids[1]!).toBe(a < b)
    }),
  )
})

test('an id has 26 characters of Crockford base 32 after its prefix', () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: MS_MAX }), (nowMs) => {
      expect(newId('qr', nowMs, randomBytes)).toMatch(/^qr_[0-9a-hjkmnp-tv-z]{26}$/)
    }),
  )
})

test('different bytes never become the same text', () => {
  const tenBytes = fc.uint8Array({ minLength: 10, maxLength: 10 })
  fc.assert(
    fc.property(tenBytes, tenBytes, (a, b) => {
      expect(base32(a) === base32(b)).toBe(Buffer.from(a).equals(Buffer.from(b)))
    }),
  )
})

test('a source read in pieces gives its bytes in order, each once, and whole reads of any size', () => {
  fc.assert(
    fc.property(fc.array(fc.nat(40), { maxLength: 50 }), (sizes) => {
      let next = 0
      const draw = inPieces((size) => Uint8Array.from({ length: size }, () => next++ % 251), 16)
      let last = -1
      for (const size of sizes) {
        const bytes = draw(size)
        expect(bytes.length).toBe(size)
        // A piece with too little left is dropped, so bytes may be passed over but never come again.
        const positions = [...bytes].map((byte) => {
          do last++
          while (last % 251 !== byte)
          return last
        })
        expect(positions.every((position, i) => i === 0 || position === positions[i - 1]! + 1)).toBe(true)
      }
      expect(last).toBeLessThan(Math.max(next, 1))
    }),
  )
})

test('a secret is revealed by reveal() alone', () => {
  const secret = new Secret('canary-of-a-secret')
  const shown = [
    String(secret),
    `${secret}`,
    JSON.stringify({ secret }),
    inspect({ secret }, { depth: 9, showHidden: true }),
    JSON.stringify(Object.entries(secret)),
  ]
  expect(shown.join()).not.toContain('canary')
  expect(secret.reveal()).toBe('canary-of-a-secret')
})

test('our ids are read in either case and without their separator; what has not their prefix is none', () => {
  for (const text of ['cau_01abc', ' CAU_01ABC ', 'CAU01ABC', 'cau-01abc'])
    expect(readId(text, 'cau')).toEqual({ value: 'cau_01abc' })
  for (const none of ['NA', '000000', 0, 'cau_', 'cmg_01abc', {}, 'undefined'])
    expect(readId(none, 'cau')).toHaveProperty('unreadable')
})
