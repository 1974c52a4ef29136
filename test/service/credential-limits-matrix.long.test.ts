import { scopesOf } from '@svc/contract/scopes'
import { request } from 'undici'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Json } from '../harness/client.ts'
import { type Browser, signedIn } from '../harness/console.ts'
import {
  BEHIND_PROXY,
  bearer,
  ELSEWHERE,
  KINDS,
  limitTo,
  OFFICE,
  outcome,
  type Programs,
  use,
} from '../harness/credential-programs.ts'
import { openService, type TestService } from '../harness/service.ts'

let service: TestService
let operations: Browser
beforeAll(async () => {
  service = await openService({ env: BEHIND_PROXY })
  operations = await signedIn(service, 'operations')
})
afterAll(() => service.close())

const limit = (of: Pick<Programs, 'tenantId' | 'credentialId'>, limits: object) =>
  limitTo(operations, of, limits)

interface Documented {
  readonly id: string
  readonly method: string
  readonly path: string
  readonly scope: string
}

/** The operations of one kind of tenant, with their scopes, as the OpenAPI document has them. */
async function operationsOf(kind: Programs['kind']): Promise<Documented[]> {
  const { paths } = (await service.client.get('/openapi.json')).json
  return Object.entries<Json>(paths).flatMap(([path, methods]) =>
    Object.entries<Json>(methods).flatMap(
      ([method, { operationId: id, security = [], 'x-scope': scope }]) => {
        if (security.every((one: Json) => !one[kind])) return []
        return [{ id, method: method.toUpperCase(), path: path.replace(/\{\w+\}/g, 'none_0'), scope }]
      },
    ),
  )
}

/** The response to a request without a body; of a stream only its beginning is read. */
async function errorOf({ method, path }: Documented, headers: Record<string, string>): Promise<string> {
  const { statusCode, body } = await request(`${service.client.baseUrl}${path}`, {
    method: method as 'GET',
    headers,
    reset: true,
  })
  if (statusCode === 200) return body.on('error', () => undefined).destroy(), '200'
  const text = await body.text()
  return /address_not_allowed|insufficient_scope|invalid_token/.exec(text)?.[0] ?? String(statusCode)
}

describe.each(KINDS)('of all operations that accept the token of %s', (_, programs) => {
  test('each is rejected from another address', async () => {
    const own = await programs(service)
    const { token } = await own.requestToken(service, OFFICE)
    await limit(own, { addresses: [OFFICE] })
    await own.requestToken(service, OFFICE)
    const all = await operationsOf(own.kind)
    expect(all.length).toBeGreaterThan(25)
    await expect
      .poll(async () => outcome(await use(service, own.path, token, ELSEWHERE)), { timeout: 1_000 })
      .toBe('address_not_allowed')
    const headers = (address: string) => ({ ...bearer(token, address), partnerid: own.tenantId })
    for (const one of all) {
      expect([one.id, await errorOf(one, headers(ELSEWHERE))]).toEqual([one.id, 'address_not_allowed'])
      expect([one.id, await errorOf(one, headers(OFFICE))]).not.toContain('address_not_allowed')
    }
  })

  test('each can be called with its scope alone', async () => {
    const own = await programs(service)
    const all = await operationsOf(own.kind)
    expect([...new Set(all.map(({ scope }) => scope))].sort()).toEqual([...scopesOf(own.kind)].sort())
    const { token } = await own.requestToken(service, OFFICE)
    const headers = { ...bearer(token, OFFICE), partnerid: own.tenantId }
    for (const scope of scopesOf(own.kind)) {
      await limit(own, { scopes: [scope] })
      const outside = all.find((one) => one.scope !== scope)!
      await expect.poll(() => errorOf(outside, headers), { timeout: 1_000 }).toBe('insufficient_scope')
      for (const one of all)
        expect([scope, one.id, (await errorOf(one, headers)) === 'insufficient_scope']).toEqual([
          scope,
          one.id,
          one.scope !== scope,
        ])
    }
  })
})
