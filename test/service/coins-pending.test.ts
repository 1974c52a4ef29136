import { expireDueCoins } from '@svc/core/coins/expire-coins'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Client, type Json, payloadOf } from '../harness/client.ts'
import {
  asCoinPartner,
  balanceOf,
  COINS,
  differencesOf,
  eventsOf,
  historyOf,
  newCoinPartner,
  newConfig,
  newUsers,
} from '../harness/coins.ts'
import type { TestPartner } from '../harness/partner.ts'
import { openService, type TestService } from '../harness/service.ts'

const DAY = 86_400_000

let service: TestService
let partner: TestPartner
let client: Client
let requests = 0

beforeAll(async () => {
  service = await openService()
  ;({ partner, client } = await newCoinPartner(service))
})
afterAll(async () => {
  expect(await differencesOf(service)).toEqual([])
  await service.close()
})

const pass = async (ms: number): Promise<void> => {
  service.clock.advance(ms)
  client = await asCoinPartner(service.client, partner)
}

const allocate = (userId: string, event: string, more: object = {}) =>
  client.post(`${COINS}/allocate`, {
    requestId: `pending-${requests++}`,
    event,
    userId,
    companyId: partner.companyId,
    ...more,
  })
const confirm = (allocationId: string) => client.post(`${COINS}/allocations/${allocationId}/confirm`, {})
const voids = (allocationId: string, requestId = `void-${requests++}`) =>
  client.post(`${COINS}/allocations/${allocationId}/void`, { requestId, reason: 'order returned' })
const stateOf = async (allocationId: string): Promise<Json> =>
  payloadOf(await client.get(`${COINS}/allocations/${allocationId}`))
const redeem = (userId: string, amount: number) =>
  client.post(`${COINS}/redeem`, { requestId: `spend-${requests++}`, userId, amount })
const kinds = async (userId: string) =>
  (await historyOf(client, userId)).map(({ kind, amount, balance }) => [kind, amount, balance])

async function newUser(): Promise<string> {
  const [userId] = await newUsers(service, partner, 1)
  return userId!
}

test('an award that is active at once looks as it did before pending awards were introduced', async () => {
  const { event } = await newConfig(client)
  const made = payloadOf(await allocate(await newUser(), event))
  expect(made).not.toHaveProperty('pending')
  expect(made).not.toHaveProperty('activatesOn')
  expect(payloadOf(await client.post(`${COINS}/search`, { event })).data[0]).not.toHaveProperty('activation')
})

test('a delayed award is pending, cannot be redeemed, and is active from its instant on without a sweep', async () => {
  const userId = await newUser()
  const { event } = await newConfig(client, { activateAfterDays: 1, coinsExpireAfterDays: 2 })
  const made = payloadOf(await allocate(userId, event))
  expect(made).toMatchObject({ outcome: 'ALLOCATED', pending: true, amount: 10, balance: 0 })
  expect(Date.parse(made.activatesOn) - Date.parse(made.createdOn)).toBe(DAY)
  expect(Date.parse(made.expiresOn) - Date.parse(made.createdOn)).toBe(3 * DAY)
  expect(await balanceOf(client, userId)).toMatchObject({ active: 0, pending: 10 })
  expect((await redeem(userId, 1)).error).toBe('insufficient_coins')

  await pass(DAY - 60_000)
  expect(await balanceOf(client, userId)).toMatchObject({ active: 0, pending: 10 })
  await pass(60_000)
  expect(await balanceOf(client, userId)).toMatchObject({
    active: 10,
    pending: 0,
    nextExpiry: { coins: 10, expiresOn: made.expiresOn },
  })
  expect(await stateOf(made.allocationId)).toMatchObject({ pending: 0, remaining: 10 })
  expect(payloadOf(await redeem(userId, 4)).balance).toBe(6)
  expect(await kinds(userId)).toEqual([
    ['PENDING', 10, 0],
    ['ACTIVATED', 10, 10],
    ['REDEEMED', 4, 6],
  ])
  await pass(2 * DAY)
  expect(await balanceOf(client, userId)).toMatchObject({ active: 0, spent: 4, expired: 6 })
})

test('the sweep activates due awards and publishes each once; an award whose both times passed expires whole', async () => {
  const userId = await newUser()
  const { event } = await newConfig(client, { activateAfterDays: 1, coinsExpireAfterDays: 1 })
  const { allocationId } = payloadOf(await allocate(userId, event))
  await pass(DAY)
  await expireDueCoins(service.app.services)
  await expireDueCoins(service.app.services)
  const second = payloadOf(await allocate(userId, event))
  await pass(2 * DAY)
  expect(await balanceOf(client, userId)).toMatchObject({ active: 0, pending: 0, expired: 20 })
  expect(await stateOf(second.allocationId)).toMatchObject({ pending: 0, remaining: 0, expired: 10 })
  await expireDueCoins(service.app.services)
  expect(await kinds(userId)).toEqual([
    ['PENDING', 10, 0],
    ['ACTIVATED', 10, 10],
    ['PENDING', 10, 10],
    ['ACTIVATED', 10, 20],
    ['EXPIRED', 10, 10],
    ['EXPIRED', 10, 0],
  ])
  const published = await eventsOf(service, 'coins.activated', userId)
  expect(published.map((event) => event.allocationId)).toEqual([allocationId, second.allocationId])
  expect(published[0]).toMatchObject({ userId, amount: 10, balance: 10 })
})

test('an award that waits for confirmation becomes active once; confirming again returns the first response', async () => {
  const userId = await newUser()
  const { event } = await newConfig(client, { activation: 'CONFIRMATION', coinsExpireAfterDays: 1 })
  const body = { requestId: 'first-confirmed' }
  const made = await allocate(userId, event, body)
  const { allocationId, expiresOn, activatesOn } = payloadOf(made)
  expect([expiresOn, activatesOn]).toEqual([undefined, undefined])
  await pass(5 * DAY)
  expect(await balanceOf(client, userId)).toMatchObject({ active: 0, pending: 10 })
  const first = await confirm(allocationId)
  const activation = payloadOf(first)
  expect(activation).toMatchObject({ allocationId, userId, amount: 10, balance: 10 })
  expect(Date.parse(activation.expiresOn) - Date.parse(activation.activatedOn)).toBe(DAY)
  payloadOf(await redeem(userId, 3))
  expect((await confirm(allocationId)).text).toBe(first.text)
  expect((await allocate(userId, event, body)).text).toBe(made.text)
  expect(await balanceOf(client, userId)).toMatchObject({ active: 7, pending: 0, spent: 3 })
})

test('only an award that waits for confirmation can be confirmed', async () => {
  const userId = await newUser()
  const atOnce = await newConfig(client)
  const later = await newConfig(client, { activateAfterDays: 2 })
  for (const { event } of [atOnce, later]) {
    const { allocationId } = payloadOf(await allocate(userId, event))
    expect((await confirm(allocationId)).error).toBe('coin_allocation_not_awaiting_confirmation')
  }
  expect((await confirm('cal_nothing')).error).toBe('coin_allocation_not_found')
})

test('a voided pending award is reversed, never becomes active, and cannot be confirmed', async () => {
  const userId = await newUser()
  const confirmed = await newConfig(client, { activation: 'CONFIRMATION' })
  const delayed = await newConfig(client, { activateAfterDays: 1 })
  const ids: string[] = []
  for (const { event } of [confirmed, delayed])
    ids.push(payloadOf(await allocate(userId, event)).allocationId)
  for (const allocationId of ids)
    expect(payloadOf(await voids(allocationId))).toMatchObject({
      pending: true,
      amount: 10,
      shortfall: 0,
      balance: 0,
      allocations: [{ allocationId, amount: 10 }],
    })
  expect((await confirm(ids[0]!)).error).toBe('coin_allocation_voided')
  await pass(2 * DAY)
  await expireDueCoins(service.app.services)
  expect(await balanceOf(client, userId)).toMatchObject({ active: 0, pending: 0, voided: 20 })
  expect((await kinds(userId)).map(([kind]) => kind)).toEqual([
    'PENDING',
    'PENDING',
    'PENDING_VOIDED',
    'PENDING_VOIDED',
  ])
})

test('pending awards count towards the daily limit, also voided ones', async () => {
  const userId = await newUser()
  const { event } = await newConfig(client, { activation: 'CONFIRMATION', perUserDailyLimit: 25 })
  const { allocationId } = payloadOf(await allocate(userId, event))
  payloadOf(await allocate(userId, event))
  expect((await allocate(userId, event)).error).toBe('coin_daily_limit_reached')
  payloadOf(await voids(allocationId))
  expect((await allocate(userId, event)).error).toBe('coin_daily_limit_reached')
})

test('a configuration has one activation rule, and a merge patch changes it for later awards alone', async () => {
  const both = { activation: 'CONFIRMATION', activateAfterDays: 1 }
  const refused = await client.post(COINS, { event: 'both.rules', amount: 1, title: 'Both', ...both })
  expect(refused.error).toBe('validation_failed')
  const userId = await newUser()
  const { coinConfigId, event } = await newConfig(client, { activateAfterDays: 1 })
  const early = payloadOf(await allocate(userId, event))
  const path = `${COINS}/${coinConfigId}`
  const changed = await client.patch(path, { activateAfterDays: null }, { 'if-match': '"1"' })
  expect(payloadOf(changed)).not.toHaveProperty('activateAfterDays')
  payloadOf(await allocate(userId, event))
  expect(await balanceOf(client, userId)).toMatchObject({ active: 10, pending: 10 })
  expect(await stateOf(early.allocationId)).toMatchObject({ pending: 10, activatesOn: early.activatesOn })
})

test('a balance as of a past instant has what was pending, active and voided then', async () => {
  const userId = await newUser()
  const { event } = await newConfig(client, { activation: 'CONFIRMATION' })
  const { allocationId, createdOn } = payloadOf(await allocate(userId, event))
  await pass(60_000)
  const { activatedOn } = payloadOf(await confirm(allocationId))
  await pass(60_000)
  const voided = payloadOf(await voids(allocationId))
  const asOf = async (at: string) => {
    const { active, pending, voided } = payloadOf(
      await client.get(`${COINS}/users/${userId}/balance?asOf=${encodeURIComponent(at)}`),
    )
    return { active, pending, voided }
  }
  expect(await asOf(createdOn)).toEqual({ active: 0, pending: 10, voided: 0 })
  expect(await asOf(activatedOn)).toEqual({ active: 10, pending: 0, voided: 0 })
  expect(await asOf(voided.createdOn)).toEqual({ active: 0, pending: 0, voided: 10 })
})
