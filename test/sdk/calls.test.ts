import { setTimeout as sleep } from 'node:timers/promises'
import { FAILURES } from '@svc/contract/errors'
import { revokeApiKey } from '@svc/core/tenants/api-key'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { ConnectionError, SvcError, UnexpectedResponseError } from '../../packages/sdk/src/index.ts'
import { HttpProxy } from '../harness/http-proxy.ts'
import { newPartner, type TestPartner } from '../harness/partner.ts'
import { merchantClient, partnerClient } from '../harness/sdk.ts'
import { asSuperuser, openService, type TestMerchant, type TestService } from '../harness/service.ts'

const TOKEN = '/api/v0/merchant/token'
const CODES = '/api/v0/qr-code'

let service: TestService
let proxy: HttpProxy
let merchant: TestMerchant
let partner: TestPartner

beforeAll(async () => {
  service = await openService()
  proxy = await HttpProxy.open(service.baseUrl)
  merchant = await service.newMerchant()
  partner = await newPartner(service)
})
afterEach(() => {
  proxy.decide = () => 'pass'
  proxy.seen.length = 0
})
afterAll(async () => {
  await proxy.close()
  await service.close()
})

async function thrownBy(work: Promise<unknown>): Promise<unknown> {
  try {
    await work
  } catch (error) {
    return error
  }
  throw new Error('nothing was thrown')
}
const codesOf = async ({ merchantId }: TestMerchant): Promise<number> =>
  asSuperuser(service.db.database, async (db) => {
    const { rows } = await db.query('select 1 from qr_codes where merchant_id = $1', [merchantId])
    return rows.length
  })
/** Does this to the first request to a path, and lets all others pass. */
const once = (path: string, fate: ReturnType<HttpProxy['decide']>): void => {
  proxy.decide = (request) => (request.path === path && proxy.at(path).length === 1 ? fate : 'pass')
}

test('fifty concurrent calls request one token, and share it', async () => {
  const { qrCodes } = merchantClient(proxy, merchant)
  const made = await Promise.all(
    Array.from({ length: 50 }, (_, n) => qrCodes.create({ qrName: `Counter ${n}` })),
  )
  expect(new Set(made.map(({ qrCodeId }) => qrCodeId)).size).toBe(50)
  expect(proxy.at(TOKEN)).toHaveLength(1)
})

test('a token that the service rejects is replaced once, whichever call is rejected, and the calls succeed', async () => {
  const { qrCodes } = merchantClient(proxy, merchant)
  await qrCodes.create({})
  const [first] = proxy.at(CODES)
  service.clock.advance(3_600_000)
  await Promise.all(Array.from({ length: 20 }, () => qrCodes.create({})))
  expect(proxy.at(TOKEN)).toHaveLength(2)
  const bearers = new Set(proxy.at(CODES).map(({ headers }) => headers.authorization))
  expect(bearers.size).toBe(2)
  expect(proxy.at(CODES).at(-1)!.headers.authorization).not.toBe(first!.headers.authorization)
})

test('when the key is revoked, the caller gets the error code for it, after one attempt to renew', async () => {
  const doomed = await service.newMerchant()
  const { qrCodes } = merchantClient(proxy, doomed)
  await qrCodes.create({})
  await service.app.services.database.operate((tx) => revokeApiKey(tx, doomed.apiKeyId))
  let reported: unknown
  for (let ended = false; !ended; await sleep(50))
    await qrCodes.create({}).catch((error: unknown) => {
      reported = error
      ended = true
    })
  expect(SvcError.is(reported, 'invalid_api_key')).toBe(true)
  expect(proxy.at(TOKEN)).toHaveLength(2)
})

test('the session cookie of a token is sent with it, also after the token was replaced', async () => {
  const { cards } = partnerClient(proxy, partner)
  const wanted = {
    companyId: partner.companyId,
    cardAccountId: partner.cardAccountId,
    svcCardId: 'card_none',
  }
  expect(await cards.find(wanted)).toBeUndefined()
  service.clock.advance(3_600_000)
  expect(await cards.find(wanted)).toBeUndefined()
  const cookies = proxy.at('/search').map(({ headers }) => headers.cookie)
  expect(new Set(cookies).size).toBe(2)
  expect(proxy.at('/oauth/token')).toHaveLength(2)
})

test('after a lost response the request is sent again with the same key, and creates one code', async () => {
  const shop = await service.newMerchant()
  const { qrCodes } = merchantClient(proxy, shop)
  for (const fate of ['lose', 'halve'] as const) {
    proxy.seen.length = 0
    once(CODES, fate)
    const code = await qrCodes.create({ qrName: fate })
    expect(code.qrName).toBe(fate)
    const [first, second, ...more] = proxy.at(CODES)
    expect(more).toEqual([])
    expect(second!.headers['idempotency-key']).toBe(first!.headers['idempotency-key'])
    expect(second!.body).toBe(first!.body)
  }
  expect(await codesOf(shop)).toBe(2)
})

test('each intent has its own key, and a key that the caller provides is sent unchanged', async () => {
  const { qrCodes } = merchantClient(proxy, merchant)
  const first = await qrCodes.create({}, { idempotencyKey: 'order-1' })
  const again = await qrCodes.create({}, { idempotencyKey: 'order-1' })
  expect(again).toEqual(first)
  await qrCodes.create({})
  await qrCodes.create({})
  const keys = proxy.at(CODES).map(({ headers }) => headers['idempotency-key'])
  expect(keys.slice(0, 2)).toEqual(['order-1', 'order-1'])
  expect(new Set(keys).size).toBe(3)
})

test('requests that are not safe to repeat are not repeated: a lost response to one is ConnectionError at once', async () => {
  const shop = await service.newMerchant()
  const { api, qrCodes, webhooks } = merchantClient(proxy, shop)
  const { endpointId } = await webhooks.create({ url: 'http://127.0.0.1:9999/hook' })
  const { qrCodeId } = await qrCodes.create({ amount: 1, fixedAmount: true })
  proxy.seen.length = 0
  proxy.decide = () => 'lose'
  // The one command without an Idempotency-Key: a payer may pay twice.
  const paid = api.http.POST('/sandbox/upi/pay', { body: { qrCodeId, payerVpa: 'asha@bank' } })
  expect(await thrownBy(paid)).toBeInstanceOf(ConnectionError)
  expect(proxy.seen).toHaveLength(1)
  proxy.seen.length = 0
  once(`/api/v0/webhook-endpoints/${endpointId}`, 'lose')
  await webhooks.delete(endpointId)
  expect(proxy.seen).toHaveLength(2)
})

test('Retry-After is honoured, and waiting ends at the deadline, not after it', async () => {
  const client = merchantClient(proxy, merchant, { deadlineMs: 5_000 })
  await client.qrCodes.create({})
  proxy.seen.length = 0
  const { status, errorType } = FAILURES.rate_limited
  const payload = JSON.stringify({ error: 'rate_limited', error_description: 'Slow down' })
  const body = JSON.stringify({ payload, errorResponse: { requestId: 'req_1', errorType } })
  once(CODES, { status, headers: { 'retry-after': '2' }, body })
  const requestedAtMs = performance.now()
  await client.qrCodes.create({})
  expect(performance.now() - requestedAtMs).toBeGreaterThanOrEqual(1_990)
  proxy.seen.length = 0
  proxy.decide = () => ({ status, headers: { 'retry-after': '60' }, body })
  const reported = await thrownBy(client.qrCodes.create({}))
  expect(reported).toMatchObject({ error: 'rate_limited', attempts: 1, retryAfterMs: 60_000 })
  expect(proxy.seen).toHaveLength(1)
})

test('attempts are bounded, a foreign response is distinguished, and rejected requests are not repeated', async () => {
  const { qrCodes } = merchantClient(proxy, merchant, { maxRetries: 2 })
  await qrCodes.create({})
  proxy.seen.length = 0
  proxy.decide = () => ({ status: 502, body: '<h1>Bad gateway</h1>' })
  const foreign = await thrownBy(qrCodes.create({}))
  expect(foreign).toBeInstanceOf(UnexpectedResponseError)
  expect(foreign).toMatchObject({ status: 502 })
  expect(proxy.seen).toHaveLength(3)
  proxy.decide = () => 'pass'
  proxy.seen.length = 0
  expect(SvcError.is(await thrownBy(qrCodes.create({ amount: 1.234 })))).toBe(true)
  expect(proxy.seen).toHaveLength(1)
})

test('an error has its code, kind, status, request id and a link, and prints what was wrong', async () => {
  const { qrCodes } = merchantClient(service, merchant)
  const reported = await thrownBy(qrCodes.get('qr_none'))
  expect(SvcError.is(reported, 'qr_code_not_found')).toBe(true)
  expect(SvcError.is(reported, 'card_not_found')).toBe(false)
  expect(reported).toMatchObject({
    error: 'qr_code_not_found',
    description: 'QR code not found',
    status: 404,
    errorType: 'NOT_FOUND_ERROR',
    requestId: expect.stringMatching(/^req_/),
    docs: `${service.baseUrl}/docs/errors#qr_code_not_found`,
    errors: [],
    attempts: 1,
  })
  expect(String(reported)).toContain('qr_code_not_found: QR code not found (404, request req_')
  const bad = await thrownBy(qrCodes.create({ amount: -5, qrName: 'x'.repeat(101) }))
  expect(SvcError.is(bad, 'validation_failed') && bad.errors).toEqual([
    {
      in: 'body',
      pointer: '/qrName',
      rule: 'max_length',
      message: 'qrName must have at most 100 characters',
    },
    { in: 'body', pointer: '/amount', rule: 'minimum', message: 'amount must be at least 0.01' },
  ])
  expect(String(bad)).toContain('qrName must have at most 100 characters; amount must be at least 0.01')
})

test('a signal aborts a call with its own reason: before it, in flight, and while it waits to retry', async () => {
  const { qrCodes } = merchantClient(proxy, merchant)
  await qrCodes.create({})
  const reason = new Error('enough')
  expect(await thrownBy(qrCodes.create({}, { signal: AbortSignal.abort(reason) }))).toBe(reason)
  for (const fate of [{ status: 503, headers: { 'retry-after': '30' } }, 'pass'] as const) {
    const ending = new AbortController()
    proxy.decide = () => {
      setTimeout(() => ending.abort(reason), fate === 'pass' ? 0 : 100)
      return fate
    }
    const call = qrCodes.create({}, { signal: ending.signal })
    if (fate === 'pass') await Promise.allSettled([call])
    else expect(await thrownBy(call)).toBe(reason)
  }
})

test('an attempt that takes too long is aborted; one caller that gives up does not end the token request for the others', async () => {
  const slow = merchantClient({ baseUrl: service.baseUrl }, merchant, {
    timeoutMs: 200,
    maxRetries: 1,
    fetch: (_, init) => hangUntil(init!.signal!),
  })
  const reported = await thrownBy(slow.qrCodes.create({}))
  expect(reported).toBeInstanceOf(ConnectionError)
  expect(reported).toMatchObject({ attempts: 2, cause: { name: 'TimeoutError' } })

  const shared = merchantClient(proxy, await service.newMerchant())
  const givesUp = new AbortController()
  proxy.decide = ({ path }) => {
    if (path === TOKEN) givesUp.abort()
    return 'pass'
  }
  const [lost, kept] = await Promise.allSettled([
    shared.qrCodes.create({}, { signal: givesUp.signal }),
    shared.qrCodes.create({}),
  ])
  expect([lost.status, kept.status]).toEqual(['rejected', 'fulfilled'])
  expect(proxy.at(TOKEN)).toHaveLength(1)
})

const hangUntil = (signal: AbortSignal): Promise<Response> =>
  new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason as Error)))
