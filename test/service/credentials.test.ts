import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Json } from '../harness/client.ts'
import { type Browser, PASSWORD, signedIn } from '../harness/console.ts'
import { newPartner, partnerToken } from '../harness/partner.ts'
import { ageMember, memberBrowser } from '../harness/portal.ts'
import { asSuperuser, openService, type TestService } from '../harness/service.ts'

let service: TestService
let other: TestService
let operations: Browser
beforeAll(async () => {
  service = await openService()
  other = await openService({ db: service.db })
  operations = await signedIn(service, 'operations')
})
afterAll(async () => {
  await other.close()
  await service.close()
})

interface Programs {
  readonly tenantId: string
  /** The response to its programs' request of a token, by one of the services. */
  readonly requestToken: (of: TestService, secret?: Json) => Promise<{ status: number; token: string }>
  /** The status of a request with a token. */
  readonly use: (of: TestService, token: string) => Promise<number>
}

async function merchantPrograms(): Promise<Programs> {
  const { apiKey, merchantId } = await service.newMerchant()
  return {
    tenantId: merchantId,
    requestToken: async ({ client }, issued) => {
      const headers = { 'api-key': issued?.secret ?? apiKey }
      const { status, json } = await client.send('POST', '/api/v0/merchant/token', undefined, headers)
      return { status, token: json.token }
    },
    use: async ({ client }, token) =>
      (await client.get('/api/v0/payments', { authorization: `Bearer ${token}` })).status,
  }
}

async function partnerPrograms(): Promise<Programs> {
  const partner = await newPartner(service)
  return {
    tenantId: partner.partnerId,
    requestToken: async ({ client }, issued) => {
      const credential = issued && { clientId: issued.credentialId, clientSecret: issued.secret }
      const { status, json } = await partnerToken(client, { ...partner, ...credential })
      return { status, token: json.access_token }
    },
    use: async ({ client }, token) =>
      (await client.get('/api/v0/partner/companies', { authorization: `Bearer ${token}` })).status,
  }
}

const KINDS = [
  ['an API key', merchantPrograms],
  ['an OAuth client', partnerPrograms],
] as const

const credentialsOf = async (tenantId: string): Promise<Json[]> =>
  (await operations.get(`/tenants/${tenantId}/credentials`)).json.data
const roll = (tenantId: string, credentialId: string, body: object = {}) =>
  operations.post(`/tenants/${tenantId}/credentials/${credentialId}/roll`, body)
const endNow = (credentialId: string) =>
  asSuperuser(service.db.database, (db) =>
    db.query(
      credentialId.startsWith('key_')
        ? 'update api_keys set expires_at = clock_timestamp() where api_key_id = $1'
        : 'update oauth_clients set expires_at = clock_timestamp() where client_id = $1',
      [credentialId],
    ),
  )

test.each(KINDS)(
  '%s that is replaced stays valid for its hours; then it and its tokens end in every process within a second',
  async (_, programs) => {
    const { tenantId, requestToken, use } = await programs()
    const { credentialId, name } = (await credentialsOf(tenantId))[0]!
    const issued = (await roll(tenantId, credentialId, { hours: 48 })).json
    const [previous, next] = await credentialsOf(tenantId)
    const hours = (Date.parse(previous!['expiresOn']) - Date.now()) / 3_600_000
    expect([Math.round(hours), next!['name'], next!['expiresOn']]).toEqual([48, name, undefined])
    const tokens = []
    for (const one of [service, other]) {
      const [before, after] = [await requestToken(one), await requestToken(one, issued)]
      expect([await use(one, before.token), await use(one, after.token)]).toEqual([200, 200])
      tokens.push({ one, before: before.token, after: after.token })
    }

    await endNow(credentialId)
    expect((await requestToken(service)).status).toBe(401)
    for (const { one, before, after } of tokens) {
      await expect.poll(() => use(one, before), { timeout: 1_000, interval: 100 }).toBe(401)
      expect([(await requestToken(one, issued)).status, await use(one, after)]).toEqual([200, 200])
    }
  },
)

test.each(KINDS)('the last use of %s is recorded, whichever process received it', async (_, programs) => {
  const { tenantId, requestToken, use } = await programs()
  const lastUsed = async () => (await credentialsOf(tenantId))[0]!['lastUsedOn'] as string | undefined
  const save = (one: TestService) => one.app.services.credentialUses.loop.wake()
  expect(await lastUsed()).toBeUndefined()
  await requestToken(service)
  save(service)
  await expect.poll(lastUsed).toBeTypeOf('string')
  const issued = await lastUsed()
  const { token } = await requestToken(other)
  await use(other, token)
  save(other)
  await expect.poll(lastUsed).not.toBe(issued)
  expect(Date.parse((await lastUsed())!)).toBeGreaterThan(Date.parse(issued!))
})

test('of two concurrent replacements of a credential one succeeds, and a replaced or revoked one is not replaced again', async () => {
  const { tenantId } = await merchantPrograms()
  const { credentialId } = (await credentialsOf(tenantId))[0]!
  const both = await Promise.all([roll(tenantId, credentialId), roll(tenantId, credentialId)])
  expect(both.map(({ status, error }) => error ?? status).sort()).toEqual([200, 'credential_ended'])
  const [, next] = await credentialsOf(tenantId)
  await operations.send('DELETE', `/tenants/${tenantId}/credentials/${next!['credentialId']}`)
  expect((await roll(tenantId, next!['credentialId'])).error).toBe('credential_ended')
  expect(await credentialsOf(tenantId)).toHaveLength(2)
})

test('a credential is replaced only for its own tenant, and the hours are 1 to 720', async () => {
  const [one, another] = [await merchantPrograms(), await partnerPrograms()]
  const { credentialId } = (await credentialsOf(one.tenantId))[0]!
  for (const tenantId of [another.tenantId, (await merchantPrograms()).tenantId])
    expect((await roll(tenantId, credentialId)).error).toBe('credential_not_found')
  for (const hours of [0, 721, 1.5])
    expect([hours, (await roll(one.tenantId, credentialId, { hours })).error]).toEqual([
      hours,
      'validation_failed',
    ])
})

test('an administrator of the portal replaces a credential with a recent sign-in; the audit names the member', async () => {
  const { tenantId, requestToken } = await merchantPrograms()
  const member = await memberBrowser(service, tenantId)
  const [{ credentialId }] = (await member.get('/credentials')).json.data
  const path = `/credentials/${credentialId}/roll`
  await ageMember(service, member.memberId)
  expect((await member.post(path, {})).error).toBe('step_up_required')
  await member.post('/session/step-up', { password: PASSWORD })
  const issued = (await member.post(path, {})).json
  expect((await requestToken(service, issued)).status).toBe(200)
  const { data } = (await operations.get(`/audit?tenantId=${tenantId}&action=api_key.changed`)).json
  expect(data.map(({ actor, target }: Json) => [actor, target])).toEqual([
    [`member ${member.memberName}`, credentialId],
  ])
})
