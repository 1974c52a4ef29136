import { setTenantDisabled } from '@svc/core/tenants/tenant'
import { BulkWorker } from '@svc/server/cards/bulk-worker'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { withdraw } from '../harness/bank-rail.ts'
import { encryptOrders, upload } from '../harness/bulk.ts'
import { type Client, type Json, payloadOf } from '../harness/client.ts'
import {
  closingStateOf,
  leftOpenOf,
  numberEvents,
  startClosingOf,
  takeClosingSteps,
} from '../harness/closing.ts'
import { type Browser, signedIn } from '../harness/console.ts'
import { asPartner, newPartner, type TestPartner } from '../harness/partner.ts'
import { creditOf, newCode, notifyCredit } from '../harness/qr-codes.ts'
import { asSuperuser, openService, type TestService } from '../harness/service.ts'

// Nothing works in the background but what the test runs.
let service: TestService
let admin: Browser
beforeAll(async () => {
  service = await openService({ background: false })
  admin = await signedIn(service, 'admin')
})
afterAll(() => service.close())

const sql = <T>(text: string, values: unknown[] = []): Promise<T[]> =>
  asSuperuser(service.db.database, async (db) => (await db.query(text, values)).rows as T[])
const close = (tenantId: string) => startClosingOf(service, tenantId)
const left = async (tenantId: string) => {
  await takeClosingSteps(service)
  return leftOpenOf(service, tenantId)
}
const isClosed = async (tenantId: string): Promise<boolean> => {
  await takeClosingSteps(service)
  return (await closingStateOf(service, tenantId)) === 'closed'
}
const relayed = () => numberEvents(service)
const rows = (partnerId: string) =>
  sql<{ status: string; error: string | null }>(
    'select status, error from bulk_rows where partner_id = $1 order by line',
    [partnerId],
  )
/** A partner with a job of so many orders that nothing has begun. */
const withJob = async (orders: number): Promise<[TestPartner, Client]> => {
  const partner = await newPartner(service, { fundsPaise: 500_00n })
  const client = await asPartner(service.client, partner)
  payloadOf(await upload(client, await encryptOrders(partner, orders)))
  return [partner, client]
}
const working = async (until: () => Promise<boolean>) => {
  const { loop } = new BulkWorker(service.app.services)
  loop.start()
  await expect.poll(until, { timeout: 20_000 }).toBe(true)
  await loop.stop()
}

test('the remaining orders of a bulk job fail when its partner closes, no card is issued, and the partner closes', async () => {
  const [partner] = await withJob(40)
  const { partnerId } = partner
  const [waits] = await withJob(2)
  await service.app.services.database.operate((tx) => setTenantDisabled(tx, waits.partnerId, 'partner', true))
  await close(partnerId)
  await working(async () => (await rows(partnerId)).every(({ status }) => status !== 'PENDING'))
  expect(await rows(partnerId)).toEqual(
    Array.from({ length: 40 }, () => ({ status: 'FAILED', error: 'tenant_closing' })),
  )
  expect(await sql('select from cards where partner_id = $1', [partnerId])).toEqual([])
  expect((await rows(waits.partnerId)).map(({ status }) => status)).toEqual(['PENDING', 'PENDING'])
  await relayed()
  expect(await left(partnerId)).toEqual([{ what: 'card_accounts', amount: '500.00' }])
  await withdraw(service, partner, 500_00n)
  await relayed()
  expect(await isClosed(partnerId)).toBe(true)
})

test('an order whose card was issued before its partner closed is reported as issued, with its card', async () => {
  const [{ partnerId }] = await withJob(1)
  const [kept] = await sql<Json>('select content from bulk_rows where partner_id = $1', [partnerId])
  await working(async () => (await rows(partnerId)).every(({ status }) => status === 'ISSUED'))
  // As when the process died before it recorded what came of the order.
  await sql(
    `update bulk_rows set status = 'PENDING', content = $2, svc_card_id = null, leased_until = '-infinity'
     where partner_id = $1`,
    [partnerId, kept!.content],
  )
  await sql('update bulk_jobs set issued = 0, finished_at = null where partner_id = $1', [partnerId])
  await close(partnerId)
  await working(async () => (await rows(partnerId)).every(({ status }) => status !== 'PENDING'))
  expect(await rows(partnerId)).toEqual([{ status: 'ISSUED', error: null }])
})

test('deliveries of a disabled endpoint keep no tenant open, and are in no count of pending deliveries', async () => {
  const merchant = await service.newMerchant()
  const { merchantId } = merchant
  const endpoint = { url: 'http://127.0.0.1:34567/hook' }
  const created = await admin.post('/webhooks', { tenantId: merchantId, endpoint })
  expect(created.status, created.text).toBe(200)
  const { endpointId } = created.json
  const { tr } = await newCode(service, await service.as(merchant))
  payloadOf(await notifyCredit(service.client, creditOf(tr)))
  await relayed()
  const open = async () => (await left(merchantId)).find(({ what }) => what === 'webhook_deliveries')?.count
  const queue = async () =>
    (await admin.get('/status')).json.queues.find(({ name }: Json) => name === 'webhooks')
  const overview = async () => (await admin.get('/overview')).json.queues
  const deliveries = await open()
  expect(deliveries).toBeGreaterThan(0)
  // Both pages are read from a cache of seconds.
  const soon = { timeout: 20_000 }
  await expect.poll(queue, soon).toMatchObject({ waiting: deliveries, oldestOn: expect.any(String) })
  await expect
    .poll(overview, soon)
    .toMatchObject({ deliveriesWaiting: deliveries, oldestDeliveryOn: expect.any(String) })
  await admin.send('PATCH', `/webhooks/${endpointId}`, { enabled: false })
  expect(await open()).toBeUndefined()
  await expect.poll(queue, soon).toEqual({ name: 'webhooks', waiting: 0 })
  await expect.poll(overview, soon).toMatchObject({ deliveriesWaiting: 0 })
  expect(await overview()).not.toHaveProperty('oldestDeliveryOn')
})
