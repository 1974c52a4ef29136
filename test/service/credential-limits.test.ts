import { MERCHANT_SCOPES, SCOPES } from '@svc/contract/scopes'
import { request } from 'undici'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { ApiResponse, Json } from '../harness/client.ts'
import { type Browser, PASSWORD, signedIn } from '../harness/console.ts'
import {
  BEHIND_PROXY,
  bearer,
  ELSEWHERE,
  KINDS,
  limitTo,
  merchantPrograms,
  OFFICE,
  outcome,
  type Programs,
  use,
} from '../harness/credential-programs.ts'
import { FORM, newPartner } from '../harness/partner.ts'
import { ageMember, memberBrowser } from '../harness/portal.ts'
import { openService, type TestService } from '../harness/service.ts'

let service: TestService
let other: TestService
let operations: Browser
beforeAll(async () => {
  service = await openService({ env: BEHIND_PROXY })
  other = await openService({ db: service.db, env: BEHIND_PROXY })
  operations = await signedIn(service, 'operations')
})
afterAll(async () => {
  await other.close()
  await service.close()
})

const limit = (of: Pick<Programs, 'tenantId' | 'credentialId'>, limits: object) =>
  limitTo(operations, of, limits)
const credentialOf = async ({ tenantId, credentialId }: Programs): Promise<Json> => {
  const { data } = (await operations.get(`/tenants/${tenantId}/credentials`)).json
  return data.find((one: Json) => one.credentialId === credentialId)
}

test.each(KINDS)(
  '%s gets tokens only from its addresses; a wrong secret fails in the same way everywhere',
  async (_, programs) => {
    const own = await programs(service)
    await limit(own, { addresses: [OFFICE, '2001:db8::/32'] })
    for (const address of [OFFICE, `::ffff:${OFFICE}`, '::ffff:cb00:7107', '2001:db8:1::9'])
      expect([address, (await own.requestToken(service, address)).status]).toEqual([address, 200])
    for (const address of [ELSEWHERE, `::ffff:${ELSEWHERE}`, '2001:db9::1', `${OFFICE}:443`, 'unknown']) {
      const refused = await own.requestToken(service, address)
      expect([address, refused.status, outcome(refused)]).toEqual([address, 403, 'address_not_allowed'])
      expect(refused.text).not.toContain('2001:db8::/32')
    }
    const wrong = own.kind === 'merchant' ? 'svc_test_wrong' : 'svc_secret_wrong'
    const [inside, outside] = [
      await own.requestToken(service, OFFICE, wrong),
      await own.requestToken(service, ELSEWHERE, wrong),
    ]
    expect([inside.status, outside.status]).toEqual([401, 401])
    const body = ({ text, headers }: ApiResponse) =>
      text.replaceAll(String(headers['x-request-id']), '').replace(/\d{4}-\d\d-\d\d \d\d:\d\d:\d\d/, '')
    expect(body(inside)).toBe(body(outside))
  },
)

test.each(KINDS)(
  'a change of the addresses of %s applies to its tokens in every process within a second, and a wider list at once',
  async (_, programs) => {
    const own = await programs(service)
    const processes = [service, other]
    const tokens = await Promise.all(
      processes.map(async (one) => (await own.requestToken(one, OFFICE)).token),
    )
    const all = (address: string) =>
      Promise.all(
        processes.flatMap((one) =>
          tokens.map(async (token) => outcome(await use(one, own.path, token, address))),
        ),
      )
    expect(await all(ELSEWHERE)).toEqual([200, 200, 200, 200])

    await limit(own, { addresses: ['203.0.113.0/24'] })
    const refused = Array<string>(4).fill('address_not_allowed')
    await expect.poll(() => all(ELSEWHERE), { timeout: 1_000, interval: 50 }).toEqual(refused)
    expect(await all(OFFICE)).toEqual([200, 200, 200, 200])

    await limit(own, { addresses: ['192.0.2.0/24'] })
    await expect.poll(() => all(OFFICE), { timeout: 1_000, interval: 50 }).toEqual(refused)

    await limit(own, { addresses: ['192.0.2.0/24', OFFICE] })
    expect(await all(OFFICE)).toEqual([200, 200, 200, 200])
    expect(await all(ELSEWHERE)).toEqual(refused)
    await limit(own, {})
    expect(await all(ELSEWHERE)).toEqual([200, 200, 200, 200])
  },
)

test('a credential issued with limits is never without them, and its replacement has the same ones', async () => {
  const { tenantId, requestToken } = await merchantPrograms(service)
  const path = `/tenants/${tenantId}/credentials`
  const limits = { addresses: [OFFICE], scopes: ['payments:read'] }
  const issued = (await operations.post(path, { name: 'reports', ...limits })).json
  const rolled = (await operations.post(`${path}/${issued.credentialId}/roll`, {})).json
  for (const { secret } of [issued, rolled]) {
    expect((await requestToken(service, ELSEWHERE, secret)).status).toBe(403)
    const { token } = await requestToken(service, OFFICE, secret)
    expect((await use(other, '/api/v0/payments', token, OFFICE)).status).toBe(200)
    expect(outcome(await use(other, '/api/v0/payouts', token, OFFICE))).toBe('insufficient_scope')
  }
  const { data } = (await operations.get(path)).json
  expect(data.slice(1).map(({ addresses, scopes }: Json) => ({ addresses, scopes }))).toEqual([
    limits,
    limits,
  ])
})

test('a rejection for a scope has the challenge of RFC 6750, for merchants too', async () => {
  const own = await merchantPrograms(service)
  await limit(own, { scopes: ['qr_codes:read'] })
  const { token } = await own.requestToken(service, OFFICE)
  const refused = await use(service, '/api/v0/payouts', token, OFFICE)
  expect([refused.status, refused.errorDescription]).toEqual([
    403,
    'The API key of the token lacks the scope payouts:read',
  ])
  expect(refused.headers['www-authenticate']).toBe(
    'Bearer realm="svc", error="insufficient_scope", error_description="The API key of the token lacks the scope payouts:read", scope="payouts:read"',
  )
})

test('a client with scopes gets tokens with those by default, and none with others', async () => {
  const { clientId, clientSecret, partnerId: tenantId } = await newPartner(service)
  await limit({ tenantId, credentialId: clientId }, { scopes: ['events:read', 'cards:read'] })
  const requestToken = (scope?: string) =>
    service.client.send(
      'POST',
      '/oauth/token',
      new URLSearchParams({
        grant_type: 'client_credentials',
        client_id: clientId,
        client_secret: clientSecret,
        ...(scope && { scope }),
      }).toString(),
      FORM,
    )
  expect((await requestToken()).json.scope).toBe('cards:read events:read')
  expect((await requestToken('cards:read')).json.scope).toBe('cards:read')
  expect((await requestToken('cards:read cards:write')).json.error).toBe('invalid_scope')
})

test.each(KINDS)(
  'a valid secret of %s and its token used from elsewhere are recorded in the audit of the tenant once, whatever the number of attempts',
  async (_, programs) => {
    const own = await programs(service)
    const { token } = await own.requestToken(service, OFFICE)
    await limit(own, { addresses: [OFFICE] })
    const entries = async (): Promise<Json[]> =>
      (await operations.get(`/audit?tenantId=${own.tenantId}&action=credential_refusal.created`)).json.data
    expect(await entries()).toEqual([])
    for (let n = 0; n < 20; n++) {
      await own.requestToken([service, other][n % 2]!, ELSEWHERE)
      await use(service, own.path, token, '192.0.2.1')
    }
    await expect.poll(async () => (await entries()).length).toBe(1)
    const [{ actor, target, details }] = (await entries()) as [Json]
    expect([actor, target]).toEqual([`tenant ${own.tenantId}`, own.credentialId])
    const { refusedAddress, refusedOn } = await credentialOf(own)
    expect([details.address, typeof refusedOn]).toEqual([refusedAddress, 'string'])
    for (const one of [service, other]) one.app.services.credentialRefusals.loop.wake()
    await own.requestToken(service, ELSEWHERE)
    const more = await operations.get(`/audit?tenantId=${own.tenantId}&action=credential_refusal.changed`)
    expect([(await entries()).length, more.json.data]).toEqual([1, []])
  },
)

test('an administrator of the portal sets the limits with a recent sign-in; others cannot', async () => {
  const own = await merchantPrograms(service)
  const member = await memberBrowser(service, own.tenantId)
  const path = `/credentials/${own.credentialId}/limits`
  const limits = { addresses: ['203.0.113.0/24'], scopes: ['payments:read'] }
  const set = (by: Browser) => by.send('PUT', path, limits)
  await ageMember(service, member.memberId)
  expect((await set(member)).error).toBe('step_up_required')
  await member.post('/session/step-up', { password: PASSWORD })
  const operator = await memberBrowser(service, own.tenantId, 'operator')
  expect((await set(operator)).error).toBe('role_too_low')
  expect((await set(member)).json).toMatchObject(limits)
  const issued = (await member.post('/credentials', { name: 'till', ...limits })).json
  const [, created] = (await member.get('/credentials')).json.data
  expect([created.credentialId, created.addresses]).toEqual([issued.credentialId, limits.addresses])
  const { data } = (await operations.get(`/audit?tenantId=${own.tenantId}&action=credential_limits.created`))
    .json
  expect(data.map(({ actor, details }: Json) => [actor, details])).toEqual([
    [`member ${member.memberName}`, limits],
    [`member ${member.memberName}`, limits],
  ])
})

test('limits that break a rule are rejected by name and change nothing; those of another tenant are not found', async () => {
  const own = await merchantPrograms(service)
  const path = `/tenants/${own.tenantId}/credentials/${own.credentialId}/limits`
  const put = async (body: object) =>
    (await operations.send('PUT', path, { addresses: [], scopes: [], ...body })).json
  const wrong = await put({ addresses: ['10.0.0.0/8', '10.0.0.5/8'], scopes: ['cards:read'] })
  expect(wrong.errors.map(({ pointer }: Json) => pointer)).toEqual(['/addresses/1', '/scopes/0'])
  const many = Array.from({ length: 21 }, (_, n) => `10.0.0.${n}`)
  expect((await put({ addresses: many })).error).toBe('validation_failed')
  expect((await put({ addresses: many.slice(1) })).addresses).toHaveLength(20)
  const outsider = await merchantPrograms(service)
  const foreign = `/tenants/${outsider.tenantId}/credentials/${own.credentialId}/limits`
  expect((await operations.send('PUT', foreign, { addresses: [], scopes: [] })).error).toBe(
    'credential_not_found',
  )
  await operations.send('DELETE', `/tenants/${own.tenantId}/credentials/${own.credentialId}`)
  expect((await put({})).error).toBe('credential_ended')
})

test('an open event stream ends once its address is no longer allowed', async () => {
  const own = await merchantPrograms(service)
  const { token } = await own.requestToken(service, OFFICE)
  const { body } = await request(`${service.client.baseUrl}/api/v0/events/stream`, {
    headers: bearer(token, OFFICE),
  })
  const ended = new Promise<void>((resolve, reject) => body.resume().on('end', resolve).on('error', reject))
  await limit(own, { addresses: [ELSEWHERE] })
  await ended
})

test('a token of a version without limits is subject to those of its credential', async () => {
  const own = await merchantPrograms(service)
  await limit(own, { addresses: [OFFICE] })
  const { accessTokens } = service.app.services
  const { tenantId, credentialId } = own
  const { token } = accessTokens.issue({ tenantId, kind: 'merchant', credentialId })
  expect(outcome(await use(service, own.path, token, ELSEWHERE))).toBe('address_not_allowed')
  expect((await use(service, own.path, token, OFFICE)).status).toBe(200)
})

test('scopes that both kinds of tenants have have the same description', () => {
  for (const [scope, description] of Object.entries(MERCHANT_SCOPES))
    if (scope in SCOPES) expect(description).toBe(SCOPES[scope as keyof typeof SCOPES])
})
