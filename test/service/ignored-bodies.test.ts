import { NoFields } from '@svc/server/http/operation'
import { OPERATIONS } from '@svc/server/operations'
import { request } from 'undici'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { ROWS } from '../harness/isolation-rows.ts'
import { newMerchantTenant, newPartnerTenant, type Tenant } from '../harness/isolation-world.ts'
import { sampled } from '../harness/long.ts'
import { openService, type TestService } from '../harness/service.ts'

let service: TestService
let merchant: Tenant
let partner: Tenant
let apiKey: string
beforeAll(async () => {
  service = await openService()
  merchant = await newMerchantTenant(service)
  partner = await newPartnerTenant(service, ['incentive'])
  ;({ apiKey } = await service.newMerchant())
})
afterAll(() => service.close())

type Op = (typeof OPERATIONS)[number]
const BODIES: readonly (readonly [type: string, body: string])[] = [
  ['application/json', '{"unknown":'],
  ['application/json; charset=utf-16', '{}'],
  ['application/x-www-form-urlencoded', ''],
  ['application/jose', 'eyJ'],
  ['text/plain', 'text'],
  ['no media type', '\u0000'],
]

/** Reads what there is; everything else is asked of an id that does not exist, so that it can be sent again. */
async function send(operation: Op, type?: string, body?: string) {
  const { client, ids } = operation.auth === 'merchant' ? merchant : partner
  const isRead = operation.method === 'GET'
  const row = ROWS[operation.id]
  const { query = '', headers } = typeof row === 'function' ? row(ids) : {}
  const path = operation.path.replace(/:(\w+)/g, (_, name: string) => (isRead && ids[name]) || 'none_0')
  const response = await request(`${service.baseUrl}${path}${query}`, {
    method: operation.method,
    headers: {
      ...(operation.id === 'issueMerchantToken' ? { 'api-key': apiKey } : client.headers),
      ...headers,
      ...(type !== undefined && { 'content-type': type }),
    },
    ...(body !== undefined && { body }),
  })
  const { statusCode, headers: got } = response
  // A stream of events has no end.
  if (operation.streams && statusCode === 200) {
    response.body.on('error', () => undefined).destroy()
    return { statusCode, type: got['content-type'] }
  }
  const text = await response.body.text()
  const error = statusCode < 400 ? undefined : /"error\\?":\\?"(\w+)/.exec(text)?.[1]
  return { statusCode, type: got['content-type'], error }
}

const bodiless = OPERATIONS.filter(({ body }) => body === undefined).map(
  (operation, turn) => [operation.id, operation, turn] as const,
)

test.each(bodiless)(
  '%s shows no body: a Content-Type and a body change nothing',
  async (_, operation, turn) => {
    const plain = await send(operation)
    for (const [type, body] of sampled(BODIES, 3, turn)) {
      expect(await send(operation, type), type).toEqual(plain)
      expect(await send(operation, type, body), type).toEqual(plain)
    }
  },
)

const withEmptyObject = OPERATIONS.filter(({ body }) => body === NoFields).map(
  (operation) => [operation.id, operation] as const,
)

test.each(withEmptyObject)(
  '%s shows an empty object: a Content-Type without a body changes nothing, a body of another type is 415',
  async (_, operation) => {
    const plain = await send(operation)
    expect(plain.statusCode).toBeLessThan(500)
    for (const [type] of BODIES) {
      expect(await send(operation, type), type).toEqual(plain)
      expect(await send(operation, type, ''), type).toEqual(plain)
    }
    expect(await send(operation, 'application/json', '{}')).toEqual(plain)
    expect((await send(operation, 'text/plain', '{}')).error).toBe('unsupported_media_type')
  },
)
