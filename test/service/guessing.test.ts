import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openService, type TestMerchant, type TestService, tokenOf } from '../harness/service.ts'

const GUESSES = 1_000

let service: TestService
let merchant: TestMerchant

beforeAll(async () => {
  service = await openService()
  merchant = await service.newMerchant()
})
afterAll(() => service.close())

test('1,000 wrong keys in a minute are slowed down, and a legitimate caller at the same time is always served', async () => {
  const perMinute = service.app.services.config.FAILED_ATTEMPTS_PER_MINUTE
  const statuses: number[] = []
  let tokens = 0
  for (let i = 0; i < GUESSES; i++) {
    // Of the merchant's own prefix, so that guesser and rightful caller share what is counted: address and prefix.
    const guess = merchant.apiKey.slice(0, 12) + randomBytes(24).toString('hex')
    const response = await service.client.post('/api/v0/merchant/token', undefined, { 'api-key': guess })
    statuses.push(response.status)
    if (response.status === 429) expect(Number(response.headers['retry-after'])).toBeGreaterThan(0)
    if (i % 10 > 0) continue
    // Throws on anything but a token.
    expect(await tokenOf(service.client, merchant.apiKey)).toMatch(/^ey/)
    tokens++
  }
  expect(statuses.slice(0, perMinute / 2)).not.toContain(429)
  expect(new Set(statuses.slice(perMinute))).toEqual(new Set([429]))
  expect(tokens).toBe(GUESSES / 10)
})
