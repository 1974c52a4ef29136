import { afterAll, beforeAll, expect, test } from 'vitest'
import { done, encryptOrder, upload } from '../harness/bulk.ts'
import { newIdentity, Terminal } from '../harness/card-rail.ts'
import { type Client, type Json, payloadOf } from '../harness/client.ts'
import { asCoinPartner, balanceOf, COINS, newCoinPartner, newConfig } from '../harness/coins.ts'
import { asPartner, createCard, newPartner } from '../harness/partner.ts'
import { newCode } from '../harness/qr-codes.ts'
import { asSuperuser, openService, type TestMerchant, type TestService } from '../harness/service.ts'
import { verifyDelivery, WebhookReceiver } from '../harness/webhook-receiver.ts'

const HOUR_S = 3_600
const DAY_S = 24 * HOUR_S
const YEAR_S = 365 * DAY_S

let service: TestService
let receiver: WebhookReceiver
let shop: TestMerchant
let neighbour: TestMerchant
beforeAll(async () => {
  service = await openService()
  receiver = await WebhookReceiver.open()
  ;[shop, neighbour] = await Promise.all([service.newMerchant(), service.newMerchant()])
})
afterAll(async () => {
  await service.close()
  await receiver.close()
})

const clockOf = (tenantId: string) => `/sandbox/tenants/${tenantId}/clock`
const advance = (tenantId: string, body: object) => service.client.post(`${clockOf(tenantId)}/advance`, body)
const inSeconds = (seconds: number) => new Date(Date.now() + seconds * 1_000).toISOString()
const typesOf = async (client: Client): Promise<string[]> =>
  payloadOf(await client.get('/api/v0/events?limit=100')).data.map(({ type }: Json) => type)

test('a one-year QR code expires when its merchant’s clock is advanced by a year, and another merchant’s does not', async () => {
  const [own, other] = [await service.as(shop), await service.as(neighbour)]
  const body = { expiry: inSeconds(YEAR_S), qrName: 'A year', amount: 10 }
  const [code, kept] = [await newCode(service, own, body), await newCode(service, other, body)]
  const moved = payloadOf(await advance(shop.merchantId, { bySeconds: YEAR_S + HOUR_S }))
  expect(moved.aheadSeconds).toBe(YEAR_S + HOUR_S)
  expect(Date.parse(moved.now)).toBeGreaterThan(Date.parse(body.expiry))
  expect((await own.get(`/api/v0/qr-code/${code.qrCodeId}`)).error).toBe('invalid_token')
  const pay = (qrCodeId: string) => service.client.post('/sandbox/upi/pay', { qrCodeId })
  expect(payloadOf(await pay(code.qrCodeId)).payment).toMatchObject({
    status: 'REFUNDED',
    reason: 'qr_code_expired',
  })
  expect(payloadOf(await pay(kept.qrCodeId)).payment.status).toBe('ACCEPTED')
  const later = await service.as(shop)
  await expect.poll(() => typesOf(later), { timeout: 10_000 }).toContain('qr_code.expired')
  expect(await typesOf(other)).not.toContain('qr_code.expired')
})

test('one-year coins are awarded and expire, with their event, in one test', async () => {
  const { partner, client } = await newCoinPartner(service)
  const { event } = await newConfig(client, { amount: 7, coinsExpireAfterDays: 365 })
  const { userId, companyId } = partner
  payloadOf(await client.post(`${COINS}/allocate`, { requestId: 'year', event, userId, companyId }))
  payloadOf(await advance(partner.partnerId, { bySeconds: YEAR_S - HOUR_S }))
  const later = await asCoinPartner(service.client, partner)
  expect(await balanceOf(later, userId)).toMatchObject({ active: 7, expired: 0 })
  payloadOf(await advance(partner.partnerId, { bySeconds: HOUR_S + 60 }))
  const last = await asCoinPartner(service.client, partner)
  expect(await balanceOf(last, userId)).toMatchObject({ active: 0, expired: 7 })
  await expect.poll(() => typesOf(last), { timeout: 10_000 }).toContain('coins.expired')
})

test('coins are announced once, seven days before they expire by their partner’s clock, less what is spent', async () => {
  const { partner, client } = await newCoinPartner(service)
  const { event } = await newConfig(client, { amount: 7, coinsExpireAfterDays: 30 })
  const { partnerId, userId, companyId } = partner
  const allocated = payloadOf(
    await client.post(`${COINS}/allocate`, { requestId: 'month', event, userId, companyId }),
  )
  const { allocationId, expiresOn } = allocated
  const noticesAfter = async (bySeconds: number) => {
    payloadOf(await advance(partnerId, { bySeconds }))
    const later = await asCoinPartner(service.client, partner)
    const ofType = async (type: string) =>
      payloadOf(await later.get(`/api/v0/events?limit=100&type=${type}`)).data
    return { later, ofType }
  }
  const early = await noticesAfter(23 * DAY_S - HOUR_S)
  payloadOf(await early.later.post(`${COINS}/redeem`, { requestId: 'two', userId, amount: 2 }))
  await expect.poll(() => early.ofType('coins.redeemed'), { timeout: 10_000 }).toHaveLength(1)
  expect(await early.ofType('coins.expiring')).toEqual([])
  const due = await noticesAfter(2 * HOUR_S)
  await expect.poll(() => due.ofType('coins.expiring'), { timeout: 10_000 }).toHaveLength(1)
  const last = await noticesAfter(8 * DAY_S)
  await expect.poll(() => last.ofType('coins.expired'), { timeout: 10_000 }).toHaveLength(1)
  expect((await last.ofType('coins.expiring')).map(({ data }: Json) => data)).toEqual([
    { userId, amount: 5, allocations: [{ allocationId, amount: 5, expiresOn }], balance: 5 },
  ])
})

test('a hold on a card expires with the partner’s clock', async () => {
  const partner = await newPartner(service)
  const issuer = await asPartner(service.client, partner)
  const { svcCardId, token } = payloadOf(await createCard(issuer, partner))
  const terminal = new Terminal(service.client, token)
  await terminal.authorize(100, newIdentity())
  const card = async () =>
    payloadOf(await (await asPartner(service.client, partner)).get(`/api/v0/partner/svcCard/${svcCardId}`))
  expect(await card()).toMatchObject({ holdBalance: 100 })
  payloadOf(await advance(partner.partnerId, { bySeconds: 30 * DAY_S }))
  expect(await card()).toMatchObject({ holdBalance: 0 })
})

test('users are erased once their partner’s clock is USER_RETENTION_DAYS past their last card, others are not', async () => {
  const keeping = await openService({ env: { USER_RETENTION_DAYS: '30' }, background: false })
  try {
    const [partner, beside] = [await newPartner(keeping), await newPartner(keeping)]
    const blocked = async (of: typeof partner): Promise<string> => {
      const issuer = await asPartner(keeping.client, of)
      const { svcCardId, userId } = payloadOf(await createCard(issuer, of, { loadAmount: 500 }))
      payloadOf(
        await keeping.client.post(`/sandbox/cards/${svcCardId}/spend`, { amount: 500, channel: 'pos' }),
      )
      const body = { status: 'BL', reason: 'lost' }
      payloadOf(await issuer.patch(`/api/v0/partner/svcCard/${svcCardId}/status`, body))
      return userId
    }
    const [userId, keptId] = [await blocked(partner), await blocked(beside)]
    const isErased = async (of: typeof partner, id: string) =>
      payloadOf(await (await asPartner(keeping.client, of)).get(`/api/v0/partner/users/${id}`)).erasedOn !==
      undefined
    const go = async (bySeconds: number) =>
      payloadOf(await keeping.client.post(`${clockOf(partner.partnerId)}/advance`, { bySeconds }))
    await go(29 * DAY_S)
    expect(await isErased(partner, userId)).toBe(false)
    await go(2 * DAY_S)
    expect(await isErased(partner, userId)).toBe(true)
    expect(await isErased(beside, keptId)).toBe(false)
  } finally {
    await keeping.close()
  }
})

test('a bulk job starts and ends at the time of its partner’s clock, after it was received', async () => {
  const partner = await newPartner(service)
  payloadOf(await advance(partner.partnerId, { bySeconds: 30 * DAY_S }))
  const client = await asPartner(service.client, partner)
  const { jobId } = payloadOf(await upload(client, [JSON.stringify(await encryptOrder(partner))]))
  const { issued, createdOn, modifiedOn } = await done(client, jobId)
  expect([issued, Date.parse(modifiedOn) - Date.parse(createdOn) < HOUR_S * 1_000]).toEqual([1, true])
  expect(Date.parse(modifiedOn)).toBeGreaterThanOrEqual(Date.parse(createdOn))
  // No response has the time of its start.
  const { rows } = await asSuperuser(service.db.database, (db) =>
    db.query(
      'select started_at between created_at and finished_at as fits from bulk_jobs where job_id = $1',
      [jobId],
    ),
  )
  expect(rows).toEqual([{ fits: true }])
})

test('a delivery that waits for an hour is retried once the clock has advanced by an hour', async () => {
  const merchant = await service.newMerchant()
  const tenant = await service.as(merchant)
  receiver.response = (_, response) => void response.writeHead(503, { 'retry-after': '7200' }).end()
  const url = receiver.url('/waits')
  const { endpointId } = payloadOf(await tenant.post('/api/v0/webhook-endpoints', { url }))
  await newCode(service, tenant)
  const attempts = async () =>
    payloadOf(await tenant.get(`/api/v0/webhook-endpoints/${endpointId}/attempts`)).data.length
  await expect.poll(attempts, { timeout: 20_000 }).toBe(1)
  payloadOf(await advance(merchant.merchantId, { bySeconds: 2 * HOUR_S }))
  await receiver.until(() => receiver.at('/waits').length === 2)
})

test('an event that is sent again goes out at once, also when the clock is ahead', async () => {
  const merchant = await service.newMerchant()
  payloadOf(await advance(merchant.merchantId, { bySeconds: 30 * DAY_S }))
  const tenant = await service.as(merchant)
  receiver.response = (_, response) => void response.writeHead(204).end()
  const url = receiver.url('/again')
  const { endpointId } = payloadOf(await tenant.post('/api/v0/webhook-endpoints', { url }))
  await newCode(service, tenant)
  const received = (count: number) => receiver.until(() => receiver.at('/again').length === count)
  await received(1)
  const { event } = receiver.at('/again')[0]!
  const path = `/api/v0/webhook-endpoints/${endpointId}`
  payloadOf(await tenant.post(`${path}/resend`, { eventId: event.id }))
  await received(2)
  const to = new Date(Date.parse(event.createdOn) + 1).toISOString()
  payloadOf(await tenant.post(`${path}/replay`, { from: event.createdOn, to }))
  await received(3)
})

test('a replaced webhook secret stops signing at its end, also when the clock is ahead', async () => {
  const merchant = await service.newMerchant()
  payloadOf(await advance(merchant.merchantId, { bySeconds: 30 * DAY_S }))
  const tenant = await service.as(merchant)
  const url = receiver.url('/replaced')
  const created = payloadOf(await tenant.post('/api/v0/webhook-endpoints', { url }))
  const path = `/api/v0/webhook-endpoints/${created.endpointId}/rotate-secret`
  const { secret } = payloadOf(await tenant.post(path, { graceSeconds: 60 }))
  service.clock.advance(61_000)
  await newCode(service, tenant)
  await receiver.until(() => receiver.at('/replaced').length === 1)
  const [delivery] = receiver.at('/replaced')
  verifyDelivery(delivery!, secret)
  expect(() => verifyDelivery(delivery!, created.secret)).toThrow('No matching signature')
})

test('a second process of the sandbox follows the clock', async () => {
  const other = await openService({ db: service.db, background: false })
  try {
    payloadOf(await advance(neighbour.merchantId, { bySeconds: DAY_S }))
    const seen = async () => payloadOf(await other.client.get(clockOf(neighbour.merchantId))).aheadSeconds
    await expect.poll(seen, { timeout: 10_000 }).toBe(DAY_S)
  } finally {
    await other.close()
  }
})

test('a clock is only advanced, by ten years at most, and each rejection names its field', async () => {
  const { merchantId } = await service.newMerchant()
  const refusal = async (body: object) => {
    const { status, errorDescription } = await advance(merchantId, body)
    return `${status} ${errorDescription}`
  }
  expect(await refusal({})).toMatch(/^400 bySeconds or to is required, not both/)
  expect(await refusal({ bySeconds: -60 })).toMatch(/^400 bySeconds must be /)
  expect(await refusal({ bySeconds: 401 * DAY_S })).toMatch(/^400 bySeconds must be /)
  payloadOf(await advance(merchantId, { bySeconds: 60 }))
  await asSuperuser(service.db.database, (db) =>
    db.query('update test_clocks set ahead_ms = $2 where tenant_id = $1', [merchantId, 10 * YEAR_S * 1_000]),
  )
  expect(await refusal({ bySeconds: 1 })).toMatch(/^400 bySeconds takes the clock more than 10 years ahead/)
  for (const tenantId of ['mer_nobody', 'x'.repeat(65)])
    expect((await advance(tenantId, { bySeconds: 1 })).error).toBe('tenant_not_found')
})

test('an advance to an instant may be repeated and sent several times at once: the clock goes there, and no further', async () => {
  const { merchantId } = await service.newMerchant()
  const to = inSeconds(3 * DAY_S)
  const shown = await Promise.all(Array.from({ length: 5 }, () => advance(merchantId, { to })))
  for (const response of [...shown, await advance(merchantId, { to })]) payloadOf(response)
  const { now, aheadSeconds } = payloadOf(await service.client.get(clockOf(merchantId)))
  expect(Date.parse(now)).toBeGreaterThanOrEqual(Date.parse(to) - 1_000)
  expect(aheadSeconds).toBeLessThanOrEqual(3 * DAY_S)
  // A clock goes only forward.
  expect(payloadOf(await advance(merchantId, { to: inSeconds(DAY_S) })).aheadSeconds).toBe(aheadSeconds)
  for (const body of [{}, { to, bySeconds: 1 }, { to: inSeconds(405 * DAY_S) }, { to: 'tomorrow' }])
    expect(await advance(merchantId, body)).toMatchObject({ status: 400, error: 'validation_failed' })
})

test('an advance outlasts COMMAND_TIMEOUT_MS, which ends every other request', async () => {
  const slow = await openService({ env: { COMMAND_TIMEOUT_MS: '1000' } })
  const { merchantId } = await slow.newMerchant()
  const [startMs, days] = [performance.now(), 400]
  const response = await slow.client.post(`${clockOf(merchantId)}/advance`, { bySeconds: days * DAY_S })
  expect(payloadOf(response).aheadSeconds).toBe(days * DAY_S)
  // Else it has shown nothing.
  expect(performance.now() - startMs).toBeGreaterThan(1_000)
  await slow.close()
})
