import { Loop } from '@svc/platform/loop'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { Terminal } from '../harness/card-rail.ts'
import { payloadOf } from '../harness/client.ts'
import { asCoinPartner, COINS, newCoinPartner, newConfig, newUsers } from '../harness/coins.ts'
import { newDispute } from '../harness/disputes.ts'
import { expectFailure } from '../harness/failure.ts'
import { asPartner, createCard, newPartner, orderCard } from '../harness/partner.ts'
import { newCode } from '../harness/qr-codes.ts'
import { shopWith } from '../harness/refunds.ts'
import {
  asSuperuser,
  newDatabase,
  openService,
  type TestDatabase,
  type TestService,
} from '../harness/service.ts'
import { WebhookReceiver } from '../harness/webhook-receiver.ts'

const DAY_MS = 86_400_000
/** Further than anything below lasts, and than anything is kept. */
const AHEAD_MS = 500 * DAY_MS

let db: TestDatabase
let receiver: WebhookReceiver
let env: Record<string, string>
beforeAll(async () => {
  db = await newDatabase()
  receiver = await WebhookReceiver.open()
  receiver.response = (_, response) => void response.writeHead(500).end()
  env = {
    CARD_VALIDITY_MONTHS: '12',
    USER_RETENTION_DAYS: '30',
    COIN_EXPIRY_NOTICE_DAYS: '7',
    ALERT_WEBHOOK_URL: receiver.url('/alerts'),
    DISPUTE_EVIDENCE_URL: receiver.url('/evidence'),
    ALERT_WEBHOOK_SECRET: `whsec_${Buffer.alloc(32, 3).toString('base64')}`,
  }
})
afterAll(() => receiver.close())

const rows = <T = Record<string, unknown>>(sql: string, values: unknown[] = []): Promise<T[]> =>
  asSuperuser(db.database, async (admin) => (await admin.query(sql, values)).rows as T[])
const value = async (sql: string): Promise<unknown> => (await rows<{ value: unknown }>(sql))[0]?.value

/** Something of everything that is due one day, and not yet. */
async function setUp(): Promise<{ merchant: Awaited<ReturnType<TestService['newMerchant']>> }> {
  const service = await openService({ db, env })
  try {
    const shop = await shopWith(service, 100)
    await newDispute(service, shop.paymentId)
    const expiry = new Date(Date.now() + 3_600_000).toISOString()
    await newCode(service, shop.client, { multipleUse: true, expiry })
    payloadOf(await shop.client.post('/api/v0/qr-code', {}, { 'idempotency-key': 'kept' }))

    const partner = await newPartner(service)
    const card = payloadOf(await createCard(await asPartner(service.client, partner), partner))
    await new Terminal(service.client, card.token).authorize(50)
    const coins = await asCoinPartner(service.client, partner)
    const [userId] = await newUsers(service, partner, 2)
    for (const config of [{ coinsExpireAfterDays: 40 }, { activateAfterDays: 14 }]) {
      const { event } = await newConfig(coins, config)
      const allocation = { requestId: event, event, userId, companyId: partner.companyId }
      payloadOf(await coins.post(`${COINS}/allocate`, allocation))
    }

    const merchant = await service.newMerchant()
    const tenant = await service.as(merchant)
    const endpoint = { url: receiver.url('/events'), types: ['qr_code.created'] }
    payloadOf(await tenant.post('/api/v0/webhook-endpoints', endpoint))
    await newCode(service, tenant)
    await expect.poll(() => value('select attempts as value from webhook_deliveries')).toBe(1)
    await expect.poll(() => value('select count(*)::int as value from unnumbered_events')).toBe(0)
    return { merchant }
  } finally {
    await service.close()
  }
}

/** An alert that was closed yesterday, and a message of it that is tried since then. */
const addAlert = async () => {
  await rows(
    `insert into alerts (alert_id, kind, object_id, severity, value, detail, opened_at, changed_at, closed_at)
     select 'alr_0', 'suspense_old', 'gone', 'warning', 1, 'gone', at, at, at from (select now() - interval '1 day' as at) t`,
  )
  await rows(
    `insert into alert_messages (message_id, alert_id, body, created_at, attempts, due_at)
     values ('alm_0', 'alr_0', '{}', now() - interval '1 day', 3, now())`,
  )
}

const TABLES = [
  'qr_codes',
  'card_authorizations',
  'cards',
  'coin_lots',
  'coin_entries',
  'users',
  'disputes',
  'payments',
  'journals',
  'idempotency_keys',
  'event_numbers',
  'outbox',
  'webhook_attempts',
] as const

/** The rows that are there, to be compared with those of later. */
const snapshot = async (tables: readonly string[]): Promise<Record<string, unknown>> =>
  Object.fromEntries(
    await Promise.all(
      tables.map(async (table) => [
        table,
        (
          await rows<{ row: object }>(`select to_jsonb(t) as row from ${table} t order by to_jsonb(t)::text`)
        ).map(({ row }) => row),
      ]),
    ),
  )

/** The loops of a service from its start on. */
function watchLoops() {
  const start = vi.spyOn(Loop.prototype, 'start')
  const loops = () => [...new Set(start.mock.contexts as Loop[])]
  return {
    /** Every loop that the service has runs once more, from its beginning to its end. */
    async runAll({ app }: TestService): Promise<void> {
      const { loopFailures, loopInterval } = app.services.metrics
      // The examples of the reference are kept where there is demo data.
      const known = (await loopInterval.get()).values.filter(
        ({ labels }) => labels.loop !== 'reference_examples',
      )
      await expect.poll(() => loops().length, { timeout: 30_000 }).toBe(known.length)
      for (const loop of loops()) {
        loop.wake()
        await loop.idle()
      }
      expect((await loopFailures.get()).values.filter(({ value: failures }) => failures > 0)).toEqual([])
    },
    end: () => start.mockRestore(),
  }
}

const skewOf = async ({ app }: TestService): Promise<number> =>
  (await app.services.metrics.registry.getSingleMetric('svc_clock_skew_seconds')!.get()).values[0]!.value

/** What had to be done while the process's clock was ahead went by the database's time as well. */
async function expectRightTimes(service: TestService): Promise<void> {
  expect(
    await rows(
      `select due_at > started_at and due_at < now() + interval '1 day' as soon, started_at < now() as started
       from webhook_deliveries`,
    ),
  ).toEqual([{ soon: true, started: true }])
  const signedAtMs = Number(receiver.at('/events')[1]!.headers['webhook-timestamp']) * 1_000
  const databaseMs = (await value(`select extract(epoch from now())::float8 * 1000 as value`)) as number
  expect(Math.abs(signedAtMs - databaseMs)).toBeLessThan(DAY_MS)
  expect(await value('select count(*)::int as value from alerts where closed_at is not null')).toBe(1)
  expect(await value('select bool_and(minute <= now()) as value from minute_sums')).toBe(true)
  expect(await value('select bool_and(last_used_at <= now()) as value from credential_uses')).toBe(true)
  expect(await skewOf(service)).toBeGreaterThan((AHEAD_MS - DAY_MS) / 1_000)
}

async function expectAllDone(): Promise<void> {
  expect(
    await rows(`select distinct status, expiry_told, close_reason from qr_codes where expiry_at is not null`),
  ).toEqual([{ status: 'ACTIVE', expiry_told: true, close_reason: 'expired' }])
  expect(await rows('select distinct status from card_authorizations')).toEqual([{ status: 'EXPIRED' }])
  expect(await rows('select distinct status from disputes')).toEqual([{ status: 'LOST' }])
  expect(await value('select bool_and(expired_at is not null) as value from cards')).toBe(true)
  expect(await value('select sum(pending)::int as value from coin_lots')).toBe(0)
  expect(await value('select count(*)::int as value from users where erased_at is not null')).toBeGreaterThan(
    0,
  )
}

test('a process whose clock is far ahead of the database’s does nothing before it is due by the database’s time, in any loop, does all that is due, and reports the difference', async () => {
  const { merchant } = await setUp()
  await addAlert()
  const { webhook_attempts: attempts, ...before } = await snapshot(TABLES)
  await rows(`update webhook_deliveries set due_at = now()`)
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + AHEAD_MS })
  const watched = watchLoops()
  const service = await openService({ db, env })
  try {
    void service.app.replaced()
    // A request, so that its credential was used by a clock of the future.
    payloadOf(await (await service.as(merchant)).get('/api/v0/events'))
    await watched.runAll(service)
    // Two things are due: another attempt for an event and for an alert.
    await receiver.until(() => receiver.at('/events').length >= 2 && receiver.at('/alerts').length >= 1)
    await expect.poll(() => value('select attempts as value from webhook_deliveries')).toBe(2)
    await expect.poll(() => value(`select due_at > now() as value from alert_messages`)).toBe(true)
    await watched.runAll(service)
    const { webhook_attempts: attemptsAfter, ...after } = await snapshot(TABLES)
    expect(after).toEqual(before)
    expect(attemptsAfter).toEqual(expect.arrayContaining(attempts as object[]))
    await expectRightTimes(service)

    // The same time, once the database is there as well.
    vi.useRealTimers()
    service.clock.advance(AHEAD_MS)
    await watched.runAll(service)
    await expect.poll(() => value('select count(*)::int as value from webhook_deliveries')).toBe(0)
    await expect
      .poll(() => value(`select count(*)::int as value from alerts where alert_id = 'alr_0'`))
      .toBe(0)
    await watched.runAll(service)
    await expectAllDone()
    await expect.poll(() => skewOf(service)).toBeLessThan(60)
  } finally {
    vi.useRealTimers()
    watched.end()
    await service.close()
  }
}, 120_000)

/** What `work` returns while the process's clock is ahead of the database's by so much. */
async function whileAhead<T>(ms: number, work: () => Promise<T>): Promise<T> {
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + ms })
  try {
    return await work()
  } finally {
    vi.useRealTimers()
  }
}

test('an award without occurredOn counts against the limit of the day of its decision, whatever the process’s clock shows (K11)', async () => {
  const service = await openService()
  try {
    const { partner, client } = await newCoinPartner(service)
    const [userId] = await newUsers(service, partner, 1)
    const { event } = await newConfig(client, { amount: 6, perUserDailyLimit: 10 })
    const award = (coins: typeof client, requestId: string) =>
      coins.post(`${COINS}/allocate`, { requestId, event, userId, companyId: partner.companyId })
    const days = async (): Promise<unknown> =>
      asSuperuser(service.db.database, async (admin) => {
        const { rows: found } = await admin.query(
          `select request_id, business_day = (created_at at time zone 'Asia/Kolkata')::date as same from coin_lots`,
        )
        return found
      })
    await whileAhead(DAY_MS, async () => {
      const ahead = await asCoinPartner(service.client, partner)
      payloadOf(await award(ahead, 'ahead'))
      expectFailure(await award(ahead, 'ahead-again'), 'coin_daily_limit_reached')
    })
    expectFailure(await award(client, 'right'), 'coin_daily_limit_reached')
    expect(await days()).toEqual([{ request_id: 'ahead', same: true }])
  } finally {
    await service.close()
  }
})

test('CARD_REPEAT_SECONDS go by the database’s time, whatever the process’s clock shows', async () => {
  const service = await openService({ env: { CARD_REPEAT_SECONDS: '60' } })
  try {
    const partner = await newPartner(service)
    const order = async () => {
      const client = await asPartner(service.client, partner)
      return payloadOf(await orderCard(client, partner, { loadAmount: 10, firstName: 'Asha' })).svcCardId
    }
    const first = await order()
    expect(await whileAhead(3_600_000, order)).toBe(first)
    await asSuperuser(service.db.database, (admin) =>
      admin.query(`update cards set created_at = created_at - interval '2 minutes'`),
    )
    expect(await whileAhead(-3_600_000, order)).not.toBe(first)
  } finally {
    await service.close()
  }
})
