import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Client, type Json, payloadOf } from '../harness/client.ts'
import { expectFailure } from '../harness/failure.ts'
import { asPartner, newPartner } from '../harness/partner.ts'
import { newCode, newCodes } from '../harness/qr-codes.ts'
import { asSuperuser, openService, type TestMerchant, type TestService, tokenOf } from '../harness/service.ts'

const FEED = '/api/v0/events'
const STREAM = '/api/v0/events/stream'

let service: TestService
beforeAll(async () => {
  service = await openService()
})
afterAll(() => service.close())

const page = async (tenant: Client, query: string): Promise<Json> =>
  payloadOf(await tenant.get(`${FEED}?${query}`))

/** A merchant whose feed ends at this number. */
async function merchantWith(events: number): Promise<{ merchant: TestMerchant; tenant: Client }> {
  const merchant = await service.newMerchant()
  const tenant = await service.as(merchant)
  await newCodes(service, tenant, events)
  await numbered(tenant, events)
  return { merchant, tenant }
}

async function numbered(tenant: Client, events: number): Promise<void> {
  while ((await page(tenant, 'limit=500')).data.length < events)
    await new Promise((resolve) => setTimeout(resolve, 50))
}

const openStream = async ({ apiKey }: TestMerchant, query: string, headers: Record<string, string> = {}) =>
  fetch(`${service.baseUrl}${STREAM}?${query}`, {
    headers: { authorization: `Bearer ${await tokenOf(service.client, apiKey)}`, ...headers },
  })

/** The data directory goes back to an earlier backup: the last events of the feed never were. */
const restoreTo = (merchantId: string, last: number): Promise<void> =>
  asSuperuser(service.db.database, async (db) => {
    await db.query('delete from webhook_deliveries where tenant_id = $1', [merchantId])
    await db.query(
      `delete from outbox where (tenant_id, event_id) in (
         select tenant_id, event_id from event_numbers where tenant_id = $1 and sequence > $2)`,
      [merchantId, last],
    )
    await db.query('delete from event_numbers where tenant_id = $1 and sequence > $2', [merchantId, last])
    await db.query('update event_counters set last_sequence = $2 where tenant_id = $1', [merchantId, last])
  })

test('after=latest returns the newest position and no events, and reading on from there misses nothing', async () => {
  const { tenant } = await merchantWith(3)
  const latest = await page(tenant, 'after=latest')
  expect(latest).toEqual({ recordsCount: 0, data: [], next: 3, more: false })
  await newCode(service, tenant)
  await numbered(tenant, 4)
  expect((await page(tenant, `after=${latest.next}`)).data.map(({ sequence }: Json) => sequence)).toEqual([4])
  expect(await page(tenant, 'after=latest&type=qr_code.cancelled&limit=1')).toMatchObject({
    recordsCount: 0,
    next: 4,
  })
})

test('after=latest of a tenant without events is 0', async () => {
  const tenant = await service.as(await service.newMerchant())
  expect(await page(tenant, 'after=latest')).toEqual({ recordsCount: 0, data: [], next: 0, more: false })
})

test('a stream after=latest begins with the next event', async () => {
  const { merchant, tenant } = await merchantWith(2)
  const stream = await openStream(merchant, 'after=latest')
  expect(stream.status).toBe(200)
  await newCode(service, tenant)
  const decoder = new TextDecoder()
  let text = ''
  for await (const bytes of stream.body!) {
    text += decoder.decode(bytes as Uint8Array, { stream: true })
    if (text.includes('id: 3\n')) break
  }
  expect(text).not.toMatch(/^id: [12]$/m)
})

test('a position beyond the end of the feed is rejected with events_ahead, which names the end: in pages and in streams', async () => {
  const { merchant, tenant } = await merchantWith(2)
  for (const path of [FEED, STREAM])
    for (const after of ['3', '999999999999999']) {
      const refused = await tenant.get(`${path}?after=${after}`)
      expectFailure(refused, 'events_ahead')
      expect(refused.errorDescription).toContain('after=2')
    }
  expectFailure(await tenant.get(STREAM, { 'last-event-id': '3' }), 'events_ahead')
  expect(await page(tenant, 'after=2')).toMatchObject({ recordsCount: 0, next: 2 })
  const stream = await openStream(merchant, 'after=2')
  expect(stream.status).toBe(200)
  await stream.body!.cancel()
})

test('a tenant that never had an event gets 0 as the end of its feed', async () => {
  const partner = await newPartner(service)
  const tenant = await asPartner(service.client, partner)
  expectFailure(await tenant.get(`${FEED}?after=1`), 'events_ahead')
})

test('a consumer of a feed that was restored to an earlier state detects it: by page, by stream, and in an open stream', async () => {
  const { merchant, tenant } = await merchantWith(5)
  const open = await openStream(merchant, 'after=5')
  const ended = open.text()
  await restoreTo(merchant.merchantId, 3)
  expectFailure(await tenant.get(`${FEED}?after=5`), 'events_ahead')
  expectFailure(await tenant.get(STREAM, { 'last-event-id': '5' }), 'events_ahead')
  // The open stream ends, so that its reader connects again and is refused.
  expect(await ended).not.toContain('id: ')
  expect((await page(tenant, 'after=3')).recordsCount).toBe(0)
})

test('an invalid position is rejected with the rule', async () => {
  const { tenant } = await merchantWith(1)
  for (const after of ['', 'newest', '-1', '1.0', 'LATEST', '1e3']) {
    expectFailure(await tenant.get(`${FEED}?after=${after}`), 'validation_failed')
    expectFailure(await tenant.get(`${STREAM}?after=${after}`), 'validation_failed')
  }
  expectFailure(await tenant.get(STREAM, { 'last-event-id': 'latest' }), 'validation_failed')
})
