import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Client, type Json, payloadOf } from '../harness/client.ts'
import { asPartner, createCard, newPartner, type TestPartner } from '../harness/partner.ts'
import { openService, type TestService } from '../harness/service.ts'

// In a file of its own: it moves the clock, and only forwards.
let service: TestService
let partner: TestPartner
let client: Client

beforeAll(async () => {
  service = await openService()
  partner = await newPartner(service)
  client = await asPartner(service.client, partner)
})
afterAll(() => service.close())

const DAY_MS = 86_400_000
/** 00:00 in Asia/Kolkata is 18:30 UTC of the day before. */
const KOLKATA_MS = 5.5 * 3_600_000

/** Moves the clock to this wall-clock time in Asia/Kolkata, with a token that is valid then. */
async function moveTo(year: number, month: number, day: number, hour = 12, minute = 0): Promise<void> {
  service.clock.advance(Date.UTC(year, month - 1, day, hour, minute) - KOLKATA_MS - service.clock.now())
  client = await asPartner(service.client, partner)
}
const usedOf = async (svcCardId: string): Promise<number[]> => {
  const { usedDtd, usedMtd, usedYtd, usedLtd }: Json = payloadOf(
    await client.get(`/api/v0/partner/svcCard/${svcCardId}`),
  )
  return [usedDtd, usedMtd, usedYtd, usedLtd]
}
const spend = async (svcCardId: string, amount: number) =>
  payloadOf(await service.client.post(`/sandbox/cards/${svcCardId}/spend`, { amount, channel: 'pos' }))

test('the used fields reset at midnight, on the first of the month and of the year, in the business zone', async () => {
  const { svcCardId } = payloadOf(await createCard(client, partner, { loadAmount: 5000 }))
  const year = new Date(service.clock.now() + DAY_MS * 40).getUTCFullYear() + 1
  await moveTo(year, 3, 30, 23, 50)
  await spend(svcCardId, 1)
  expect(await usedOf(svcCardId)).toEqual([1, 1, 1, 1])
  await moveTo(year, 3, 31, 0, 10)
  expect(await usedOf(svcCardId)).toEqual([0, 1, 1, 1])
  await spend(svcCardId, 10)
  expect(await usedOf(svcCardId)).toEqual([10, 11, 11, 11])
  await moveTo(year, 4, 1, 0, 10)
  expect(await usedOf(svcCardId)).toEqual([0, 0, 11, 11])
  await spend(svcCardId, 100)
  expect(await usedOf(svcCardId)).toEqual([100, 100, 111, 111])
  await moveTo(year, 12, 31, 23, 50)
  await spend(svcCardId, 1000)
  expect(await usedOf(svcCardId)).toEqual([1000, 1000, 1111, 1111])
  // In UTC it is still the last day of the year.
  await moveTo(year + 1, 1, 1, 0, 10)
  expect(await usedOf(svcCardId)).toEqual([0, 0, 0, 1111])
})

test('a card is valid through the last minute of its month in the business zone, and not after', async () => {
  const { svcCardId, expiryMonth, expiryYear } = payloadOf(await createCard(client, partner))
  const [year, month] = [Number(expiryYear), Number(expiryMonth)]
  const lastDay = new Date(Date.UTC(year, month, 0)).getUTCDate()
  await moveTo(year, month, lastDay, 23, 58)
  await spend(svcCardId, 100)
  await moveTo(month === 12 ? year + 1 : year, (month % 12) + 1, 1, 0, 1)
  const late = await service.client.post(`/sandbox/cards/${svcCardId}/spend`, { amount: 1, channel: 'pos' })
  expect(late).toMatchObject({ status: 422, error: 'card_not_usable' })
  expect(
    payloadOf(await service.client.post(`/sandbox/cards/${svcCardId}/refund`, { amount: 100 })).otbBalance,
  ).toBe(500)
})
