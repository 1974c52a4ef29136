import { expireDueCoins } from '@svc/core/coins/expire-coins'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type ApiResponse, type Client, payloadOf } from '../harness/client.ts'
import {
  asCoinPartner,
  balanceOf,
  COINS,
  differencesOf,
  historyOf,
  ifMatch,
  newCoinPartner,
  newConfig,
  newEvent,
  newUsers,
} from '../harness/coins.ts'
import type { TestPartner } from '../harness/partner.ts'
import { openService, type TestService } from '../harness/service.ts'

/** Two services on one database, each with its own queues. */
let services: readonly [TestService, TestService]
let partner: TestPartner
let clients: readonly [Client, Client]

beforeAll(async () => {
  const first = await openService()
  services = [first, await openService({ db: first.db })]
  ;({ partner } = await newCoinPartner(first))
  clients = [
    await asCoinPartner(services[0].client, partner),
    await asCoinPartner(services[1].client, partner),
  ]
})
afterAll(async () => {
  expect(await differencesOf(services[0])).toEqual([])
  await Promise.all(services.map((service) => service.close()))
})

/** Sends to both services in turn, all at once. */
const together = (
  count: number,
  send: (client: Client, n: number) => Promise<ApiResponse>,
): Promise<ApiResponse[]> => Promise.all(Array.from({ length: count }, (_, n) => send(clients[n % 2]!, n)))
const count = (responses: readonly ApiResponse[]): Record<string, number> => {
  const counts: Record<string, number> = {}
  for (const { error = 'ok' } of responses) counts[error] = (counts[error] ?? 0) + 1
  return counts
}

test('one requestId, many times at once on two services: it happens once and every caller gets the same response', async () => {
  const { event } = await newConfig(clients[0])
  // Each time with a user whose first coins these are: there is no row yet that could be locked.
  for (const userId of await newUsers(services[0], partner, 15)) {
    const body = { requestId: `same-${userId}`, event, userId, companyId: partner.companyId }
    const responses = await together(16, (client) => client.post(`${COINS}/allocate`, body))
    for (const response of responses) payloadOf(response)
    expect(new Set(responses.map(({ text }) => text)).size).toBe(1)
    expect(await balanceOf(clients[0], userId)).toMatchObject({ active: 10 })
  }
})

test('one requestId for several users at once: one of them gets the coins, the others 409', async () => {
  const { event } = await newConfig(clients[0])
  for (let round = 0; round < 15; round++) {
    const users = await newUsers(services[0], partner, 8)
    const responses = await together(8, (client, n) =>
      client.post(`${COINS}/allocate`, {
        requestId: `round-${round}`,
        event,
        userId: users[n]!,
        companyId: partner.companyId,
      }),
    )
    expect(count(responses)).toEqual({ ok: 1, request_id_conflict: 7 })
    const balances = await Promise.all(users.map((userId) => balanceOf(clients[0], userId)))
    expect(balances.reduce((sum, { active }) => sum + active, 0)).toBe(10)
  }
})

test('more concurrent redemptions than there are coins: exactly as many succeed as the coins allow', async () => {
  const { event } = await newConfig(clients[0], { amount: 10 })
  for (const userId of await newUsers(services[0], partner, 10)) {
    await together(5, (client, n) =>
      client.post(`${COINS}/allocate`, {
        requestId: `${userId}-${n}`,
        event,
        userId,
        companyId: partner.companyId,
      }),
    )
    const responses = await together(30, (client, n) =>
      client.post(`${COINS}/redeem`, { requestId: `${userId}-${n}`, userId, amount: 3 }),
    )
    expect(count(responses)).toEqual({ ok: 16, insufficient_coins: 14 })
    expect(await balanceOf(clients[0], userId)).toMatchObject({ active: 2, spent: 48 })
    const balances = (await historyOf(clients[1], userId)).slice(5).map(({ balance }) => balance)
    expect(balances).toEqual(Array.from({ length: 16 }, (_, n) => 47 - 3 * n))
  }
})

test('the daily limit holds however many awards are requested at once', async () => {
  const { event } = await newConfig(clients[0], { amount: 4, perUserDailyLimit: 19 })
  for (const userId of await newUsers(services[0], partner, 10)) {
    const responses = await together(16, (client, n) =>
      client.post(`${COINS}/allocate`, {
        requestId: `${userId}-${n}`,
        event,
        userId,
        companyId: partner.companyId,
      }),
    )
    expect(count(responses)).toEqual({ ok: 4, coin_daily_limit_reached: 12 })
    expect(await balanceOf(clients[0], userId)).toMatchObject({ active: 16 })
  }
})

test('of concurrent updates of one revision exactly one wins, the others get 412', async () => {
  const { coinConfigId } = await newConfig(clients[0])
  for (let revision = 1; revision <= 20; revision++) {
    const responses = await together(8, (client, n) =>
      client.patch(`${COINS}/${coinConfigId}`, { amount: 100 * revision + n }, ifMatch(revision)),
    )
    expect(count(responses)).toEqual({ ok: 1, revision_mismatch: 7 })
    const winner = payloadOf(responses.find(({ status }) => status === 200)!)
    expect(payloadOf(await clients[0].get(`${COINS}/${coinConfigId}`))).toEqual(winner)
  }
  expect(payloadOf(await clients[0].get(`${COINS}/${coinConfigId}/revisions`)).recordsCount).toBe(21)
})

test('of configurations for the same event and time, created at once, exactly one is created', async () => {
  for (let round = 0; round < 20; round++) {
    const event = newEvent()
    const responses = await together(8, (client) => client.post(COINS, { event, amount: 1, title: 'Race' }))
    expect(count(responses)).toEqual({ ok: 1, coin_config_overlaps: 7 })
  }
})

test('of inactive configurations activated again at once for the same time exactly one becomes active', async () => {
  for (let round = 0; round < 10; round++) {
    const event = newEvent()
    const ids: string[] = []
    for (let n = 0; n < 4; n++) {
      const { coinConfigId } = await newConfig(clients[0], { event })
      payloadOf(await clients[0].post(`${COINS}/${coinConfigId}/deactivate`))
      ids.push(coinConfigId)
    }
    const responses = await together(4, (client, n) =>
      client.patch(`${COINS}/${ids[n]}`, { status: 'ACTIVE' }, ifMatch(2)),
    )
    expect(count(responses)).toEqual({ ok: 1, coin_config_overlaps: 3 })
  }
})

test('no award that begins after a deactivation was acknowledged is created', async () => {
  for (const [n, userId] of (await newUsers(services[0], partner, 20)).entries()) {
    const { event, coinConfigId } = await newConfig(clients[0])
    const award = (client: Client, i: number) =>
      client.post(`${COINS}/allocate`, {
        requestId: `late-${n}-${i}`,
        event,
        userId,
        companyId: partner.companyId,
      })
    const before = together(6, award)
    payloadOf(await clients[n % 2]!.post(`${COINS}/${coinConfigId}/deactivate`))
    const after = await together(6, (client, i) => award(client, 100 + i))
    expect(count(after)).toEqual({ no_coin_config: 6 })
    const made = (await before).filter(({ status }) => status === 200).length
    expect(await balanceOf(clients[0], userId)).toMatchObject({ active: 10 * made })
  }
})

test('two sweeps and callers at once write off every lot once', async () => {
  const { event } = await newConfig(clients[0], { amount: 10, coinsExpireAfterDays: 1 })
  const users = await newUsers(services[0], partner, 30)
  await Promise.all(
    users.flatMap((userId) =>
      [1, 2, 3].map((n) =>
        clients[n % 2]!.post(`${COINS}/allocate`, {
          requestId: `sweep-${userId}-${n}`,
          event,
          userId,
          companyId: partner.companyId,
        }),
      ),
    ),
  )
  for (const { clock } of services) clock.advance(86_401_000)
  clients = [
    await asCoinPartner(services[0].client, partner),
    await asCoinPartner(services[1].client, partner),
  ]
  await Promise.all([
    expireDueCoins(services[0].app.services),
    expireDueCoins(services[1].app.services),
    ...users.map((userId, n) =>
      clients[n % 2]!.post(`${COINS}/allocate`, {
        requestId: `again-${userId}`,
        event,
        userId,
        companyId: partner.companyId,
      }),
    ),
  ])
  for (const userId of users) {
    expect(await balanceOf(clients[0], userId)).toMatchObject({ active: 10, expired: 30 })
    expect((await historyOf(clients[0], userId)).filter(({ kind }) => kind === 'EXPIRED')).toHaveLength(3)
  }
})

const allocationOf = async (userId: string, event: string): Promise<string> => {
  const body = { requestId: `of-${userId}-${event}`, event, userId, companyId: partner.companyId }
  return payloadOf(await clients[0].post(`${COINS}/allocate`, body)).allocationId
}
const voids = (client: Client, allocationId: string, requestId: string) =>
  client.post(`${COINS}/allocations/${allocationId}/void`, { requestId, reason: 'race' })

test('a void and redemptions at once: every coin is either spent or voided, and the shortfall is what was spent', async () => {
  const { event } = await newConfig(clients[0], { amount: 10 })
  for (const userId of await newUsers(services[0], partner, 10)) {
    const allocationId = await allocationOf(userId, event)
    const [responses, undone] = await Promise.all([
      together(8, (client, n) =>
        client.post(`${COINS}/redeem`, { requestId: `before-${userId}-${n}`, userId, amount: 3 }),
      ),
      voids(clients[1], allocationId, `void-${userId}`),
    ])
    const spent = 3 * (count(responses)['ok'] ?? 0)
    expect(payloadOf(undone)).toMatchObject({ amount: 10 - payloadOf(undone).shortfall })
    expect(await balanceOf(clients[0], userId)).toMatchObject({ active: 0, spent, voided: 10 - spent })
  }
})

test('one void, many times at once on two services: it happens once and every caller gets the same response', async () => {
  const { event } = await newConfig(clients[0], { amount: 10 })
  for (const userId of await newUsers(services[0], partner, 10)) {
    const allocationId = await allocationOf(userId, event)
    const same = await together(8, (client) => voids(client, allocationId, `same-${userId}`))
    expect(new Set(same.map(({ text }) => text)).size).toBe(1)
    const other = await allocationOf(userId, (await newConfig(clients[0])).event)
    const several = await together(8, (client, n) => voids(client, other, `several-${userId}-${n}`))
    expect(count(several)).toEqual({ ok: 1, coin_allocation_voided: 7 })
    expect(await balanceOf(clients[0], userId)).toMatchObject({ active: 0, voided: 20 })
  }
})

test('a confirmation many times at once on two services, and a void beside it: the award becomes active once or never', async () => {
  const { event } = await newConfig(clients[0], { amount: 10, activation: 'CONFIRMATION' })
  for (const [n, userId] of (await newUsers(services[0], partner, 16)).entries()) {
    const allocationId = await allocationOf(userId, event)
    const confirm = (client: Client) => client.post(`${COINS}/allocations/${allocationId}/confirm`, {})
    const [responses, undone] = await Promise.all([
      together(8, confirm),
      n % 2 === 0 ? voids(clients[n % 4 === 0 ? 0 : 1], allocationId, `beside-${userId}`) : undefined,
    ])
    const made = responses.filter(({ status }) => status === 200)
    expect(new Set(made.map(({ text }) => text)).size).toBe(Number(made.length > 0))
    const kinds = (await historyOf(clients[0], userId)).map(({ kind }) => kind)
    if (!undone) expect(kinds).toEqual(['PENDING', 'ACTIVATED'])
    else if (payloadOf(undone).pending) expect(kinds).toEqual(['PENDING', 'PENDING_VOIDED'])
    else expect(kinds).toEqual(['PENDING', 'ACTIVATED', 'VOIDED'])
    expect(await balanceOf(clients[1], userId)).toMatchObject({ active: undone ? 0 : 10, pending: 0 })
  }
})

test('two sweeps, voids and redemptions at the instant of activation: every award becomes active once', async () => {
  const { event } = await newConfig(clients[0], { amount: 10, activateAfterDays: 1 })
  const users = await newUsers(services[0], partner, 20)
  const ids = new Map<string, string>()
  for (const userId of users) ids.set(userId, await allocationOf(userId, event))
  for (const { clock } of services) clock.advance(86_400_000)
  clients = [
    await asCoinPartner(services[0].client, partner),
    await asCoinPartner(services[1].client, partner),
  ]
  await Promise.all([
    expireDueCoins(services[0].app.services),
    expireDueCoins(services[1].app.services),
    ...users.map((userId, n) =>
      n % 2 === 0
        ? voids(clients[0], ids.get(userId)!, `due-${userId}`)
        : clients[1].post(`${COINS}/redeem`, { requestId: `due-${userId}`, userId, amount: 4 }),
    ),
  ])
  for (const [n, userId] of users.entries()) {
    const kinds = (await historyOf(clients[0], userId)).map(({ kind }) => kind)
    expect(kinds).toEqual(['PENDING', 'ACTIVATED', n % 2 === 0 ? 'VOIDED' : 'REDEEMED'])
    expect(await balanceOf(clients[0], userId)).toMatchObject({ active: n % 2 === 0 ? 0 : 6, pending: 0 })
  }
})
