import { keyMakerOf } from '@svc/console-api/as-operator'
import {
  CREDENTIALS_MAX,
  ISSUED_A_DAY_MAX,
  issueCredential,
  revokeCredential,
} from '@svc/core/tenants/credentials'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Browser, signedIn } from '../harness/console.ts'
import { KINDS, limitTo, OFFICE } from '../harness/credential-programs.ts'
import { asSuperuser, openService, type TestService } from '../harness/service.ts'

let service: TestService
let other: TestService
let here: Browser
let there: Browser
beforeAll(async () => {
  service = await openService()
  other = await openService({ db: service.db, background: false })
  here = await signedIn(service, 'operations')
  there = await signedIn(other, 'operations')
})
afterAll(async () => {
  await other?.close()
  await service?.close()
})

const pathOf = (tenantId: string) => `/tenants/${tenantId}/credentials`
const sql = (text: string, values: unknown[]) =>
  asSuperuser(service.db.database, async (db) => (await db.query(text, values)).rows)

/** Issues so many, and revokes those that are not to stay. */
async function issue(tenantId: string, count: number, stays = true): Promise<void> {
  const { database } = service.app.services
  await database.operate(async (tx) => {
    for (let n = 0; n < count; n++) {
      const wanted = { tenantId, name: `till ${n}` }
      const { credentialId } = await issueCredential(tx, keyMakerOf(service.app.services), wanted)
      if (!stays) await revokeCredential(tx, tenantId, credentialId)
    }
  })
}

test.each(KINDS)(
  'of two concurrent issues of %s, by two processes, one gets the last place; a revoked one frees a place',
  async (_, programs) => {
    const { tenantId, credentialId } = await programs(service)
    await issue(tenantId, CREDENTIALS_MAX - 2)
    const both = await Promise.all(
      [here, there].map((browser) => browser.post(pathOf(tenantId), { name: 'last' })),
    )
    const byStatus = both.sort((a, b) => a.status - b.status)
    expect(byStatus.map(({ status, error }) => [status, error])).toEqual([
      [200, undefined],
      [422, 'too_many_credentials'],
    ])
    expect((await here.get(pathOf(tenantId))).json.data).toHaveLength(CREDENTIALS_MAX)
    // A replacement lives beside what it replaces.
    const path = `${pathOf(tenantId)}/${credentialId}`
    expect((await here.post(`${path}/roll`, {})).error).toBe('too_many_credentials')
    expect((await here.get(pathOf(tenantId))).json.data[0]).not.toHaveProperty('expiresOn')
    expect((await here.send('DELETE', path)).status).toBe(200)
    expect((await here.post(pathOf(tenantId), { name: 'next' })).status).toBe(200)
  },
)

test('a tenant that revokes its issued credentials can issue a limited number in 24 hours; other tenants are not affected', async () => {
  const [tenant, another] = [await service.newMerchant(), await service.newMerchant()]
  const path = pathOf(tenant.merchantId)
  await issue(tenant.merchantId, ISSUED_A_DAY_MAX - 1, false)
  const refused = await here.post(path, { name: 'one more' })
  expect([refused.status, refused.error]).toEqual([422, 'too_many_credentials'])
  expect(refused.json.detail).toMatch(/100 credentials in 24 hours; the next can be issued from 20\d\d-/)
  expect((await here.post(pathOf(another.merchantId), { name: 'first' })).status).toBe(200)
  await sql(
    `update api_keys set created_at = created_at - interval '24 hours' where tenant_id = $1 and api_key_id = $2`,
    [tenant.merchantId, tenant.apiKeyId],
  )
  expect((await here.post(path, { name: 'one more' })).status).toBe(200)
  expect((await here.post(path, { name: 'and one more' })).error).toBe('too_many_credentials')
})

test('a credential issued with limits is not among the changes that every process reads; a change of the limits is', async () => {
  const { merchantId: tenantId } = await service.newMerchant()
  const limits = { addresses: [OFFICE], scopes: [] }
  const { credentialId } = (await here.post(pathOf(tenantId), { name: 'till', ...limits })).json
  const changes = () =>
    sql(`select revision from directory_credential_changes(now() - interval '49 hours') where subject = $1`, [
      credentialId,
    ])
  expect(await changes()).toEqual([])
  await limitTo(here, { tenantId, credentialId }, {})
  expect(await changes()).toEqual([{ revision: 2 }])
})
