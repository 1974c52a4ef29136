import { expireDueCoins } from '@svc/core/coins/expire-coins'
import { journalOf, saveJournals } from '@svc/core/ledger/journals'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { type ApiResponse, type Client, type Json, payloadOf } from '../harness/client.ts'
import {
  asCoinPartner,
  balanceOf,
  COINS,
  differencesOf,
  historyOf,
  ifMatch,
  newCoinPartner,
  newCompany,
  newConfig,
  newEvent,
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
let requests = 0
const newRequest = (): string => `request-${requests++}`

const allocate = (event: string, rest: object = {}): Promise<ApiResponse> =>
  client.post(`${COINS}/allocate`, {
    requestId: newRequest(),
    event,
    userId,
    companyId: partner.companyId,
    ...rest,
  })
const redeem = (amount: number, rest: object = {}): Promise<ApiResponse> =>
  client.post(`${COINS}/redeem`, { requestId: newRequest(), userId, amount, ...rest })
const active = async (): Promise<number> => (await balanceOf(client, userId)).active

/** Moves the service's clock; tokens of before may have expired. */
async function pass(ms: number): Promise<void> {
  service.clock.advance(ms)
  client = await asCoinPartner(service.client, partner)
}

/** An instant of the service's clock as callers write it. */
const at = (aheadMs = 0): string => new Date(service.clock.now() + aheadMs).toISOString()

test('an event awards the coins of its configuration, and answers by which revision', async () => {
  const { event, coinConfigId } = await newConfig(client, { amount: 30, coinsExpireAfterDays: 10 })
  payloadOf(await client.patch(`${COINS}/${coinConfigId}`, { amount: 35 }, ifMatch(1)))
  const made = payloadOf(await allocate(event, { requestId: 'order/77:1' }))
  expect(made).toEqual({
    outcome: 'ALLOCATED',
    allocationId: expect.stringMatching(/^cal_/),
    requestId: 'order/77:1',
    userId,
    companyId: partner.companyId,
    event,
    coinConfigId,
    revision: 2,
    amount: 35,
    balance: 35,
    occurredOn: made.createdOn,
    expiresOn: expect.any(String),
    createdOn: expect.any(String),
  })
  expect(Date.parse(made.expiresOn) - Date.parse(made.createdOn)).toBe(10 * DAY)
  expect(await balanceOf(client, userId)).toMatchObject({ userId, active: 35, expired: 0, spent: 0 })
})

test('the same requestId gets the first answer for ever, with another request 409', async () => {
  const { event, coinConfigId } = await newConfig(client)
  const requestId = newRequest()
  const first = await allocate(event, { requestId })
  payloadOf(first)
  payloadOf(await client.post(`${COINS}/${coinConfigId}/deactivate`))
  await pass(40 * DAY)
  expect((await allocate(event, { requestId })).text).toBe(first.text)
  expect(await active()).toBe(10)
  const [other] = await newUsers(service, partner, 1)
  for (const change of [
    { userId: other },
    { event: 'another' },
    { occurredOn: at() },
    { companyId: 'com_x' },
  ])
    expectFailure(await allocate(event, { requestId, ...change }), 'request_id_conflict')
  // Redemptions have request ids of their own, and so has every partner.
  payloadOf(await redeem(1, { requestId }))
  const stranger = await newCoinPartner(service)
  await newConfig(stranger.client, { event })
  const { userId: theirs, companyId } = stranger.partner
  const same = { requestId, event, userId: theirs, companyId }
  expect(payloadOf(await stranger.client.post(`${COINS}/allocate`, same)).balance).toBe(10)
})

test('a refused request does not use up its requestId', async () => {
  const event = newEvent()
  const requestId = newRequest()
  expectFailure(await allocate(event, { requestId }), 'no_coin_config')
  await newConfig(client, { event })
  expect(payloadOf(await allocate(event, { requestId })).balance).toBe(10)
  const spend = newRequest()
  expectFailure(await redeem(11, { requestId: spend }), 'insufficient_coins')
  expect(payloadOf(await redeem(10, { requestId: spend })).balance).toBe(0)
})

test('CUSTOM of the user’s company outranks DEFAULT while it is active and valid, and touches no other company (K3)', async () => {
  const event = newEvent()
  const other = await newCompany(service, partner)
  const [elsewhere] = await newUsers(service, partner, 1, other)
  await newConfig(client, { event, amount: 1 })
  const custom = await newConfig(client, {
    event,
    amount: 5,
    configuration: 'CUSTOM',
    companyId: partner.companyId,
    validTo: at(DAY),
  })
  expect(payloadOf(await allocate(event))).toMatchObject({ amount: 5, coinConfigId: custom.coinConfigId })
  expect(payloadOf(await allocate(event, { userId: elsewhere, companyId: other })).amount).toBe(1)
  payloadOf(await client.post(`${COINS}/${custom.coinConfigId}/deactivate`))
  expect(payloadOf(await allocate(event)).amount).toBe(1)
  payloadOf(await client.patch(`${COINS}/${custom.coinConfigId}`, { status: 'ACTIVE' }, ifMatch(2)))
  expect(payloadOf(await allocate(event)).amount).toBe(5)
  await pass(DAY)
  expect(payloadOf(await allocate(event)).amount).toBe(1)
})

test('a user must be of the named company, and both of the partner', async () => {
  const { event } = await newConfig(client)
  const other = await newCompany(service, partner)
  expectFailure(await allocate(event, { companyId: other }), 'user_not_found')
  expectFailure(await allocate(event, { companyId: 'com_none' }), 'company_not_found')
  expectFailure(await allocate(event, { userId: 'nobody' }), 'user_not_found')
  expectFailure(await redeem(1, { userId: 'nobody' }), 'user_not_found')
})

test('validity includes its first instant and excludes its last, by the time at which the event happened', async () => {
  const [from, to] = [at(-2 * DAY), at(-DAY)]
  const { event } = await newConfig(client, { validFrom: from, validTo: to })
  const beside = (instant: string, ms: number) => new Date(Date.parse(instant) + ms).toISOString()
  expectFailure(await allocate(event, { occurredOn: beside(from, -1) }), 'no_coin_config')
  payloadOf(await allocate(event, { occurredOn: from }))
  payloadOf(await allocate(event, { occurredOn: beside(to, -1) }))
  expectFailure(await allocate(event, { occurredOn: to }), 'no_coin_config')
  expectFailure(await allocate(event), 'no_coin_config')
  expectFailure(await allocate(event, { occurredOn: at(10 * 60_000) }), 'validation_failed')
  expectFailure(await allocate(event, { occurredOn: at(-32 * DAY) }), 'validation_failed')
})

test('the daily limit counts coins by user, configuration and day of the business time zone; an award over it is refused whole (K8)', async () => {
  const { event, coinConfigId } = await newConfig(client, {
    amount: 4,
    perUserDailyLimit: 10,
    validFrom: '2020-01-01T00:00:00Z',
  })
  const [other] = await newUsers(service, partner, 1)
  // 18:30 UTC is midnight in Asia/Kolkata.
  const midnight = new Date(Math.floor((service.clock.now() - 3 * DAY) / DAY) * DAY + 18.5 * HOUR).getTime()
  const on = (ms: number) => ({ occurredOn: new Date(midnight + ms).toISOString() })
  payloadOf(await allocate(event, on(-1)))
  payloadOf(await allocate(event, on(-DAY)))
  expectFailure(await allocate(event, on(-DAY + 1)), 'coin_daily_limit_reached')
  expectFailure(await allocate(event, on(-HOUR)), 'coin_daily_limit_reached')
  payloadOf(await allocate(event, on(0)))
  payloadOf(await allocate(event, { ...on(-1), userId: other }))
  expect(await active()).toBe(12)
  // No other configuration steps in for the one whose limit is reached.
  await newConfig(client, {
    event,
    amount: 9,
    perUserDailyLimit: 9,
    configuration: 'CUSTOM',
    companyId: partner.companyId,
  })
  payloadOf(await allocate(event))
  expectFailure(await allocate(event), 'coin_daily_limit_reached')
  expect(payloadOf(await client.get(`${COINS}/${coinConfigId}`)).status).toBe('ACTIVE')
})

test('coins are spent first in, first out, all of a redemption or nothing', async () => {
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

test('a repeated redemption gets the first answer and takes nothing again; with another amount 409', async () => {
  const { event } = await newConfig(client, { amount: 10 })
  payloadOf(await allocate(event))
  const requestId = newRequest()
  const first = await redeem(6, { requestId })
  payloadOf(first)
  expect((await redeem(6, { requestId })).text).toBe(first.text)
  expectFailure(await redeem(5, { requestId }), 'request_id_conflict')
  expect(await active()).toBe(4)
})

test('coins are gone from their last instant on, before anything has written them off, and cannot be spent', async () => {
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

test('what was spent of a lot does not expire, what remains does so once, whoever meets it first', async () => {
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

test('the sweep writes off what is due, of every partner, without anyone asking, and a second one finds nothing', async () => {
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

/** Every row that anything about coins could write; events get their `sequence` by those who deliver them. */
async function rowsOf(): Promise<Json> {
  const tables =
    'coin_configs coin_config_revisions coin_wallets coin_lots coin_redemptions coin_lot_uses coin_voids coin_void_takes coin_entries ledger_accounts ledger_transfers outbox idempotency_keys batches'
  const counts = tables
    .split(' ')
    .map(
      (table) =>
        `(select jsonb_agg(row order by row)::text from (select to_jsonb(t) - 'sequence' as row from ${table} t) rows) as ${table}`,
    )
  const { rows } = await asSuperuser(service.db.database, (db) => db.query(`select ${counts.join(', ')}`))
  return rows[0]
}

test('a dry run says what would happen and why, and writes nothing at all', async () => {
  const event = newEvent()
  const config = await newConfig(client, {
    event,
    amount: 10,
    perUserDailyLimit: 15,
    coinsExpireAfterDays: 1,
  })
  const custom = await newConfig(client, {
    event,
    amount: 2,
    configuration: 'CUSTOM',
    companyId: partner.companyId,
    validFrom: at(DAY),
  })
  const requestId = newRequest()
  const dry = async (rest: object = {}): Promise<Json> =>
    payloadOf(
      await client.post(
        `${COINS}/allocate`,
        { requestId, event, userId, companyId: partner.companyId, dryRun: true, ...rest },
        { 'idempotency-key': 'dry' },
      ),
    )
  const before = await rowsOf()
  const considered = (configuration: string, verdict: string, { coinConfigId, amount }: Json) => ({
    coinConfigId,
    configuration,
    revision: 1,
    amount,
    verdict,
  })
  const now = [considered('DEFAULT', 'APPLIES', config), considered('CUSTOM', 'NOT_YET_VALID', custom)]
  const would = await dry()
  expect(would).toMatchObject({
    outcome: 'WOULD_ALLOCATE',
    amount: 10,
    balance: 10,
    coinConfigId: config.coinConfigId,
    considered: now,
  })
  expect(would).not.toHaveProperty('allocationId')
  expect(await dry({ event: 'unheard.of' })).toMatchObject({
    outcome: 'WOULD_REFUSE',
    reason: 'no_coin_config',
    amount: 0,
    considered: [],
  })
  expect(await dry({ userId: 'nobody' })).toMatchObject({ outcome: 'WOULD_REFUSE', reason: 'user_not_found' })
  expectFailure(
    await client.post(`${COINS}/allocate`, { requestId, event, dryRun: true }),
    'validation_failed',
  )
  expect(await rowsOf()).toEqual(before)

  // The dry run told the truth.
  const made = payloadOf(await allocate(event, { requestId }))
  expect(made).toMatchObject({
    amount: would.amount,
    balance: would.balance,
    coinConfigId: would.coinConfigId,
  })
  const after = await rowsOf()
  expect(await dry()).toMatchObject({ outcome: 'WOULD_REPEAT', allocationId: made.allocationId, amount: 10 })
  expect(await dry({ event: 'another' })).toMatchObject({
    outcome: 'WOULD_REFUSE',
    reason: 'request_id_conflict',
  })
  expect(await dry({ requestId: newRequest() })).toMatchObject({
    outcome: 'WOULD_REFUSE',
    reason: 'coin_daily_limit_reached',
    balance: 10,
  })
  await pass(DAY)
  const later = [considered('DEFAULT', 'OUTRANKED', config), considered('CUSTOM', 'APPLIES', custom)]
  expect(await dry({ requestId: newRequest() })).toMatchObject({
    outcome: 'WOULD_ALLOCATE',
    amount: 2,
    balance: 2,
    considered: later,
  })
  expect(await rowsOf()).toEqual(after)
})

test('what happens to coins is told by events, once each, in the transaction of its cause', async () => {
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

test('coins and money never mix: the ledger refuses a transfer between accounts of two units', async () => {
  const { event } = await newConfig(client)
  payloadOf(await allocate(event))
  const { partnerId, cardAccountId } = partner
  const transfer = (debit: string, credit: string, unit: string) =>
    asSuperuser(service.db.database, (db) =>
      db.query(
        `insert into ledger_transfers (transfer_id, tenant_id, journal_id, leg, kind, debit_account_id, credit_account_id,
           amount, unit, object_id, created_at)
         values ('trf_mixed', $1, 'jrn_mixed', 1, 'mixed', $2, $3, 1, $4, 'x', now())`,
        [partnerId, debit, credit, unit],
      ),
    )
  for (const unit of ['INR', 'COIN'])
    for (const [debit, credit] of [
      [`coins:${userId}`, `card_funding:${cardAccountId}`],
      [`card_funding:${cardAccountId}`, `coins:${userId}`],
    ])
      await expect(transfer(debit!, credit!, unit)).rejects.toMatchObject({ code: '23503' })
  const mixed = {
    transferId: 'trf_mixed',
    tenantId: partnerId,
    kind: 'mixed',
    objectId: 'x',
    createdAt: new Date(),
  }
  const { database } = service.app.services
  const tries = [
    { amountPaise: 1n, debitAccountId: `funding_clearing:${partnerId}`, creditAccountId: `coins:${userId}` },
    {
      amountCoins: 1n,
      debitAccountId: `coins_issued:${partnerId}`,
      creditAccountId: `card_funding:${cardAccountId}`,
    },
  ]
  for (const sides of tries)
    await expect(
      database.write([partnerId], async (tx) => saveJournals(tx, 'UTC', [journalOf({ ...mixed, ...sides })])),
    ).rejects.toThrow(/has another unit|_side_has_the_unit/)
})
