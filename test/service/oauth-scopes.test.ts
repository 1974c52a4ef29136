import { SCOPES, type Scope } from '@svc/contract/scopes'
import { type Contract, query } from '@svc/server/http/operation'
import { OPERATIONS } from '@svc/server/operations'
import { Type } from 'typebox'
import { request } from 'undici'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { ApiResponse, Client } from '../harness/client.ts'
import { schemeOf } from '../harness/documents.ts'
import { FORM, newPartner, type TestPartner } from '../harness/partner.ts'
import { openService, type TestService } from '../harness/service.ts'

const ALL = Object.keys(SCOPES) as Scope[]
const SCOPED = OPERATIONS.filter(({ auth, scope }) => scope !== undefined && auth !== 'merchant')

let service: TestService
let partner: TestPartner
beforeAll(async () => {
  service = await openService()
  partner = await newPartner(service, { products: ['incentive', 'employee_rewards'] })
})
afterAll(() => service.close())

const requestToken = (scope?: string): Promise<ApiResponse> =>
  service.client.send(
    'POST',
    '/oauth/token',
    new URLSearchParams({
      grant_type: 'client_credentials',
      client_id: partner.clientId,
      client_secret: partner.clientSecret,
      ...(scope !== undefined && { scope }),
    }).toString(),
    FORM,
  )

async function withScope(scope: string): Promise<Client> {
  const { json, headers } = await requestToken(scope)
  expect(json.scope).toBe(scope)
  return service.client.with({
    authorization: `Bearer ${json.access_token}`,
    partnerid: partner.partnerId,
    cookie: String(headers['set-cookie']).split(';')[0]!,
  })
}

const pathOf = (path: string) => path.replace(/:\w+/g, 'none_0')

/** The status of a request without a body; of a stream only its beginning is read. */
async function statusOf(caller: Client, method: string, path: string): Promise<number> {
  const url = `${service.client.baseUrl}${pathOf(path)}`
  const { statusCode, body } = await request(url, {
    method: method as 'GET',
    headers: caller.headers,
    reset: true,
  })
  body.on('error', () => undefined).destroy()
  return statusCode
}

describe.each(ALL)('a token with only the scope %s', (scope) => {
  let caller: Client
  beforeAll(async () => {
    caller = await withScope(scope)
  })

  test.each(SCOPED)('can call $id only if that is its scope', async ({ method, path, scope: needed }) => {
    if (needed === scope) {
      expect([401, 403]).not.toContain(await statusOf(caller, method, path))
      return
    }
    const refused = await caller.send(method, pathOf(path))
    expect([refused.status, refused.error]).toEqual([403, 'insufficient_scope'])
    // RFC 6750 section 3.1.
    expect(refused.headers['www-authenticate']).toMatch(
      new RegExp(
        `^Bearer realm="svc", error="insufficient_scope", error_description="[^"]+", scope="${needed}"$`,
      ),
    )
  })
})

test('every scope is one that an operation needs, and every operation that accepts partners’ tokens needs one', () => {
  expect([...new Set(SCOPED.map(({ scope }) => scope))].sort()).toEqual([...ALL].sort())
  const public_ = new Set(['none', 'merchant', 'rail', 'bankRail', 'cardRail'])
  expect(OPERATIONS.filter(({ auth, scope }) => !public_.has(auth) && !scope)).toEqual([])
})

test('an operation for partners without a scope does not compile', () => {
  const rest = {
    id: 'unscoped',
    method: 'GET',
    path: '/unscoped',
    tag: 'Cards',
    summary: 'None',
    envelope: 'bare',
    result: Type.Object({}),
    errors: [],
    mount: () => () => ({ body: '{}' }),
  } as const
  for (const auth of ['partner', 'partnerWithId', 'partnerSession', 'tenant'] as const) {
    // @ts-expect-error -- no scope
    const unscoped: Contract<never, never, never> = { ...rest, auth }
    expect(unscoped.scope).toBeUndefined()
  }
  // @ts-expect-error -- tokens of merchants have no scopes
  query({ ...rest, auth: 'merchant', scope: 'cards:read' })
  query({ ...rest, auth: 'partner', scope: 'cards:read' })
})

test('a token request without a scope gets all of them, and one with several gets those', async () => {
  expect((await requestToken()).json.scope.split(' ')).toEqual(ALL)
  expect((await requestToken('')).json.scope.split(' ')).toEqual(ALL)
  const caller = await withScope('coins:read events:read')
  for (const { method, path, scope } of SCOPED)
    expect([path, (await statusOf(caller, method, path)) === 403]).toEqual([
      path,
      scope !== 'coins:read' && scope !== 'events:read',
    ])
})

test.each([
  'all',
  '*',
  'cards',
  'cards:READ',
  'cards:read,coins:read',
  'incentive',
  'cards:read admin',
  'toString',
])('the scope %s is unknown, and rejected as RFC 6749 section 5.2 specifies', async (scope) => {
  const refused = await requestToken(scope)
  expect([refused.status, refused.json.error]).toEqual([400, 'invalid_scope'])
  expect(refused.json.access_token).toBeUndefined()
})

test('the metadata and the OpenAPI document list the scopes', async () => {
  const metadata = await service.client.get('/.well-known/oauth-authorization-server')
  expect(metadata.json.scopes_supported).toEqual(ALL)
  const { paths } = (await service.client.get('/openapi.json')).json
  for (const { auth, method, path, scope } of SCOPED) {
    const documented = paths[path.replace(/:(\w+)/g, '{$1}')][method.toLowerCase()]
    expect(documented.security).toContainEqual({ partner: [scope] })
    expect(schemeOf(documented.security, documented.parameters)).toBe(auth)
  }
})

test('a merchant’s token, which has no scopes, reads events and changes webhooks as before', async () => {
  const merchant = await service.as(await service.newMerchant())
  for (const { auth, method, path } of SCOPED)
    if (auth === 'tenant') expect([401, 403]).not.toContain(await statusOf(merchant, method, path))
})
