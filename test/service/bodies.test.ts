import { Pool } from 'undici'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Client, type Json, payloadOf } from '../harness/client.ts'
import { expectFailure } from '../harness/failure.ts'
import { openService, type TestMerchant, type TestService } from '../harness/service.ts'

let service: TestService
let merchant: TestMerchant
let client: Client

beforeAll(async () => {
  service = await openService()
  merchant = await service.newMerchant()
  client = await service.as(merchant)
})
afterAll(() => service.close())

const JSON_TYPE = { 'content-type': 'application/json' }

const create = (body: string | Buffer, headers: Record<string, string> = {}) =>
  client.send('POST', '/api/v0/qr-code', body, { ...JSON_TYPE, ...headers })

const bearer = async () =>
  `Bearer ${(await client.post('/api/v0/merchant/token', undefined, { 'api-key': merchant.apiKey })).json.token}`

test('values of custom parameters are validated whatever their names', async () => {
  for (const name of ['a\u2028b', 'a\u2029b', ' ', 'constructor', 'toString', '😀', '"', '\\']) {
    const wrong = await client.post('/api/v0/qr-code', { customParams: { [name]: { nested: 1 } } })
    expectFailure(wrong, 'validation_failed')
    const right = payloadOf(await client.post('/api/v0/qr-code', { customParams: { [name]: 'v' } }))
    expect(right.customParams).toEqual({ [name]: 'v' })
    expect(payloadOf(await client.get(`/api/v0/qr-code/${right.qrCodeId}`)).customParams).toEqual({
      [name]: 'v',
    })
  }
})

test.each<[string, string | Buffer]>([
  ['half an object', '{"qrName":'],
  ['two values', '{}{}'],
  ['a key sent twice', '{"qrName":"a","qrName":"b"}'],
  ['a key sent twice, spelled differently', '{"qrName":"a","\\u0071rName":"b"}'],
  ['__proto__', '{"__proto__":{"qrName":"a"}}'],
  ['a NUL', '{"qrName":"a\\u0000b"}'],
  ['a control character', '{"qrName":"a\\u001bb"}'],
  ['a lone surrogate', '{"qrName":"\\ud83d"}'],
  ['invalid UTF-8', Buffer.from([0x7b, 0x22, 0x61, 0x22, 0x3a, 0x22, 0xff, 0x22, 0x7d])],
  ['21 levels', `{"customParams":${'['.repeat(20)}${']'.repeat(20)}}`],
  ['30,000 levels', '['.repeat(30_000)],
  ['a number over the range of doubles', '{"amount":1e999}'],
  ['a number that would become zero', '{"amount":1e-999}'],
  ['a number of 20 digits', '{"amount":12345678901234567890}'],
  ['an amount that a double would change', '{"amount":100.000000000000001}'],
])('a body with %s is malformed', async (_, body) => {
  const response = await create(body)
  expectFailure(response, 'malformed_body')
})

test.each(['null', '[]', '"text"', '1', 'true', '[{}]'])(
  'a body that is not an object is rejected: %s',
  async (body) => {
    expectFailure(await create(body), 'validation_failed')
  },
)

test.each([0, -1, -0.01, 0.001, 0.014, 1e-7, 100_000.01, 999_999_999_999_999])(
  'an amount that is out of range or not exact is rejected: %d',
  async (amount) => {
    const response = await client.post('/api/v0/qr-code', { amount })
    expectFailure(response, 'validation_failed')
    expect(response.errorDescription).toMatch(/^amount /)
  },
)

test('only JSON is accepted, and only uncompressed', async () => {
  for (const type of [
    'text/plain',
    'application/xml',
    'multipart/form-data; boundary=x',
    'application/jsonp',
    'application/json5',
    'application/jose',
    'x',
    '/',
    '',
  ])
    expectFailure(await create('{}', { 'content-type': type }), 'unsupported_media_type')
  expectFailure(await client.send('POST', '/api/v0/qr-code', '{}'), 'unsupported_media_type')
  for (const encoding of ['gzip', 'deflate', 'br', 'identity, gzip', 'x'])
    expectFailure(await create('{}', { 'content-encoding': encoding }), 'unsupported_media_type')
  expect((await create('{}', { 'content-encoding': 'identity' })).status).toBe(200)
})

test('a body of 64 KiB is accepted and a larger one is 413, whether or not its length is declared', async () => {
  const max = service.app.services.config.BODY_BYTES_MAX
  const filled = (bytes: number) => `{"qrName":"${'a'.repeat(bytes - 13)}"}`
  expectFailure(await create(filled(max)), 'validation_failed')
  expectFailure(await create(filled(max + 1)), 'payload_too_large')
  const pool = new Pool(service.baseUrl)
  const headers = { ...JSON_TYPE, authorization: await bearer() }
  async function* chunks() {
    for (let i = 0; i < 17; i++) yield Buffer.alloc(4_096, 0x20)
  }
  const response = await pool.request({
    method: 'POST',
    path: '/api/v0/qr-code',
    headers,
    body: chunks() as never,
  })
  expect([response.statusCode, JSON.parse(((await response.body.json()) as Json).payload).error]).toEqual([
    413,
    'payload_too_large',
  ])
  await pool.close()
})
