import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { SvcError, UnexpectedResponseError } from '../../packages/sdk/src/index.ts'
import { HttpProxy } from '../harness/http-proxy.ts'
import { newPartner, type TestPartner } from '../harness/partner.ts'
import { merchantClient, partnerClient, sharedKeyOf } from '../harness/sdk.ts'
import { openService, type TestMerchant, type TestService } from '../harness/service.ts'

const CODES = '/api/v0/qr-code'
const CARDS = '/api/v0/partner/svcCard'

let service: TestService
let proxy: HttpProxy
let merchant: TestMerchant
let partner: TestPartner

beforeAll(async () => {
  service = await openService()
  proxy = await HttpProxy.open(service.baseUrl)
  merchant = await service.newMerchant()
  partner = await newPartner(service, { products: ['employee_rewards'] })
})
afterEach(() => {
  proxy.decide = () => 'pass'
  proxy.seen.length = 0
})
afterAll(async () => {
  await proxy.close()
  await service.close()
})

const thrownBy = (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => 'nothing was thrown',
    (error: unknown) => error,
  )
/** Gives this response to every request to a path, and lets all others pass. */
const instead = (
  path: string,
  body: string,
  { status = 200, headers = {} }: { status?: number; headers?: Record<string, string> } = {},
): void => {
  const given = { status, headers: { 'content-type': 'text/html', 'x-proxy': 'edge-7', ...headers }, body }
  proxy.decide = (request) => (request.path.split('?')[0]!.endsWith(path) ? given : 'pass')
}
async function expectForeign(work: Promise<unknown>, body: string, status = 200): Promise<void> {
  const thrown = await thrownBy(work)
  expect(thrown).toBeInstanceOf(UnexpectedResponseError)
  expect(thrown).toMatchObject({ status, body })
  expect((thrown as UnexpectedResponseError).headers.get('x-proxy')).toBe('edge-7')
}

const BODIES = ['<h1>Sign in to the network</h1>', '', '{}', 'null', '[]', '"maintenance"', '{"token":7}']

describe.each(BODIES)('a 200 that is not from the service, with the body %j', (body) => {
  test('instead of a merchant’s token is an UnexpectedResponseError; nothing is sent with it', async () => {
    const { qrCodes } = merchantClient(proxy, merchant)
    instead('/merchant/token', body)
    await expectForeign(qrCodes.create({}), body)
    expect(proxy.at(CODES)).toEqual([])
    proxy.decide = () => 'pass'
    expect((await qrCodes.create({})).status).toBe('ACTIVE')
  })

  test('instead of a partner’s token or its published keys is an UnexpectedResponseError; nothing is sent', async () => {
    const { cards } = partnerClient(proxy, partner, { encryption: { publishedKey: 'RSA-OAEP-256' } })
    const order = { companyId: partner.companyId, cardAccountId: partner.cardAccountId, loadAmount: '10' }
    instead('/oauth/token', body)
    await expectForeign(cards.get('card_none'), body)
    instead('/jwks.json', body)
    await expectForeign(cards.create(order), body)
    expect(proxy.at(CARDS)).toEqual([])
    proxy.decide = () => 'pass'
    expect(await cards.create(order)).toMatchObject({ loadAmount: '10' })
  })

  test('instead of a record is an UnexpectedResponseError after one request, also of a write', async () => {
    const { payments, qrCodes } = merchantClient(proxy, merchant)
    instead(CODES, body)
    await expectForeign(qrCodes.create({}), body)
    expect(proxy.at(CODES)).toHaveLength(1)
    instead('/search', body)
    await expectForeign(qrCodes.list().take(1), body)
    instead('/payments', body)
    await expectForeign(payments.list().take(1), body)
  })

  test('instead of an encrypted response is an UnexpectedResponseError', async () => {
    const decryptResponsesWith = { kty: 'oct', ...sharedKeyOf(partner) }
    const { cards } = partnerClient(proxy, partner, { decryptResponsesWith })
    instead('/card_none', body)
    await expectForeign(cards.get('card_none'), body)
  })

  test('instead of a stream or a file is an UnexpectedResponseError, not its content', async () => {
    const { events, payments, payouts } = merchantClient(proxy, merchant)
    instead('/events/stream', body)
    const causes: unknown[] = []
    const following = events.follow({ maxReconnects: 1, onReconnect: (cause) => causes.push(cause) })
    await expectForeign(following.next(), body)
    expect(causes).toEqual([expect.any(UnexpectedResponseError)])
    instead('/payments', body)
    await expectForeign(payments.csv(), body)
    instead('/statement.pdf', body)
    await expectForeign(payouts.statement('po_none'), body)
    instead('/search', body)
    await expectForeign(partnerClient(proxy, partner).cards.all(partner).next(), body)
  })
})

test('an empty 200 of a proxy that states its length is an UnexpectedResponseError', async () => {
  const { qrCodes } = merchantClient(proxy, merchant)
  instead(CODES, '', { headers: { 'content-length': '0' } })
  await expectForeign(qrCodes.create({}), '')
})

test.each(['svc-outcome', 'svc-receipt'])(
  'a cancellation whose response lost %s in transit is an UnexpectedResponseError, and the code is cancelled',
  async (name) => {
    const { qrCodes } = merchantClient(service, merchant, {
      fetch: async (...sent) => {
        const response = await fetch(...sent)
        const headers = new Headers(response.headers)
        headers.delete(name)
        return new Response(response.body, { status: response.status, headers })
      },
    })
    const { qrCodeId } = await qrCodes.create({})
    const thrown = await thrownBy(qrCodes.cancel(qrCodeId))
    expect(thrown).toBeInstanceOf(UnexpectedResponseError)
    expect(thrown).toMatchObject({ status: 200, body: expect.stringContaining(qrCodeId) })
    expect(String(thrown)).toContain('svc-outcome')
    expect(await qrCodes.get(qrCodeId)).toMatchObject({ status: 'CANCELLED' })
  },
)

test('any operation called by path and method rejects a 200 that is not JSON', async () => {
  const { api } = merchantClient(proxy, merchant)
  instead('/api/v0/events', '<h1>Sign in</h1>')
  await expectForeign(api.http.GET('/api/v0/events'), '<h1>Sign in</h1>')
})

test('a stream with records that are not JSON is an UnexpectedResponseError', async () => {
  const type = { headers: { 'content-type': 'application/json' } }
  instead('/search', '{"payload":{"data":[{"a":}],"recordsCount":1}}', type)
  const thrown = await thrownBy(partnerClient(proxy, partner).cards.all(partner).next())
  expect(thrown).toBeInstanceOf(UnexpectedResponseError)
})

describe.each([
  '{"message":"Forbidden"}',
  '{"detail":"no access","status":403}',
  '{"error":{"code":7},"detail":"no access","requestId":"r"}',
  '{"error":"forbidden","detail":"no access"}',
  '{"payload":"{}","errorResponse":{"requestId":"r"}}',
  '{"payload":"{\\"error\\":\\"forbidden\\"}","errorResponse":{}}',
  '{"payload":"{\\"error\\":\\"forbidden\\"}"}',
  'null',
])('an error in the JSON of another server, %s', (body) => {
  test('is an UnexpectedResponseError with status, header fields and body', async () => {
    const { qrCodes } = merchantClient(proxy, merchant)
    instead(CODES, body, { status: 403 })
    await expectForeign(qrCodes.create({}), body, 403)
    expect(proxy.at(CODES)).toHaveLength(1)
  })
})

test('the errors of the service are SvcErrors, with and without a token, with and without fields', async () => {
  const { qrCodes } = merchantClient(proxy, merchant)
  expect(SvcError.is(await thrownBy(qrCodes.get('qr_none')), 'qr_code_not_found')).toBe(true)
  expect(SvcError.is(await thrownBy(qrCodes.create({ amount: -1 })), 'validation_failed')).toBe(true)
  const wrong = merchantClient(proxy, { apiKey: 'svc_test_wrong' }).api.authenticate()
  expect(SvcError.is(await thrownBy(wrong), 'invalid_api_key')).toBe(true)
  const client = partnerClient(proxy, { ...partner, clientSecret: 'wrong' })
  expect(SvcError.is(await thrownBy(client.api.authenticate()), 'invalid_client')).toBe(true)
})

test.each([429, 503])('Retry-After of a %d from a proxy is honoured and reported', async (status) => {
  const { qrCodes } = merchantClient(proxy, merchant, { deadlineMs: 10_000 })
  instead(CODES, '<h1>Come back later</h1>', { status, headers: { 'retry-after': '60' } })
  const thrown = await thrownBy(qrCodes.create({}))
  expect(thrown).toBeInstanceOf(UnexpectedResponseError)
  expect(thrown).toMatchObject({ status, retryAfterMs: 60_000 })
  // A minute is longer than the call may take, so it ends at once.
  expect(proxy.at(CODES)).toHaveLength(1)
})

test('a redirect is an UnexpectedResponseError that names its target, and the request is not sent again', async () => {
  const { qrCodes } = merchantClient(proxy, merchant)
  instead('/qr_none', '', { status: 307, headers: { location: 'https://elsewhere.example/' } })
  const thrown = await thrownBy(qrCodes.get('qr_none'))
  expect(thrown).toBeInstanceOf(UnexpectedResponseError)
  expect(thrown).toMatchObject({ status: 307 })
  expect(String(thrown)).toContain('https://elsewhere.example/')
  expect(proxy.at('/qr_none')).toHaveLength(1)
})
