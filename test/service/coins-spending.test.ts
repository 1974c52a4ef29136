import { expireDueCoins } from '@svc/core/coins/expire-coins'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { type Client, type Json, payloadOf } from '../harness/client.ts'
import { awardsOf, newRequest } from '../harness/coin-awards.ts'
import {
  asCoinPartner,
  balanceOf,
  COINS,
  differencesOf,
  historyOf,
  newCoinPartner,
  newConfig,
  newUsers,
} from '../harness/coins.ts'
import { expectFailure } from '../harness/failure.ts'
import type { TestPartner } from '../harness/partner.ts'
import { asSuperuser, openService, type TestService } from '../harness/service.ts'

const HOUR = 3_600_000
const DAY = 24 * HOUR

let service: TestService
let partner: TestPartner
let client: Client
let userId: string

beforeAll(async () => {
  service = await openService()
  ;({ partner, client } = await newCoinPartner(service))
})
beforeEach(async () => {
  userId = (await newUsers(service, partner, 1))[0]!
})
afterAll(async () => {
  expect(await differencesOf(service)).toEqual([])
  await service.close()
})
const { allocate, redeem, active } = awardsOf(() => ({ service, partner, client, userId }))

/** Moves the service's clock; tokens of before may have expired. */
async function pass(ms: number): Promise<void> {
  service.clock.advance(ms)
  client = await asCoinPartner(service.client, partner)
}

test('coins are spent first in, first out, and a redemption takes all its coins or none', async () => {
  const { event } = await newConfig(client, { amount: 10 })
  const lots: string[] = []
  for (let i = 0; i < 3; i++) lots.push(payloadOf(await allocate(event)).allocationId)
  expect(payloadOf(await redeem(15))).toMatchObject({ amount: 15, balance: 15 })
  expectFailure(await redeem(16), 'insufficient_coins')
  payloadOf(await redeem(15))
  expect(await balanceOf(client, userId)).toEqual({
    userId,
    active: 0,
    pending: 0,
    expired: 0,
    spent: 30,
    voided: 0,
  })
  const spent = (await historyOf(client, userId)).filter(({ kind }) => kind === 'REDEEMED')
  expect(spent.map(({ allocations }) => allocations)).toEqual([
    [
      { allocationId: lots[0], amount: 10 },
      { allocationId: lots[1], amount: 5 },
    ],
    [
      { allocationId: lots[1], amount: 5 },
      { allocationId: lots[2], amount: 10 },
    ],
  ])
})

test('a repeated redemption gets the first response and debits nothing again; with another amount 409', async () => {
  const { event } = await newConfig(client, { amount: 10 })
  payloadOf(await allocate(event))
  const requestId = newRequest()
  const first = await redeem(6, { requestId })
  payloadOf(first)
  expect((await redeem(6, { requestId })).text).toBe(first.text)
  expectFailure(await redeem(5, { requestId }), 'request_id_conflict')
  expect(await active()).toBe(4)
})

test('coins are unavailable from their last instant on, before they are written off, and cannot be spent', async () => {
  const { event } = await newConfig(client, { amount: 10, coinsExpireAfterDays: 2 })
  const made = payloadOf(await allocate(event))
  await pass(2 * DAY - HOUR)
  expect(await active()).toBe(10)
  await pass(Date.parse(made.expiresOn) - service.clock.now())
  expect(await balanceOf(client, userId)).toEqual({
    userId,
    active: 0,
    pending: 0,
    expired: 10,
    spent: 0,
    voided: 0,
  })
  expectFailure(await redeem(1), 'insufficient_coins')
  expect((await historyOf(client, userId)).map(({ kind }) => kind)).toEqual(['ALLOCATED'])
})

test('spent coins of a lot do not expire, the rest does so once, whichever process handles it first', async () => {
  const short = await newConfig(client, { amount: 10, coinsExpireAfterDays: 1 })
  const long = await newConfig(client, { amount: 100 })
  const { allocationId } = payloadOf(await allocate(short.event))
  payloadOf(await allocate(long.event))
  payloadOf(await redeem(4))
  await pass(DAY + 1_000)
  expect(await balanceOf(client, userId)).toEqual({
    userId,
    active: 100,
    pending: 0,
    expired: 6,
    spent: 4,
    voided: 0,
  })
  // A redemption meets it first; then neither an allocation nor a sweep finds anything more.
  expect(payloadOf(await redeem(30)).balance).toBe(70)
  expect(payloadOf(await allocate(long.event)).balance).toBe(170)
  await expireDueCoins(service.app.services)
  expect(await balanceOf(client, userId)).toEqual({
    userId,
    active: 170,
    pending: 0,
    expired: 6,
    spent: 34,
    voided: 0,
  })
  const expired = (await historyOf(client, userId)).filter(({ kind }) => kind === 'EXPIRED')
  expect(expired).toMatchObject([{ allocationId, amount: 6, balance: 100 }])
})

test('the sweep writes off what is due, of every partner, without a request, and a second one finds nothing', async () => {
  const others = await Promise.all([newCoinPartner(service), newCoinPartner(service)])
  const owners = [{ partner, client }, ...others]
  for (const owner of owners) {
    const { event } = await newConfig(owner.client, { amount: 7, coinsExpireAfterDays: 1 })
    const { companyId, userId: holder } = owner.partner
    for (let i = 0; i < 3; i++)
      payloadOf(
        await owner.client.post(`${COINS}/allocate`, {
          requestId: newRequest(),
          event,
          userId: holder,
          companyId,
        }),
      )
  }
  await expireDueCoins(service.app.services)
  await pass(DAY + 1_000)
  expect(await expireDueCoins(service.app.services)).toBe(3)
  expect(await expireDueCoins(service.app.services)).toBe(0)
  for (const owner of owners) {
    const fresh = await asCoinPartner(service.client, owner.partner)
    expect(await balanceOf(fresh, owner.partner.userId)).toMatchObject({ active: 0, expired: 21 })
    const lines = await historyOf(fresh, owner.partner.userId)
    expect(lines.map(({ kind, balance }) => `${kind} ${balance}`)).toEqual([
      'ALLOCATED 7',
      'ALLOCATED 14',
      'ALLOCATED 21',
      'EXPIRED 14',
      'EXPIRED 7',
      'EXPIRED 0',
    ])
  }
})

test('the history has every line in order, each with the balance after it, in pages without gaps', async () => {
  const { event, coinConfigId } = await newConfig(client, { amount: 10, coinsExpireAfterDays: 1 })
  const made = payloadOf(await allocate(event, { requestId: `${userId}.first` }))
  const spent = payloadOf(await redeem(3))
  await pass(DAY + 1_000)
  await expireDueCoins(service.app.services)
  const [allocated, redeemed, expired] = await historyOf(client, userId)
  expect(allocated).toEqual({
    entry: 1,
    kind: 'ALLOCATED',
    amount: 10,
    balance: 10,
    createdOn: made.createdOn,
    requestId: `${userId}.first`,
    allocationId: made.allocationId,
    event,
    coinConfigId,
    revision: 1,
    expiresOn: made.expiresOn,
  })
  expect(redeemed).toEqual({
    entry: 2,
    kind: 'REDEEMED',
    amount: 3,
    balance: 7,
    createdOn: spent.createdOn,
    requestId: spent.requestId,
    redemptionId: spent.redemptionId,
    allocations: [{ allocationId: made.allocationId, amount: 3 }],
  })
  expect(expired).toMatchObject({
    entry: 3,
    kind: 'EXPIRED',
    amount: 7,
    balance: 0,
    allocationId: made.allocationId,
  })
  const page = payloadOf(await client.get(`${COINS}/users/${userId}/history?limit=2`))
  expect(page.data.map(({ entry }: Json) => entry)).toEqual([3, 2])
  expect(
    payloadOf(await client.get(`${COINS}/users/${userId}/history?limit=2&after=${page.next}`)).data,
  ).toEqual([allocated])
})

test('changes of coins are published as events, once each, in the transaction of their cause', async () => {
  const { event } = await newConfig(client, { amount: 10, coinsExpireAfterDays: 1 })
  const made = payloadOf(await allocate(event))
  payloadOf(await allocate(event))
  const spent = payloadOf(await redeem(4))
  expectFailure(await redeem(100), 'insufficient_coins')
  await pass(DAY + 1_000)
  await expireDueCoins(service.app.services)
  const { rows } = await asSuperuser(service.db.database, (db) =>
    db.query('select type, payload from outbox where object_id = $1 order by created_at, type', [userId]),
  )
  expect(rows.map(({ type }) => type)).toEqual([
    'coins.allocated',
    'coins.allocated',
    'coins.redeemed',
    'coins.expired',
  ])
  expect(rows[0].payload).toEqual(made)
  expect(rows[2].payload).toEqual(spent)
  expect(rows[3].payload).toMatchObject({
    userId,
    amount: 16,
    balance: 0,
    allocations: [{ allocationId: made.allocationId, amount: 6 }, { amount: 10 }],
  })
})
