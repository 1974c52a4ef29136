import { journalOf, saveJournals } from '@svc/core/ledger/journals'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { type Client, type Json, payloadOf } from '../harness/client.ts'
import { awardsOf, newRequest } from '../harness/coin-awards.ts'
import {
  asCoinPartner,
  balanceOf,
  COINS,
  differencesOf,
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
  service = await openService({ background: false })
  ;({ partner, client } = await newCoinPartner(service))
})
beforeEach(async () => {
  userId = (await newUsers(service, partner, 1))[0]!
})
afterAll(async () => {
  expect(await differencesOf(service)).toEqual([])
  await service.close()
})
const { allocate, redeem, active, at } = awardsOf(() => ({ service, partner, client, userId }))

/** Moves the service's clock; tokens of before may have expired. */
async function pass(ms: number): Promise<void> {
  service.clock.advance(ms)
  client = await asCoinPartner(service.client, partner)
}

test('an event awards the coins of its configuration, and the response states the revision', async () => {
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

test('the same requestId gets the first response forever, with another request 409', async () => {
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
  const outsider = await newCoinPartner(service)
  await newConfig(outsider.client, { event })
  const { userId: theirs, companyId } = outsider.partner
  const same = { requestId, event, userId: theirs, companyId }
  expect(payloadOf(await outsider.client.post(`${COINS}/allocate`, same)).balance).toBe(10)
})

test('a rejected request does not use up its requestId', async () => {
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

test('a user must belong to the named company, and both to the partner', async () => {
  const { event } = await newConfig(client)
  const other = await newCompany(service, partner)
  expectFailure(await allocate(event, { companyId: other }), 'user_not_found')
  expectFailure(await allocate(event, { companyId: 'com_none' }), 'company_not_found')
  expectFailure(await allocate(event, { userId: 'nobody' }), 'user_not_found')
  expectFailure(await redeem(1, { userId: 'nobody' }), 'user_not_found')
})

test('validity includes its first instant and excludes its last, by the time of the event', async () => {
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

test('the daily limit counts coins by user, configuration and day of the business time zone; an award over it is rejected whole (K8)', async () => {
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

test('a dry run reports what would happen and why, and writes nothing at all', async () => {
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

test('coins and money never mix: the ledger rejects a transfer between accounts of two units', async () => {
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
    kind: 'coin_allocation' as const,
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
