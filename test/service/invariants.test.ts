import { afterAll, beforeAll, expect, test } from 'vitest'
import { checkInvariants, INVARIANTS, nameOf } from '../../src/invariants.ts'
import { Relay } from '../../src/webhooks/relay.ts'
import { runHere } from '../harness/cli.ts'
import { payloadOf } from '../harness/client.ts'
import { balanceOf, COINS, newConfig } from '../harness/coins.ts'
import { asPartner, createCard, newPartner } from '../harness/partner.ts'
import { creditOf, newCode, notifyCredit } from '../harness/qr-codes.ts'
import { asSuperuser, MASTER_KEY, openService, type TestService } from '../harness/service.ts'

let service: TestService

beforeAll(async () => {
  service = await openService()
  const merchant = await service.as(await service.newMerchant())
  const code = await newCode(service, merchant, { multipleUse: true })
  for (let i = 0; i < 2; i++) payloadOf(await notifyCredit(service.client, creditOf(code.tr)))
  const partner = await newPartner(service)
  const client = await asPartner(service.client, partner)
  const { svcCardId } = payloadOf(await createCard(client, partner, {}, { 'idempotency-key': 'first' }))
  payloadOf(await service.client.post(`/sandbox/cards/${svcCardId}/spend`, { amount: 1, channel: 'pos' }))
  payloadOf(await client.patch(`/api/v0/partner/svcCard/${svcCardId}/status`, { status: 'L' }))
  const { event } = await newConfig(client, { coinsExpireAfterDays: 1, perUserDailyLimit: 10 })
  const { userId, companyId } = partner
  payloadOf(await client.post(`${COINS}/allocate`, { requestId: 'a', event, userId, companyId }))
  payloadOf(await client.post(`${COINS}/redeem`, { requestId: 'r', userId, amount: 3 }))
  expect((await balanceOf(client, userId)).active).toBe(7)
  payloadOf(
    await client.post('/api/v0/webhook-endpoints', { url: 'http://127.0.0.1:34567/hook', enabled: false }),
  )
  const relay = new Relay(service.app.services, () => undefined)
  relay.start()
  await relay.close()
})
afterAll(() => service.close())

const broken = async (): Promise<string[]> =>
  (await checkInvariants(service.app.services.database))
    .filter(({ violations }) => violations.length > 0)
    .map(({ name }) => name)

test('a service that has done its work breaks no invariant, and every kind of thing was looked at', async () => {
  expect(await broken()).toEqual([])
  const reports = await checkInvariants(service.app.services.database)
  const unseen = reports.filter(({ checked }) => checked === 0).map(({ of }) => of)
  expect(new Set(unseen)).toEqual(new Set(['deliveries']))
})

// Each is damage that no constraint prevents; the invariant of that name must tell of it.
test.each([
  ['code_events', `delete from outbox where type = 'qr_code.credited'`],
  ['card_events', `delete from outbox where type = 'card.spent'`],
  ['coin_events', `delete from outbox where type = 'coins.redeemed'`],
  ['card_answers', 'update cards set seal_hash = null'],
  ['feeds', `delete from outbox where sequence = 2`],
  ['feeds', 'update event_counters set last_sequence = last_sequence + 1'],
  [
    'event_order',
    `update outbox o set sequence = -p.sequence from outbox p where p.event_id = o.event_id and o.object_id like 'card_%'`,
  ],
  [
    'deliveries',
    `insert into webhook_deliveries (endpoint_id, tenant_id, sequence, event_id, object_id, first, due_at)
     select endpoint_id, tenant_id, 999, 'evt_none', 'none', true, now() from webhook_endpoints`,
  ],
])('%s is found broken after: %s', async (name, damage) => {
  const tables = ['outbox', 'event_counters', 'cards', 'webhook_deliveries']
  await asSuperuser(service.db.database, async (db) => {
    for (const table of tables) await db.query(`create temporary table saved_${table} as table ${table}`)
    await db.query('set session_replication_role = replica')
    await db.query(damage)
    expect(await broken()).toContain(name)
    for (const table of tables) {
      await db.query(`delete from ${table}`)
      const kept = await db.query<{ name: string }>(
        `select column_name as name from information_schema.columns
         where table_schema = 'svc' and table_name = $1 and is_generated = 'NEVER'`,
        [table],
      )
      const columns = kept.rows.map((row) => `"${row.name}"`).join()
      await db.query(
        `insert into ${table} (${columns}) overriding system value select ${columns} from saved_${table}`,
      )
    }
  })
  expect(await broken()).toEqual([])
})

test('what is asked of some objects is what is asked of all', async () => {
  // An invariant of the whole alone has nothing to ask of some.
  const whole = INVARIANTS.filter(({ differencesOf }) => !differencesOf).map(nameOf)
  expect(whole).toEqual(['sum', 'sides'])
  for (const { differencesOf } of INVARIANTS)
    if (differencesOf)
      expect(
        await service.app.services.database.operate((tx) => tx.query(differencesOf, [['none']])),
      ).toEqual([])
})

test('svc invariants says what it looked at, and exits with 1 when something is wrong', async () => {
  const env = { DATABASE_URL: service.db.url, SVC_MASTER_KEY: MASTER_KEY }
  const good = await runHere(['invariants'], env)
  expect(good.stdout).toMatch(
    /ok +balances +\d+ ledger accounts +Every balance equals the transfers of its account/,
  )
  expect(good.stdout).toContain(`All ${INVARIANTS.length} invariants hold.`)
  expect(good.code).toBe(0)
  await asSuperuser(service.db.database, (db) =>
    db.query(`update event_counters set last_sequence = last_sequence + 1`),
  )
  const bad = await runHere(['invariants', '--json'], env)
  expect(bad.code).toBe(1)
  const { ok, invariants } = JSON.parse(bad.stdout)
  expect(ok).toBe(false)
  expect(invariants.find(({ name }: { name: string }) => name === 'feeds').violations.length).toBeGreaterThan(
    0,
  )
})
