import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { type ResponseInfo, type RetryInfo, SvcError, VERSION } from '../../packages/sdk/src/index.ts'
import { HttpProxy } from '../harness/http-proxy.ts'
import { creditOf, notifyCredit, trsOf } from '../harness/qr-codes.ts'
import { merchantClient } from '../harness/sdk.ts'
import { openService, type TestMerchant, type TestService } from '../harness/service.ts'

const CODES = '/api/v0/qr-code'

let service: TestService
let proxy: HttpProxy
let merchant: TestMerchant
beforeAll(async () => {
  service = await openService()
  proxy = await HttpProxy.open(service.baseUrl)
  merchant = await service.newMerchant()
})
afterEach(() => {
  proxy.decide = () => 'pass'
  proxy.seen.length = 0
})
afterAll(async () => {
  await proxy.close()
  await service.close()
})

async function pay(qrCodeId: string, amount: number): Promise<string> {
  const tr = (await trsOf(service.db.database, [qrCodeId])).get(qrCodeId)!
  const credit = creditOf(tr, { amount })
  await notifyCredit(service.client, credit)
  return credit.utr
}
const newCode = (amount: number) => merchantClient(service, merchant).qrCodes.create({ amount })
const followed = () => proxy.seen.some(({ path }) => path.startsWith('/api/v0/events/stream'))

test('a payment is awaited by events: the code is fetched again when its event arrives, not before', async () => {
  const { qrCodeId } = await newCode(7)
  const waiting = merchantClient(proxy, merchant).qrCodes.waitForPayment(qrCodeId, { pollMs: 600_000 })
  await expect.poll(followed, { timeout: 10_000 }).toBe(true)
  const [other, utr] = [await newCode(8), await pay(qrCodeId, 7)]
  await pay(other.qrCodeId, 8)
  expect(await waiting).toMatchObject({ outcome: 'paid', payment: { utr, amount: 7 }, code: { qrCodeId } })
})

test('a payment that arrived before the call ends the wait at once', async () => {
  const { qrCodeId } = await newCode(9)
  const utr = await pay(qrCodeId, 9)
  const { qrCodes } = merchantClient(proxy, merchant)
  expect(await qrCodes.waitForPayment(qrCodeId, { pollMs: 600_000 })).toMatchObject({ payment: { utr } })
})

test('where no stream is available, the payment is found by polling', async () => {
  proxy.decide = ({ path }) => (path.includes('/events/stream') ? { status: 403 } : 'pass')
  const { qrCodeId } = await newCode(10)
  const waiting = merchantClient(proxy, merchant).qrCodes.waitForPayment(qrCodeId, { pollMs: 50 })
  await expect.poll(followed, { timeout: 10_000 }).toBe(true)
  const utr = await pay(qrCodeId, 10)
  expect(await waiting).toMatchObject({ outcome: 'paid', payment: { utr } })
})

test('a wait ends for a cancelled code, for an unknown id, and with its signal', async () => {
  const { qrCodes } = merchantClient(service, merchant)
  const { qrCodeId } = await newCode(11)
  const stop = new AbortController()
  const stopped = qrCodes.waitForPayment(qrCodeId, { signal: stop.signal })
  stop.abort(new Error('the till was closed'))
  await expect(stopped).rejects.toThrow('the till was closed')
  const waiting = qrCodes.waitForPayment(qrCodeId, { pollMs: 50 })
  const cancelReason = 'the order changed'
  await qrCodes.cancel(qrCodeId, { reason: cancelReason })
  expect(await waiting).toMatchObject({ outcome: 'cancelled', code: { qrCodeId, cancelReason } })
  const missing = await qrCodes
    .waitForPayment(qrCodeId.replace(/.$/, (last) => (last === '0' ? '1' : '0')))
    .catch((error: unknown) => error)
  expect(SvcError.is(missing, 'qr_code_not_found')).toBe(true)
})

test('a call reports its request id, rate limit and attempts; a client its retries and its User-Agent', async () => {
  const [responses, own, retries, lines]: [ResponseInfo[], ResponseInfo[], RetryInfo[], string[]] = [
    [],
    [],
    [],
    [],
  ]
  const logger = { debug: (line: string) => lines.push(line), warn: (line: string) => lines.push(line) }
  const { qrCodes } = merchantClient(proxy, merchant, {
    headers: { 'x-gateway-key': 'gateway-secret' },
    logger,
    onResponse: (response) => responses.push(response),
    onRetry: (retry) => retries.push(retry),
  })
  proxy.decide = ({ path }) => (path === CODES && proxy.at(CODES).length === 1 ? { status: 503 } : 'pass')
  const options = {
    headers: { 'x-order': '1042' },
    onResponse: (response: ResponseInfo) => own.push(response),
  }
  await qrCodes.create({ qrName: 'Seen' }, options)
  expect(own.map(({ attempt, status }) => [attempt, status])).toEqual([
    [1, 503],
    [2, 200],
  ])
  expect(own[1]).toMatchObject({ method: 'POST', requestId: expect.stringMatching(/^req_/) })
  expect(responses.map(({ url }) => new URL(url).pathname)).toEqual(['/api/v0/merchant/token', CODES, CODES])
  expect(retries).toMatchObject([{ attempt: 2, failure: { status: 503 } }])
  const [, sent] = proxy.at(CODES)
  expect(sent!.headers).toMatchObject({ 'x-order': '1042', 'x-gateway-key': 'gateway-secret' })
  expect(sent!.headers['user-agent']).toBe(`svc-sdk/${VERSION} node/${process.versions.node}`)
  expect(lines).toHaveLength(4)
  expect(lines.join()).not.toMatch(/gateway-secret|Bearer|svc_test_/)
})

test('a call accepts its own number of attempts and its own deadline', async () => {
  const { qrCodes } = merchantClient(proxy, merchant)
  await qrCodes.create({})
  proxy.seen.length = 0
  proxy.decide = () => ({ status: 503 })
  await expect(qrCodes.create({}, { maxRetries: 0 })).rejects.toThrow()
  expect(proxy.at(CODES)).toHaveLength(1)
  await expect(qrCodes.create({}, { deadlineMs: 1 })).rejects.toThrow()
})

test('any request is sent by path, with the token; its error has the header fields and the body as received', async () => {
  const { api } = merchantClient(proxy, merchant)
  const sent = { method: 'POST', body: '{}', headers: { 'content-type': 'application/json' } }
  const response = await api.fetch(CODES, sent)
  const { payload } = (await response.json()) as { payload: { qrCodeId: string } }
  expect(payload.qrCodeId).toMatch(/^qr_/)
  for (const [accept, type] of [
    ['application/json', 'application/json'],
    ['application/problem+json', 'application/problem+json'],
  ] as const) {
    const error = await api
      .fetch(`${CODES}/qr_none`, { headers: { accept } })
      .catch((thrown: unknown) => thrown)
    if (!SvcError.is(error, 'qr_code_not_found')) throw error
    expect(error.headers.get('content-type')).toContain(type)
    expect(error.headers.get('x-request-id')).toBe(error.requestId)
    expect(error.body).toContain('qr_code_not_found')
  }
})

test('wrong credentials are detected before the first call', async () => {
  await merchantClient(proxy, merchant).api.authenticate()
  const wrong = merchantClient(proxy, { apiKey: 'svc_test_wrong' })
  const error = await wrong.api.authenticate().catch((thrown: unknown) => thrown)
  expect(SvcError.is(error, 'invalid_api_key')).toBe(true)
})

test('following reports each failed connection, and ends after the allowed number of failures, with the last one', async () => {
  const { events } = merchantClient(proxy, merchant, { maxRetries: 0 })
  proxy.decide = ({ path }) => (path.startsWith('/api/v0/events/stream') ? { status: 503 } : 'pass')
  const causes: unknown[] = []
  const following = events.follow({ maxReconnects: 1, onReconnect: (cause) => causes.push(cause) })
  await expect(following.next()).rejects.toMatchObject({ name: 'UnexpectedResponseError', status: 503 })
  expect(causes).toHaveLength(1)
})

test('the caller’s own requests are listed and followed: earlier ones, then each new one once', async () => {
  const { qrCodes, requests } = merchantClient(proxy, await service.newMerchant())
  await qrCodes.create({})
  await expect.poll(async () => (await requests.list().take(9)).length, { timeout: 10_000 }).toBe(1)
  const received: string[] = []
  for await (const { operation, error = '' } of requests.follow({ last: 1 })) {
    received.push(`${operation} ${error}`)
    if (received.length === 1) await qrCodes.get('qr_none').catch(() => undefined)
    if (received.length === 2) await qrCodes.create({})
    if (received.length === 3) break
  }
  expect(received).toEqual(['createQrCode ', 'getQrCode qr_code_not_found', 'createQrCode '])
  expect((await requests.list({ status: '4xx' }).take(9)).map(({ status }) => status)).toEqual([404])
})

test('the client reads a code as of a past instant', async () => {
  const { qrCodes } = merchantClient(service, merchant)
  const { qrCodeId } = await newCode(12)
  service.clock.advance(1_000)
  const before = new Date(service.clock.now())
  service.clock.advance(1_000)
  await qrCodes.cancel(qrCodeId)
  expect(await qrCodes.get(qrCodeId)).toMatchObject({ status: 'CANCELLED' })
  expect(await qrCodes.get(qrCodeId, { asOf: before })).toMatchObject({ status: 'ACTIVE' })
})

test('a list is read page by page: each page states where the next one begins', async () => {
  const shop = await service.newMerchant()
  const { qrCodes } = merchantClient(service, shop)
  for (const qrName of ['1', '2', '3']) await qrCodes.create({ qrName })
  const list = qrCodes.list({ limit: 2 })
  const first = await list.page()
  const second = await list.page(first.next)
  expect([first.data.length, second.data.length, second.next]).toEqual([2, 1, undefined])
})
