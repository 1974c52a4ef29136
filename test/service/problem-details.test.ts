import { FAILURES } from '@svc/contract/errors'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { ApiResponse, Client } from '../harness/client.ts'
import { openService, type TestService } from '../harness/service.ts'

let service: TestService
let client: Client

beforeAll(async () => {
  service = await openService()
  client = await service.as(await service.newMerchant())
})
afterAll(() => service.close())

const create = (body: string, headers: Record<string, string>) =>
  client.send('POST', '/api/v0/qr-code', body, { 'content-type': 'application/json', ...headers })

test('a request that accepts problem details gets RFC 9457 with its error code and the page about it (decision F6)', async () => {
  const problems: [ApiResponse, keyof typeof FAILURES][] = [
    [await client.get('/nowhere', { accept: 'application/problem+json' }), 'route_not_found'],
    [await create('{', { accept: 'text/html, application/problem+json' }), 'malformed_body'],
    [await service.client.get('/api/v0/qr-code/x', { accept: 'application/problem+json' }), 'invalid_token'],
  ]
  for (const [response, code] of problems) {
    expect(response.headers['content-type']).toMatch(/^application\/problem\+json(?:;|$)/)
    const requestId = response.headers['x-request-id']
    expect(response.json).toEqual({
      type: `${service.client.baseUrl}/docs/errors#${code}`,
      error: code,
      title: expect.any(String),
      status: response.status,
      detail: expect.any(String),
      errorType: FAILURES[code].errorType,
      requestId,
    })
    expect(response.status).toBe(FAILURES[code].status)
  }
})

test('a media type with the weight 0 in Accept is not asked for', async () => {
  const typeOf = async (accept: string) => (await create('{', { accept })).headers['content-type']
  for (const accept of [
    'application/problem+json;q=0',
    'application/json, application/problem+json; Q=0.000',
    'application/problem+json;charset=utf-8;q=0.0, */*',
    'application/problem+json2',
  ])
    expect(await typeOf(accept), accept).toMatch(/^application\/json/)
  for (const accept of ['application/problem+json;q=0.001', '*/*;q=0, Application/Problem+JSON'])
    expect(await typeOf(accept), accept).toMatch(/^application\/problem\+json/)
  const payments = async (accept: string) => (await client.get('/api/v0/payments', { accept })).headers
  expect((await payments('text/csv;q=0, application/json'))['content-type']).toMatch(/^application\/json/)
  expect((await payments('text/csv;q=0.5'))['content-type']).toMatch(/^text\/csv/)
})

test('problem details name each invalid field of body, query and headers (decision F4)', async () => {
  const problem = { accept: 'application/problem+json' }
  const errorsOf = async (response: Promise<ApiResponse>) => (await response).json.errors
  expect(await errorsOf(create('{"qrName":7,"amount":0,"colour":"red"}', problem))).toEqual([
    { in: 'body', pointer: '/colour', rule: 'unknown_field', message: 'colour is not a known field' },
    { in: 'body', pointer: '/qrName', rule: 'type', message: 'qrName must be a string, not a number' },
    { in: 'body', pointer: '/amount', rule: 'minimum', message: 'amount must be at least 0.01' },
  ])
  const [late] = await errorsOf(create('{"expiry":"2020-01-01T00:00:00Z"}', problem))
  expect(late).toMatchObject({
    pointer: '/expiry',
    message: expect.stringMatching(/^expiry must be in the future, after 2/),
  })
  expect(await errorsOf(client.get('/api/v0/events?limit=0', problem))).toMatchObject([
    { in: 'query', pointer: '/limit', message: 'limit must be a whole number from 1 to 500' },
  ])
  expect(await errorsOf(create('{}', { ...problem, 'idempotency-key': ' ' }))).toMatchObject([
    { in: 'header', pointer: '/Idempotency-Key' },
  ])
})
