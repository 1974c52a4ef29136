import { randomBytes } from 'node:crypto'
import { apiKeyPrefix, looksLikeApiKey, newApiKey } from '@svc/core/tenants/api-key'
import { expect, test } from 'vitest'

const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz'
const EVERY_OTHER = [...'0123456789abcdefghijklmnopqrstuvwxyzABCXYZ_-. ']

test('10,000 keys are all different, of the documented form, and of 160 bits that are all used', () => {
  const keys = Array.from({ length: 10_000 }, () => newApiKey('test', randomBytes).reveal())
  expect(new Set(keys).size).toBe(10_000)
  expect(new Set(keys.map((key) => key.split('_')[2])).size).toBe(10_000)
  for (const key of keys) expect(key).toMatch(/^svc_test_[0-9a-hjkmnp-tv-z]{32}_[0-9a-hjkmnp-tv-z]{6}$/)
  expect(keys.every(looksLikeApiKey)).toBe(true)
  for (let place = 0; place < 32; place++) {
    const seen = new Set(keys.map((key) => key['svc_test_'.length + place]))
    expect([...seen].sort().join('')).toBe(ALPHABET)
  }
})

test('the checksum detects every change of one character and every swap of neighbours', () => {
  for (const key of [newApiKey('test', randomBytes).reveal(), newApiKey('live', randomBytes).reveal()]) {
    for (let at = 0; at < key.length; at++) {
      for (const char of EVERY_OTHER) {
        if (char === key[at]) continue
        expect(looksLikeApiKey(key.slice(0, at) + char + key.slice(at + 1)), `${char} at ${at}`).toBe(false)
      }
      const swapped = key.slice(0, at) + key.slice(at + 1, at + 2) + key[at] + key.slice(at + 2)
      if (swapped !== key && swapped.length === key.length) expect(looksLikeApiKey(swapped)).toBe(false)
    }
  }
})

test('a key that is longer or shorter, or inside other text, is not recognised as one', () => {
  const key = newApiKey('test', randomBytes).reveal()
  for (const text of [
    '',
    key.slice(1),
    key.slice(0, -1),
    `${key}0`,
    ` ${key}`,
    `${key}\n`,
    `${key}_${key}`,
    key.replace('test', 'demo'),
  ])
    expect(looksLikeApiKey(text)).toBe(false)
})

test('the visible part of a key leaves at least 128 of its bits unknown', () => {
  const key = newApiKey('test', randomBytes).reveal()
  const shown = apiKeyPrefix(key)
  expect(key.startsWith(shown)).toBe(true)
  expect((32 - (shown.length - 'svc_test_'.length)) * 5).toBeGreaterThanOrEqual(128)
})
