import { issueApiKey, revokeApiKey } from '@svc/core/tenants/api-key'
import { setMerchantDisabled } from '@svc/core/tenants/merchant'
import { createRemoteJWKSet, decodeProtectedHeader, jwtVerify } from 'jose'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { ApiResponse } from '../harness/client.ts'
import { asSuperuser, openService, type TestMerchant, type TestService, tokenOf } from '../harness/service.ts'

const TOKEN = '/api/v0/merchant/token'
const JSON_TYPE = { 'content-type': 'application/json' }

let service: TestService
let merchant: TestMerchant

beforeAll(async () => {
  service = await openService({ env: { FAILED_ATTEMPTS_PER_MINUTE: '100000', LOG_LEVEL: 'trace' } })
  merchant = await service.newMerchant()
})
afterAll(() => service.close())

const requestToken = (apiKey: string): Promise<ApiResponse> =>
  service.client.post(TOKEN, undefined, { 'api-key': apiKey })
const use = (token: string): Promise<ApiResponse> =>
  service.client.post('/api/v0/qr-code/search', { limit: 1 }, { authorization: `Bearer ${token}` })

/** Issues one more key the way the command line does. */
async function anotherKey(merchantId: string): Promise<{ apiKeyId: string; apiKey: string }> {
  const { keyring, random, database } = service.app.services
  const { apiKeyId, secret } = await database.operate((tx) =>
    issueApiKey(tx, { keyring, random, mode: 'test' }, merchantId, 'another key'),
  )
  return { apiKeyId, apiKey: secret.reveal() }
}
const revoke = (apiKeyId: string) => service.app.services.database.operate((tx) => revokeApiKey(tx, apiKeyId))
const disable = (merchantId: string, disabled: boolean) =>
  service.app.services.database.operate((tx) => setMerchantDisabled(tx, merchantId, disabled))

/** A failure of the token operation: the envelope, and the fields of its own success beside it (decisions A3, F1). */
function expectRefusedKey(response: ApiResponse): void {
  expect(response.status).toBe(401)
  expect(response.json).toMatchObject({
    response_code: 1,
    response_message: 'Failure',
    resultCode: 1,
    resultMessage: expect.stringMatching(/^(?:Invalid API key|The header API-Key is missing: .*)$/),
    errorResponse: {
      errorType: 'SYSTEM_ERROR',
      requestId: response.headers['x-request-id'],
      errorMessage: response.json.payload,
    },
  })
  expect(response.error).toBe('invalid_api_key')
  expect(response.json).not.toHaveProperty('token')
  expect(response.headers['www-authenticate']).toMatch(/^Bearer /)
  expect(response.headers['cache-control']).toBe('no-store')
}

test('a key gets a token response of the specified shape, its expiry an instant in milliseconds', async () => {
  const before = Date.now()
  const response = await requestToken(merchant.apiKey)
  expect(response.status).toBe(200)
  expect(response.json).toEqual({
    token: expect.any(String),
    expiry: expect.any(Number),
    resultCode: 0,
    resultMessage: 'Success',
  })
  const ttlMs = service.app.services.config.TOKEN_TTL_SECONDS * 1_000
  expect(response.json.expiry).toBeGreaterThanOrEqual(before - 1_000 + ttlMs)
  expect(response.json.expiry).toBeLessThanOrEqual(Date.now() + ttlMs)
  expect(response.headers['cache-control']).toBe('no-store')
  expect((await use(response.json.token)).status).toBe(200)
})

test.each<[string, string | undefined, Record<string, string>]>([
  ['no body and no content type', undefined, {}],
  ['no body with a content type', undefined, JSON_TYPE],
  ['an empty body with a content type', '', JSON_TYPE],
  ['an empty object', '{}', JSON_TYPE],
  ['an empty object in a type with a charset', ' {} ', { 'content-type': 'application/json; charset=utf-8' }],
])('the token operation accepts %s', async (_, body, headers) => {
  expect(
    (await service.client.send('POST', TOKEN, body, { 'api-key': merchant.apiKey, ...headers })).status,
  ).toBe(200)
})

test.each(['null', '[]', '""', '0', 'false', '{"merchantId":"x"}', '{', 'x'])(
  'the body %s of the token operation has no effect',
  async (body) => {
    const response = await service.client.send('POST', TOKEN, body, {
      'api-key': merchant.apiKey,
      ...JSON_TYPE,
    })
    expect(response.status).toBe(200)
    expect(response.json).toMatchObject({ resultCode: 0, resultMessage: 'Success' })
  },
)

test('a token verifies with the published keys in an independent library', async () => {
  const { token, expiry } = (await requestToken(merchant.apiKey)).json
  const published = createRemoteJWKSet(new URL('/.well-known/jwks.json', service.baseUrl))
  const { payload, protectedHeader } = await jwtVerify(token, published, {
    issuer: service.baseUrl,
    audience: 'svc',
    typ: 'at+jwt',
    algorithms: ['EdDSA'],
  })
  expect(protectedHeader.kid!.length).toBeLessThanOrEqual(16)
  expect(payload).toMatchObject({
    sub: merchant.merchantId,
    client_id: merchant.apiKeyId,
    exp: expiry / 1_000,
  })
  expect(payload.jti).toBeTruthy()
  expect(decodeProtectedHeader(await tokenOf(service.client, merchant.apiKey))).toEqual(protectedHeader)
})

test('published keys contain no private part', async () => {
  const { keys } = (await service.client.get('/.well-known/jwks.json')).json
  expect(keys.length).toBeGreaterThan(0)
  for (const key of keys)
    for (const secret of ['d', 'p', 'q', 'dp', 'dq', 'qi', 'k']) expect(key).not.toHaveProperty(secret)
})

test.each<[string, (key: string) => string]>([
  ['missing', () => ''],
  ['no key at all', () => 'hello'],
  ['of another mode', (key) => key.replace('test', 'live')],
  ['well-formed but never issued', () => 'svc_test_00000000000000000000000000000000_000000'],
  ['with a wrong checksum', (key) => key.slice(0, -1) + (key.endsWith('0') ? '1' : '0')],
  ['with one character changed', (key) => key.slice(0, 20) + (key[20] === 'a' ? 'b' : 'a') + key.slice(21)],
  ['in upper case', (key) => key.toUpperCase()],
  ['cut short', (key) => key.slice(0, -1)],
  ['with more behind it', (key) => `${key}0`],
  ['very long', (key) => key.repeat(100)],
])('an API key that is %s gets 401 in the envelope', async (_, mangle) => {
  expectRefusedKey(await requestToken(mangle(merchant.apiKey)))
})

test('a wrong key and a malformed one get the same response', async () => {
  const unlike = (response: ApiResponse) => {
    const { errorResponse, ...rest } = response.json
    return {
      ...rest,
      errorType: errorResponse.errorType,
      errorMessage: errorResponse.errorMessage,
      status: response.status,
    }
  }
  const revoked = await anotherKey(merchant.merchantId)
  await revoke(revoked.apiKeyId)
  expect(unlike(await requestToken(revoked.apiKey))).toEqual(unlike(await requestToken('x')))
})

test('a revoked key gets no more tokens, and the other live keys of the merchant still do', async () => {
  const { apiKeyId, apiKey } = await anotherKey(merchant.merchantId)
  expect((await requestToken(apiKey)).status).toBe(200)
  expect((await requestToken(merchant.apiKey)).status).toBe(200)
  await revoke(apiKeyId)
  expectRefusedKey(await requestToken(apiKey))
  expect((await requestToken(merchant.apiKey)).status).toBe(200)
})

test('a disabled merchant gets no token, and gets one again when it is enabled', async () => {
  const shop = await service.newMerchant()
  await disable(shop.merchantId, true)
  expectRefusedKey(await requestToken(shop.apiKey))
  await disable(shop.merchantId, false)
  expect((await requestToken(shop.apiKey)).status).toBe(200)
})

test('merchantAccessKey is accepted for the token’s merchant, is 403 for another merchant, and proves nothing alone', async () => {
  const other = await service.newMerchant()
  const client = await service.as(merchant)
  const { qrCodeId } = (await client.post('/api/v0/qr-code', {})).json.payload
  const cancel = (headers: Record<string, string>, with_ = client) =>
    with_.patch(`/api/v0/qr-code/${qrCodeId}/cancel`, {}, headers)
  for (const named of [other.accessKey, 'mak_unknown', merchant.accessKey.toUpperCase()]) {
    const refused = await cancel({ merchantAccessKey: named })
    expect([refused.status, refused.error, refused.json.errorResponse.errorType]).toEqual([
      403,
      'access_key_mismatch',
      'AUTHORIZATION_ERROR',
    ])
  }
  const alone = await cancel({ merchantAccessKey: merchant.accessKey }, service.client)
  expect([alone.status, alone.error]).toEqual([401, 'invalid_token'])
  expect((await client.get(`/api/v0/qr-code/${qrCodeId}`)).json.payload.status).toBe('ACTIVE')
  expect((await cancel({ merchantAccessKey: merchant.accessKey })).json.payload.status).toBe('CANCELLED')
})

test('neither the database nor the log ever contains an API key or a token', async () => {
  const { apiKey } = await anotherKey(merchant.merchantId)
  const token = await tokenOf(service.client, apiKey)
  await use(token)
  await requestToken(`${apiKey}x`)
  await requestToken(merchant.apiKey.replace(/.$/, '!'))
  const dump = await asSuperuser(service.db.database, async (db) => {
    const { rows: tables } = await db.query<{ name: string }>(
      `select format('svc.%I', tablename) as name from pg_tables where schemaname = 'svc'`,
    )
    const lines: string[] = []
    for (const { name } of tables) {
      const { rows } = await db.query<{ text: string }>(`select t::text as text from ${name} t`)
      lines.push(...rows.map(({ text }) => text))
    }
    return lines.join('\n')
  })
  expect(dump).toContain(merchant.apiKeyId)
  expect(service.logged()).toContain('issueMerchantToken')
  for (const key of [apiKey, merchant.apiKey]) {
    const random = key.split('_')[2]!
    for (const secret of [
      random,
      Buffer.from(random).toString('hex'),
      Buffer.from(key).toString('base64').slice(0, 40),
    ])
      expect(`${dump}${service.logged()}`).not.toContain(secret)
  }
  expect(`${dump}${service.logged()}`).not.toContain(token.split('.')[1])
})

test('wrong keys lead to 429 with Retry-After, and a valid key from the same address still gets its token', async () => {
  const strict = await openService({ env: { FAILED_ATTEMPTS_PER_MINUTE: '5' } })
  try {
    const shop = await strict.newMerchant()
    const tryKey = (apiKey: string) => strict.client.post(TOKEN, undefined, { 'api-key': apiKey })
    for (let i = 0; i < 5; i++) expectRefusedKey(await tryKey(`svc_test_wrong${i}`))
    for (let i = 5; i < 20; i++) {
      const slowed = await tryKey(`svc_test_wrong${i}`)
      expect([slowed.status, slowed.error]).toEqual([429, 'too_many_failed_attempts'])
      expect(Number(slowed.headers['retry-after'])).toBeGreaterThan(0)
      expect(slowed.json).toMatchObject({ resultCode: 1, errorResponse: { errorType: 'RATE_LIMIT_ERROR' } })
      expect((await tryKey(shop.apiKey)).status).toBe(200)
    }
  } finally {
    await strict.close()
  }
})
