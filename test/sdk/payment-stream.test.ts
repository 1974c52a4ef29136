import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import type { Merchant, MerchantOptions } from '../../packages/sdk/src/index.ts'
import { HttpProxy } from '../harness/http-proxy.ts'
import { creditOf, notifyCredit, trsOf } from '../harness/qr-codes.ts'
import { merchantClient } from '../harness/sdk.ts'
import { openService, type TestMerchant, type TestService } from '../harness/service.ts'

const FEED = '/api/v0/events'
const STREAM = '/api/v0/events/stream'
/** So long that only an event can end a wait. */
const BY_EVENT = { pollMs: 600_000 }
const STREAMS_MAX = 5

let service: TestService
let proxy: HttpProxy
let merchant: TestMerchant
beforeAll(async () => {
  service = await openService()
  proxy = await HttpProxy.open(service.baseUrl)
})
afterEach(() => {
  proxy.seen.length = 0
})
afterAll(async () => {
  await proxy.close()
  await service.close()
})

/** A client of a merchant of its own, and the paths of the responses that it got whole; of a stream, once it began. */
async function newClient(options: Partial<MerchantOptions> = {}) {
  merchant = await service.newMerchant()
  const got: string[] = []
  const onResponse = ({ url }: { readonly url: string }) => void got.push(new URL(url).pathname)
  const client = merchantClient(proxy, merchant, { onResponse, ...options })
  const times = (path: string) => got.filter((each) => each === path).length
  return { client, times }
}
const newCode = async ({ qrCodes }: Merchant) => (await qrCodes.create({ amount: 5 })).qrCodeId
const pathOf = (qrCodeId: string) => `/api/v0/qr-code/${qrCodeId}`

async function pay(qrCodeId: string): Promise<void> {
  const tr = (await trsOf(service.db.database, [qrCodeId])).get(qrCodeId)!
  await notifyCredit(service.client, creditOf(tr, { amount: 5 }))
}

/** How many of five streams the service opens for the merchant now. */
async function freeStreams(): Promise<number> {
  const { events } = merchantClient(service, merchant)
  const all = Array.from({ length: STREAMS_MAX }, () => events.follow({ maxReconnects: 0 }))
  const begun = await Promise.allSettled(all.map((following) => following.next()))
  await Promise.all(all.map((following) => following.return()))
  return begun.filter(({ status }) => status === 'fulfilled').length
}

test('eight codes awaited at once use one stream of the tenant, and none once they are paid', async () => {
  const { client, times } = await newClient()
  const codes = await Promise.all(Array.from({ length: 8 }, () => newCode(client)))
  const waits = codes.map((qrCodeId) => client.qrCodes.waitForPayment(qrCodeId, BY_EVENT))
  await expect.poll(() => times(STREAM), { timeout: 10_000 }).toBe(1)
  expect(await freeStreams()).toBe(STREAMS_MAX - 1)
  for (const qrCodeId of codes) await pay(qrCodeId)
  expect(await Promise.all(waits)).toMatchObject(
    codes.map((qrCodeId) => ({ outcome: 'paid', code: { qrCodeId } })),
  )
  expect(times(STREAM)).toBe(1)
  await expect.poll(freeStreams, { timeout: 30_000, interval: 500 }).toBe(STREAMS_MAX)
})

test('a wait that ends leaves the stream to the others; the first wait after the last one opens another', async () => {
  const { client, times } = await newClient()
  const [first, second, third] = [await newCode(client), await newCode(client), await newCode(client)]
  const ending = new AbortController()
  const ended = client.qrCodes.waitForPayment(first, { ...BY_EVENT, signal: ending.signal })
  const waiting = client.qrCodes.waitForPayment(second, BY_EVENT)
  await expect.poll(() => [times(STREAM), times(pathOf(second))], { timeout: 10_000 }).toEqual([1, 2])
  ending.abort(new Error('the till was closed'))
  await expect(ended).rejects.toThrow('the till was closed')
  await pay(second)
  expect(await waiting).toMatchObject({ outcome: 'paid' })
  expect(times(STREAM)).toBe(1)
  const later = client.qrCodes.waitForPayment(third, BY_EVENT)
  await expect.poll(() => [times(STREAM), times(pathOf(third))], { timeout: 10_000 }).toEqual([2, 2])
  await pay(third)
  expect(await later).toMatchObject({ outcome: 'paid' })
})

test('a payment that arrives while the connection of the shared stream is lost ends its wait', async () => {
  const { client, times } = await newClient()
  const codes = [await newCode(client), await newCode(client)]
  const waits = codes.map((qrCodeId) => client.qrCodes.waitForPayment(qrCodeId, BY_EVENT))
  const counts = () => [times(STREAM), ...codes.map((qrCodeId) => times(pathOf(qrCodeId)))]
  await expect.poll(counts, { timeout: 10_000 }).toEqual([1, 2, 2])
  service.app.http.server.closeAllConnections()
  for (const qrCodeId of codes) await pay(qrCodeId)
  expect(await Promise.all(waits)).toMatchObject([{ outcome: 'paid' }, { outcome: 'paid' }])
  expect(times(STREAM)).toBe(2)
})

test.each([
  ['its position is asked for', FEED],
  ['its connection is made', STREAM],
])(
  'a code that is awaited and paid while the shared stream begins, when %s, ends its wait',
  async (_, held) => {
    let reach = () => {}
    let release = () => {}
    const reached = new Promise<void>((resolve) => (reach = resolve))
    const released = new Promise<void>((resolve) => (release = resolve))
    const { client, times } = await newClient({
      fetch: async (input, init) => {
        if (new URL(input as string).pathname === held) {
          reach()
          await released
        }
        return fetch(input, init)
      },
    })
    const [first, second] = [await newCode(client), await newCode(client)]
    const earlier = client.qrCodes.waitForPayment(first, BY_EVENT)
    await reached
    const joined = client.qrCodes.waitForPayment(second, BY_EVENT)
    await expect.poll(() => times(pathOf(second)), { timeout: 10_000 }).toBe(1)
    await pay(second)
    // So that the position that the client asks for is behind this payment.
    const { events } = merchantClient(service, merchant)
    const credits = async () => (await events.list({ type: 'qr_code.credited' }).take(9)).length
    await expect.poll(credits, { timeout: 10_000 }).toBe(1)
    release()
    expect(await joined).toMatchObject({ outcome: 'paid', code: { qrCodeId: second } })
    await pay(first)
    expect(await earlier).toMatchObject({ outcome: 'paid', code: { qrCodeId: first } })
  },
)

test('where the tenant has no stream left, following ends with too_many_event_streams, and a wait polls', async () => {
  const { client } = await newClient()
  const qrCodeId = await newCode(client)
  const all = Array.from({ length: STREAMS_MAX }, () => client.events.follow())
  for (const following of all) await following.next()
  await expect(client.events.follow({ maxReconnects: 0 }).next()).rejects.toMatchObject({
    error: 'too_many_event_streams',
    status: 429,
    retryAfterMs: 5_000,
  })
  const waiting = client.qrCodes.waitForPayment(qrCodeId, { pollMs: 50 })
  await pay(qrCodeId)
  expect(await waiting).toMatchObject({ outcome: 'paid' })
  for (const following of all) await following.return()
})
