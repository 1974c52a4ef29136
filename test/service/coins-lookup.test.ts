import { revokeOAuthClient } from '@svc/core/tenants/partner'
import { prepareDemo } from '@svc/server/sandbox/demo'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type ApiResponse, type Client, type Json, payloadOf } from '../harness/client.ts'
import {
  asCoinPartner,
  balanceOf,
  COINS,
  ifMatch,
  newCoinPartner,
  newConfig,
  newUsers,
  withoutRequest,
} from '../harness/coins.ts'
import { expectFailure } from '../harness/failure.ts'
import { newPartner, partnerToken, type TestPartner } from '../harness/partner.ts'
import { openService, type TestService, tokenOf } from '../harness/service.ts'

let service: TestService
let partner: TestPartner
let client: Client
let config: Json

beforeAll(async () => {
  service = await openService()
  ;({ partner, client } = await newCoinPartner(service))
  config = await newConfig(client, { configuration: 'CUSTOM', companyId: partner.companyId })
})
afterAll(() => service.close())

const look = (id: string, headers: Record<string, string> = {}, as = client): Promise<ApiResponse> =>
  as.get(`${COINS}/${id}`, headers)

test('the lookup returns the whole record and nothing else (K1, K2)', async () => {
  const requested = {
    configuration: 'CUSTOM',
    companyId: partner.companyId,
    event: 'survey.answered',
    amount: 25,
    title: 'Survey',
    description: 'Yearly survey',
    validFrom: '2026-01-01T00:00:00.000+05:30',
    validTo: '2027-01-01T00:00:00.000+05:30',
    perUserDailyLimit: 50,
    coinsExpireAfterDays: 90,
  }
  const made = await newConfig(client, requested)
  const response = await look(made.coinConfigId)
  expect(response.json).toEqual({
    response_code: 0,
    response_message: 'Success',
    payload: {
      ...requested,
      coinConfigId: made.coinConfigId,
      status: 'ACTIVE',
      revision: 1,
      createdOn: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}\+05:30$/),
      modifiedOn: made.createdOn,
    },
  })
  expect(response.json.payload).toEqual(made)
})

test('the ETag is the revision: 304 and no body while it is the same, the new record after a change', async () => {
  const { coinConfigId: id } = await newConfig(client)
  const first = await look(id)
  expect(first.headers['etag']).toBe('"1"')
  for (const tag of ['"1"', 'W/"1"', '*', '"0", "1"']) {
    const unchanged = await look(id, { 'if-none-match': tag })
    expect([unchanged.status, unchanged.text, unchanged.headers['etag']], tag).toEqual([304, '', '"1"'])
    expect(unchanged.headers).not.toHaveProperty('content-type')
    expect(unchanged.headers).not.toHaveProperty('content-length')
  }
  payloadOf(await client.patch(`${COINS}/${id}`, { amount: 11 }, ifMatch(1)))
  const changed = await look(id, { 'if-none-match': '"1"' })
  expect([changed.status, changed.headers['etag'], changed.json.payload.amount]).toEqual([200, '"2"', 11])
})

test('a Cookie header changes nothing, whatever it contains', async () => {
  const plain = await look(config.coinConfigId)
  const session = String((await partnerToken(service.client, partner)).headers['set-cookie']).split(';')[0]!
  for (const cookie of [session, 'SVCSESSION=wrong', 'theme=dark', ';;==', ''])
    expect((await look(config.coinConfigId, { cookie })).text).toBe(plain.text)
})

test('records of other partners get the same bytes as nonexistent ones (A10, A12)', async () => {
  const { client: outsider } = await newCoinPartner(service)
  const missing = await look(`ccf_${'0'.repeat(26)}`, {}, outsider)
  expectFailure(missing, 'coin_config_not_found')
  for (const id of [config.coinConfigId, 'nonsense', '%00', '..%2F..', 'x'.repeat(3_000)]) {
    for (const headers of [{}, { 'if-none-match': '"1"' }] as Record<string, string>[]) {
      const response = await look(id, headers, outsider)
      expect([response.status, withoutRequest(response)], id).toEqual([404, withoutRequest(missing)])
      expect(Object.keys(response.headers).sort()).toEqual(Object.keys(missing.headers).sort())
    }
  }
})

test('on every coin operation another partner’s id gets the same bytes as an unknown one', async () => {
  const { partner: other, client: outsider } = await newCoinPartner(service)
  const { companyId, userId } = partner
  const missing = (prefix: string) => `${prefix}_${'0'.repeat(26)}`
  const pairs: [
    name: string,
    send: (id: string) => Promise<ApiResponse>,
    foreign: string,
    missing: string,
  ][] = [
    [
      'update',
      (id) => outsider.patch(`${COINS}/${id}`, { amount: 1 }, ifMatch(1)),
      config.coinConfigId,
      missing('ccf'),
    ],
    [
      'update without If-Match',
      (id) => outsider.patch(`${COINS}/${id}`, { amount: 1 }),
      config.coinConfigId,
      missing('ccf'),
    ],
    ['deactivate', (id) => outsider.post(`${COINS}/${id}/deactivate`), config.coinConfigId, missing('ccf')],
    ['revisions', (id) => outsider.get(`${COINS}/${id}/revisions`), config.coinConfigId, missing('ccf')],
    ['balance', (id) => outsider.get(`${COINS}/users/${id}/balance`), userId, missing('usr')],
    ['history', (id) => outsider.get(`${COINS}/users/${id}/history`), userId, missing('usr')],
    [
      'redeem',
      (id) => outsider.post(`${COINS}/redeem`, { requestId: 'r', userId: id, amount: 1 }),
      userId,
      missing('usr'),
    ],
    [
      'allocate to a user',
      (id) =>
        outsider.post(`${COINS}/allocate`, {
          requestId: 'r',
          event: config.event,
          userId: id,
          companyId: other.companyId,
        }),
      userId,
      missing('usr'),
    ],
    [
      'allocate in a company',
      (id) =>
        outsider.post(`${COINS}/allocate`, {
          requestId: 'r',
          event: config.event,
          userId: other.userId,
          companyId: id,
        }),
      companyId,
      missing('com'),
    ],
    [
      'create',
      (id) =>
        outsider.post(COINS, { configuration: 'CUSTOM', companyId: id, event: 'e', amount: 1, title: 't' }),
      companyId,
      missing('com'),
    ],
  ]
  for (const [name, send, foreign, none] of pairs) {
    const [one, two] = [await send(foreign), await send(none)]
    expect(one.status, name).toBe(404)
    expect(withoutRequest(one), name).toBe(withoutRequest(two))
  }
  const found = payloadOf(await outsider.post(`${COINS}/search`, { companyId }))
  expect(found).toEqual({ recordsCount: 0, data: [] })
  expect(payloadOf(await look(config.coinConfigId))).toEqual(config)
})

/** Section 7 and 2.2, byte for byte but for the time and the request's id. */
function expectInvalidToken(response: ApiResponse, name: string): void {
  expect(response.status, name).toBe(401)
  const text = '{"error":"invalid_token","error_description":"Invalid access token"}'
  const requestId = response.headers['x-request-id']
  const { timestamp } = response.json.errorResponse
  expect(timestamp).toMatch(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/)
  const quoted = JSON.stringify(text)
  expect(response.text, name).toBe(
    `{"payload":${quoted},"errorResponse":{"timestamp":"${timestamp}","requestId":"${requestId}","errorType":"SYSTEM_ERROR","errorMessage":${quoted}},"response_code":1,"response_message":"Failure"}`,
  )
  expect(response.headers['content-type']).toBe('application/json; charset=utf-8')
}

test('every bad token gets the 401 of section 7: missing, malformed, expired, revoked, another issuer’s', async () => {
  const { access_token: token } = (await partnerToken(service.client, partner)).json
  // The same partner, keys and database under another address, and another installation altogether.
  const elsewhere = await openService({ db: service.db, env: { PUBLIC_URL: 'http://elsewhere.example' } })
  const foreign = (await partnerToken(elsewhere.client, partner)).json.access_token
  await elsewhere.close()
  const strange = await openService()
  const foreignToken = (await partnerToken(strange.client, await newPartner(strange))).json.access_token
  await strange.close()
  const revoked = await newPartner(service)
  const revokedToken = (await partnerToken(service.client, revoked)).json.access_token
  await service.app.services.database.operate((tx) => revokeOAuthClient(tx, revoked.clientId))
  const bad: Record<string, string | undefined> = {
    missing: undefined,
    empty: '',
    'of another scheme': `Basic ${Buffer.from('a:b').toString('base64')}`,
    'without a scheme': token,
    malformed: 'Bearer not-a-token',
    'cut short': `Bearer ${token.slice(0, -4)}`,
    'with another signature': `Bearer ${token.slice(0, -4)}AAAA`,
    unsigned: `Bearer ${Buffer.from('{"alg":"none","typ":"at+jwt"}').toString('base64url')}.${token.split('.')[1]}.`,
    'of another issuer': `Bearer ${foreign}`,
    'of another issuer with other keys': `Bearer ${foreignToken}`,
  }
  const unknown = `${COINS}/ccf_${'0'.repeat(26)}`
  for (const [name, authorization] of Object.entries(bad))
    for (const path of [`${COINS}/${config.coinConfigId}`, unknown])
      expectInvalidToken(
        await service.client.get(path, authorization === undefined ? {} : { authorization }),
        name,
      )
  const held = service.client.with({ authorization: `Bearer ${revokedToken}` })
  await expect.poll(async () => (await held.get(unknown)).status, { timeout: 2_000 }).toBe(401)
  expectInvalidToken(await held.get(unknown), 'revoked')

  expect((await look(config.coinConfigId, { authorization: `Bearer ${token}` })).status).toBe(200)
  service.clock.advance(3_600_000)
  expectInvalidToken(await look(config.coinConfigId, { authorization: `Bearer ${token}` }), 'expired')
  client = await asCoinPartner(service.client, partner)
})

test('every other coin operation rejects the same tokens with 401 invalid_token, and says why', async () => {
  const merchantToken = await tokenOf(service.client, (await service.newMerchant()).apiKey)
  const { paths } = (await service.client.get('/openapi.json')).json
  const operations = Object.entries(paths as Record<string, Json>)
    .filter(([path]) => path.startsWith(COINS))
    .flatMap(([path, methods]) =>
      Object.keys(methods).map((method) => ({ path: path.replace(/\{\w+\}/, 'x'), method })),
    )
    // Merchants read configurations too (decision K4).
    .filter(({ path, method }) => path !== `${COINS}/x` || method !== 'get')
  expect(operations.length).toBe(13)
  for (const { path, method } of operations)
    for (const headers of [{}, { authorization: `Bearer ${merchantToken}` }] as Record<string, string>[]) {
      const response = await service.client.send(method.toUpperCase() as 'GET', path, undefined, headers)
      expect([response.status, response.error], `${method} ${path}`).toEqual([401, 'invalid_token'])
      expect(response.errorDescription).toMatch(
        /^(?:The access token is missing|This operation needs the token of a partner)/,
      )
    }
})

test('lookups that arrive together each get their own record', async () => {
  const configs = await Promise.all(
    Array.from({ length: 20 }, (_, i) => newConfig(client, { amount: i + 1 })),
  )
  const { client: outsider } = await newCoinPartner(service)
  const responses = await Promise.all(
    Array.from({ length: 400 }, async (_, i) => {
      const wanted = configs[i % 20]
      const mine = i % 3 !== 0
      const response = await look(wanted.coinConfigId, {}, mine ? client : outsider)
      return mine ? response.json.payload?.amount === wanted.amount : response.status === 404
    }),
  )
  expect(responses.every(Boolean)).toBe(true)
})

test('a user without coins has a balance of zero and an empty history', async () => {
  const [userId] = await newUsers(service, partner, 1)
  expect(await balanceOf(client, userId!)).toEqual({
    userId,
    active: 0,
    pending: 0,
    expired: 0,
    spent: 0,
    voided: 0,
  })
  expect(payloadOf(await client.get(`${COINS}/users/${userId}/history`))).toEqual({
    recordsCount: 0,
    data: [],
  })
})

test('the sandbox has a configuration and a user with coins, the same after every start', async () => {
  const { keyring, random } = service.app.services
  const prepare = () => prepareDemo(service.app.services, { keyring, random, mode: 'test' })
  const { coinConfigId, coinUserId, incentivePartner } = await prepare()
  const demo = await asCoinPartner(service.client, {
    ...partner,
    ...incentivePartner,
    sharedKey: partner.sharedKey,
  })
  expect(payloadOf(await look(coinConfigId, {}, demo))).toMatchObject({
    status: 'ACTIVE',
    configuration: 'DEFAULT',
  })
  expect(await balanceOf(demo, coinUserId)).toMatchObject({ active: 100 })
  expect(await prepare()).toMatchObject({ coinConfigId, coinUserId })
  expect(await balanceOf(demo, coinUserId)).toMatchObject({ active: 100 })
})
