import { FAILURES } from '@svc/contract/errors'
import { OPERATIONS } from '@svc/server/operations'
import { Pool } from 'undici'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Client, type Json, payloadOf } from '../harness/client.ts'
import { inlined, schemeOf } from '../harness/documents.ts'
import { expectFailure } from '../harness/failure.ts'
import { asPartner, newPartner } from '../harness/partner.ts'
import { openService, type TestMerchant, type TestService } from '../harness/service.ts'

let service: TestService
let merchant: TestMerchant
let client: Client
let paths: Record<string, Record<string, Json>>

beforeAll(async () => {
  service = await openService()
  merchant = await service.newMerchant()
  client = await service.as(merchant)
  paths = (inlined((await client.get('/openapi.json')).json) as Json).paths
})
afterAll(() => service.close())

const JSON_TYPE = { 'content-type': 'application/json' }

const create = (body: string | Buffer, headers: Record<string, string> = {}) =>
  client.send('POST', '/api/v0/qr-code', body, { ...JSON_TYPE, ...headers })

test('every failure has the errorType of its status (decision F3)', () => {
  const byStatus: Record<number, string> = {
    400: 'VALIDATION_ERROR',
    406: 'VALIDATION_ERROR',
    408: 'VALIDATION_ERROR',
    413: 'VALIDATION_ERROR',
    415: 'VALIDATION_ERROR',
    431: 'VALIDATION_ERROR',
    401: 'SYSTEM_ERROR',
    500: 'SYSTEM_ERROR',
    503: 'SYSTEM_ERROR',
    403: 'AUTHORIZATION_ERROR',
    404: 'NOT_FOUND_ERROR',
    405: 'NOT_FOUND_ERROR',
    410: 'NOT_FOUND_ERROR',
    409: 'CONFLICT_ERROR',
    412: 'CONFLICT_ERROR',
    428: 'CONFLICT_ERROR',
    421: 'SYSTEM_ERROR',
    422: 'BUSINESS_ERROR',
    429: 'RATE_LIMIT_ERROR',
  }
  for (const [code, { status, errorType, description, remedy }] of Object.entries(FAILURES)) {
    expect([code, errorType]).toEqual([code, byStatus[status]])
    expect(code).toMatch(/^[a-z]+(?:_[a-z]+)*$/)
    expect(Math.min(description.length, remedy.length)).toBeGreaterThan(10)
  }
})

const STREAMS = new Set(
  OPERATIONS.flatMap(({ method, path, streams, alsoProduces }) =>
    method === 'GET' && streams && !alsoProduces ? [path.replace(/:(\w+)/g, '{$1}')] : [],
  ),
)

test('every path responds to every method that it does not support with 405 and Allow', async () => {
  const pool = new Pool(service.baseUrl)
  for (const [path, operations] of Object.entries(paths)) {
    const taken = Object.keys(operations).map((method) => method.toUpperCase())
    // What only streams has no HEAD.
    const hasHead = taken.includes('GET') && !STREAMS.has(path)
    const allow = [...taken, ...(hasHead ? ['HEAD'] : [])].sort().join(', ')
    for (const method of ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'] as const) {
      if (taken.includes(method)) continue
      const response = await pool.request({
        method,
        path: path.replace(/\{[^}]+\}/g, 'x'),
        headers: { authorization: 'Bearer x' },
      })
      const json = (await response.body.json()) as Json
      expect([method, path, response.statusCode, response.headers['allow']]).toEqual([
        method,
        path,
        405,
        allow,
      ])
      expect(json.errorResponse).toMatchObject({
        errorType: 'NOT_FOUND_ERROR',
        requestId: response.headers['x-request-id'],
      })
      expect(JSON.parse(json.payload).error).toBe('method_not_allowed')
    }
  }
  await pool.close()
})

test.each([
  '/nowhere',
  '/api/v0/qr-codes',
  '/api/v0/qr-code/a/b/c',
  '/api/v1/merchant/token',
  '//',
  '/%ff',
  '/api/v0/qr-code/%E0%A4%A',
  '/__proto__',
  '/.env',
])('an unknown route is 404 in the envelope: %s', async (path) => {
  for (const method of ['GET', 'POST', 'DELETE'] as const)
    expectFailure(await client.send(method, path), 'route_not_found')
})

test('an id that svc cannot have issued gets the same response as a nonexistent one', async () => {
  const malformed = [
    'x',
    '%00',
    '%00qr',
    '..%2f..%2fetc%2fpasswd',
    '%2e%2e',
    'a'.repeat(2_000),
    'a'.repeat(12_000),
    '%F0%9F%98%80',
    "'%20or%201=1--",
    '%22',
    '__proto__',
    'qr_',
    `qr_${'0'.repeat(27)}`,
    `QR_${'0'.repeat(26)}`,
    `qr_${'0'.repeat(26)}%20`,
  ]
  for (const id of malformed) {
    expectFailure(await client.get(`/api/v0/qr-code/${id}`), 'qr_code_not_found')
    expectFailure(await client.get(`/api/v0/qr-code/${id}/payments`), 'qr_code_not_found')
    expectFailure(await client.patch(`/api/v0/qr-code/${id}/cancel`, {}), 'qr_code_not_found')
  }
  expectFailure(await client.get('/api/v0/qr-code/../../etc/passwd'), 'route_not_found')
})

test('an id or a query with a NUL never reaches the database, on any operation', async () => {
  const partner = await asPartner(service.client, await newPartner(service))
  for (const [path, operations] of Object.entries(paths)) {
    for (const [method, { security, parameters = [] }] of Object.entries(operations)) {
      const scheme = schemeOf(security, parameters)
      if (scheme === 'rail') continue
      const caller = scheme === 'merchant' ? client : partner
      const send = (target: string) =>
        caller.send(method.toUpperCase() as 'GET', target, undefined, { 'if-match': '"1"' })
      if (path.includes('{')) {
        const [odd, missing] = await Promise.all(
          ['a%00b', 'nobody'].map((id) => send(path.replace(/\{[^}]+\}/g, id))),
        )
        expect([method, path, odd!.status, odd!.error]).toEqual([
          method,
          path,
          missing!.status,
          missing!.error,
        ])
      }
      for (const { name } of parameters.filter((parameter: Json) => parameter.in === 'query'))
        expect((await send(`${path.replace(/\{[^}]+\}/g, 'x')}?${name}=%00`)).status, `${path}?${name}`).toBe(
          400,
        )
    }
  }
})

test('a validation error names every invalid field and its rule, and never a value', async () => {
  const body = {
    qrName: 'canary'.repeat(20),
    multipleUse: 'canary',
    fixedAmount: 7_654_321,
    amount: 'canary',
    description: ['canary'],
    expiry: 'canary',
    customParams: { colour: 7_654_321, size: 'canary'.repeat(50) },
    customerName: ['canary'],
    customerEmail: 'canary@',
    customerMobile: '7654321x',
    customerId: 7_654_321,
    referenceNumber: { canary: 1 },
    unknown: 'canary',
  }
  const response = await client.post('/api/v0/qr-code', body)
  expectFailure(response, 'validation_failed')
  const named = response.errorDescription!.split('; ').map((line) => line.split(' ')[0])
  const { customParams: _, ...others } = body
  expect(new Set(named)).toEqual(
    new Set([...Object.keys(others), 'customParams.colour', 'customParams.size']),
  )
  expect(response.text).not.toMatch(/canary|7654321/)
})

test('violations of rules between fields are reported all at once', async () => {
  const response = await client.post('/api/v0/qr-code', { fixedAmount: true, expiry: '2020-01-01T00:00:00Z' })
  expectFailure(response, 'validation_failed')
  expect(response.errorDescription).toMatch(/^amount .+; expiry /)
})

/** What an operation does not look at, since the specification shows none (decision C14). */
const ignoredBy = (method: string, path: string): readonly string[] =>
  OPERATIONS.find(
    (one) => one.method === method.toUpperCase() && one.path.replace(/:(\w+)/g, '{$1}') === path,
  )?.ignores ?? []

test('an unknown field is rejected by name on every operation, in the body and in the query, where the specification shows these', async () => {
  for (const [path, operations] of Object.entries(paths)) {
    for (const [method, { parameters, requestBody, security }] of Object.entries(operations)) {
      const scheme = schemeOf(security, parameters)
      if (path.startsWith('/oauth') || (scheme !== undefined && scheme !== 'merchant')) continue
      const place = path.replace(/\{[^}]+\}/g, `qr_${'0'.repeat(26)}`)
      const send = (target: string, body?: string) =>
        client.send(method.toUpperCase() as 'GET', target, body, body ? JSON_TYPE : {})
      const schema = requestBody?.content['application/json']?.schema
      const ignored = ignoredBy(method, path)
      // The body is looked at before the query: one that lacks fields is told of these alone.
      if (!schema?.required && !ignored.includes('query')) {
        if (requestBody && !schema) continue
        const inQuery = await send(`${place}?unheardOf=canary`, requestBody?.required ? '{}' : undefined)
        expectFailure(inQuery, 'validation_failed')
        expect(inQuery.errorDescription).toMatch(/unheardOf is not a known field/)
        expect(inQuery.text).not.toContain('canary')
      }
      if (!schema) continue
      const inBody = await send(place, '{"unheardOf":"canary"}')
      expectFailure(inBody, 'validation_failed')
      expect(inBody.errorDescription).toMatch(/unheardOf is not a known field/)
      expect(inBody.text).not.toContain('canary')
    }
  }
})

const bearer = async () =>
  `Bearer ${(await client.post('/api/v0/merchant/token', undefined, { 'api-key': merchant.apiKey })).json.token}`

test('headers that determine the caller and the subject may occur only once', async () => {
  const pool = new Pool(service.baseUrl)
  const authorization = await bearer()
  for (const name of [
    'authorization',
    'api-key',
    'merchantAccessKey',
    'idempotency-key',
    'content-type',
    'partnerId',
  ]) {
    const value =
      name === 'authorization' ? authorization : name === 'content-type' ? 'application/json' : 'a'
    const headers = [
      'authorization',
      authorization,
      'content-type',
      'application/json',
      name,
      value,
      name,
      value,
    ]
    const response = await pool.request({ method: 'POST', path: '/api/v0/qr-code', headers, body: '{}' })
    const { payload } = (await response.body.json()) as Json
    expect([name, response.statusCode, JSON.parse(payload).error]).toEqual([name, 400, 'bad_request'])
  }
  await pool.close()
})

test('an Idempotency-Key must be 1 to 255 visible characters', async () => {
  for (const key of ['', 'a b', '\u00e9', 'a\tb', 'x'.repeat(256)])
    expectFailure(await create('{}', { 'idempotency-key': key }), 'validation_failed')
  for (const key of ['!', '~'.repeat(255)])
    expect((await create('{}', { 'idempotency-key': key })).status).toBe(200)
})

test('the timestamp of a failure is the local time of the business zone (decision F5)', async () => {
  for (const [zone, offsetMinutes] of [
    ['Asia/Kolkata', 330],
    ['UTC', 0],
  ] as const) {
    const there = await openService({ env: { BUSINESS_TIME_ZONE: zone } })
    const before = Math.floor(Date.now() / 1_000) * 1_000
    const { timestamp } = (await there.client.get('/nowhere')).json.errorResponse
    const instant = Date.parse(`${timestamp.replace(' ', 'T')}Z`) - offsetMinutes * 60_000
    expect(instant).toBeGreaterThanOrEqual(before)
    expect(instant).toBeLessThanOrEqual(Date.now())
    await there.close()
  }
})

test('no input to the sandbox’s payer breaks the service', async () => {
  const pay = (query: string) =>
    service.client.post('/sandbox/upi/pay', { upi: `upi://pay?pa=ab@bank&pn=x&${query}` })
  for (const amount of ['99999999999999', '0', '-1', '1.001', ''])
    expectFailure(await pay(`am=${amount}`), 'validation_failed')
  for (const tr of ['%00', '%E2%80%A8', encodeURIComponent(`${'x'.repeat(63)}😀`), 'x'.repeat(100), '']) {
    const { payment } = payloadOf(await pay(`am=5&tr=${tr}`))
    expect(payment).toMatchObject({ status: 'SUSPENSE', reason: 'unknown_code' })
  }
})
