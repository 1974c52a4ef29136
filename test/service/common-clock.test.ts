import { setTimeout } from 'node:timers/promises'
import { verifyClosings } from '@svc/core/ledger/verify-closings'
import { calendarDay } from '@svc/kernel/time'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { runHere } from '../harness/cli.ts'
import { type Json, payloadOf } from '../harness/client.ts'
import { type Browser, signedIn } from '../harness/console.ts'
import { creditOf, newCode, notifyCredit } from '../harness/qr-codes.ts'
import { brokenIn } from '../harness/refunds.ts'
import {
  asSuperuser,
  MASTER_KEY,
  openService,
  type TestMerchant,
  type TestService,
} from '../harness/service.ts'

const DAY_S = 86_400

let service: TestService
let finance: Browser
beforeAll(async () => {
  service = await openService()
  finance = await signedIn(service, 'finance')
})
afterAll(() => service.close())

const clockOf = async (tenantId: string) =>
  payloadOf(await service.client.get(`/sandbox/tenants/${tenantId}/clock`))
const advance = async (tenantId: string, body: object) =>
  payloadOf(await service.client.post(`/sandbox/tenants/${tenantId}/clock/advance`, body))

/** A payment to the merchant, now by its clock. */
async function pay(merchant: TestMerchant): Promise<string> {
  const { tr } = await newCode(service, await service.as(merchant), { multipleUse: true })
  return payloadOf(await notifyCredit(service.client, creditOf(tr))).status
}

test('the clock waits for what another process has in hand', async () => {
  const merchant = await service.newMerchant()
  const expiry = new Date(Date.now() + DAY_S * 1_000).toISOString()
  await newCode(service, await service.as(merchant), { expiry, qrName: 'In hand', amount: 5 })
  const expired = () =>
    asSuperuser(service.db.database, async (db) => {
      const { rows } = await db.query('select expiry_told as told from qr_codes where merchant_id = $1', [
        merchant.merchantId,
      ])
      return rows[0].told
    })
  const advanced = await asSuperuser(service.db.database, async (db) => {
    await db.query('begin')
    await db.query('select from qr_codes where merchant_id = $1 for update', [merchant.merchantId])
    const done = advance(merchant.merchantId, { bySeconds: 2 * DAY_S }).then(expired)
    await expect.poll(async () => (await clockOf(merchant.merchantId)).aheadSeconds).toBe(DAY_S)
    // Passed over by then, more than once.
    await setTimeout(200)
    await db.query('commit')
    return done
  })
  expect(advanced).toBe(true)
})

test('once a clock was advanced, the events of what became due are in the feed, although nothing else numbers them', async () => {
  // Nothing in this process numbers events by itself.
  const alone = await openService({ background: false })
  const merchant = await alone.newMerchant()
  const expiry = new Date(Date.now() + 3_600_000).toISOString()
  const { qrCodeId } = await newCode(alone, await alone.as(merchant), {
    expiry,
    qrName: 'An hour',
    amount: 5,
  })
  await alone.client.post('/sandbox/tenants/house/clock/advance', { bySeconds: DAY_S })
  // Its token has expired, too.
  const { data } = payloadOf(await (await alone.as(merchant)).get('/api/v0/events'))
  expect(data.map(({ type }: Json) => type)).toEqual(['qr_code.created', 'qr_code.expired'])
  expect(data[1].data.qrCodeId).toBe(qrCodeId)
  await alone.close()
})

test('the clock of all takes along all tenants that are not ahead of it, also later ones, and does what is due', async () => {
  const [behind, ahead] = [await service.newMerchant(), await service.newMerchant()]
  await advance(ahead.merchantId, { bySeconds: 3 * DAY_S })
  const expiry = new Date(Date.now() + 1.5 * DAY_S * 1_000).toISOString()
  const { qrCodeId } = await newCode(service, await service.as(behind), {
    expiry,
    qrName: 'A day',
    amount: 5,
  })
  expect((await advance('house', { bySeconds: 2 * DAY_S })).aheadSeconds).toBe(2 * DAY_S)
  const later = await service.newMerchant()
  const seen = [behind, later, ahead].map(async ({ merchantId }) => (await clockOf(merchantId)).aheadSeconds)
  expect(await Promise.all(seen)).toEqual([2 * DAY_S, 2 * DAY_S, 3 * DAY_S])
  const { data } = payloadOf(await (await service.as(behind)).get('/api/v0/events?limit=100'))
  expect(data.filter(({ type }: Json) => type === 'qr_code.expired')).toMatchObject([{ data: { qrCodeId } }])
  // Its own clock goes on from that of all.
  expect((await advance(behind.merchantId, { bySeconds: DAY_S })).aheadSeconds).toBe(3 * DAY_S)
})

test('a month is closed once the time of all is past it, whatever that of one is, and then everyone goes on', async () => {
  const [shop, other] = [await service.newMerchant(), await service.newMerchant()]
  expect([await pay(shop), await pay(other)]).toEqual(['ACCEPTED', 'ACCEPTED'])
  const month = calendarDay(new Date(Date.parse((await clockOf('house')).now)), 'Asia/Kolkata').slice(0, 7)
  const [year, number] = month.split('-').map(Number) as [number, number]
  const through = new Date(Date.UTC(year, number, 0)).toISOString().slice(0, 10)
  const after = new Date(Date.parse(`${through}T23:59:59+05:30`) + 2 * 3_600_000).toISOString()
  const despite = 'practice'
  const close = () => finance.post(`/book-months/${through}/close`, { despite })
  await advance(shop.merchantId, { to: after })
  expect((await close()).json).toMatchObject({ error: 'period_not_over' })
  await advance('house', { to: after })
  expect((await close()).json).toMatchObject({ state: 'CLOSED' })
  expect([await pay(shop), await pay(other), await pay(await service.newMerchant())]).toEqual(
    Array(3).fill('ACCEPTED'),
  )
  const env = { DATABASE_URL: service.db.url, SVC_MASTER_KEY: MASTER_KEY }
  expect(await runHere(['admin', 'books', 'verify'], env)).toMatchObject({ code: 0 })
  const { database, keyring } = service.app.services
  const verified = await database.report((tx) => verifyClosings(tx, keyring))
  expect(verified).toMatchObject([{ through, problem: null }])
  expect(await brokenIn(service)).toEqual([])
})
