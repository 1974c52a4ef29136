import { inviteMember } from '@svc/console-api/portal/member-store'
import { expect, test } from 'vitest'
import { Browser, PASSWORD, PORTAL_API } from '../harness/console.ts'
import { openService } from '../harness/service.ts'

test('a person of more tenants than a sign-in without an id tries signs in to each of them by its id', async () => {
  const service = await openService({ env: { SIGN_IN_FAILURES_PER_MINUTE: '1000' } })
  const { clock, database, keyring, random } = service.app.services
  const name = 'many@tenant.example'
  const tenants: string[] = []
  for (let n = 0; n < 10; n++) {
    const { merchantId } = await service.newMerchant()
    const tools = { keyring, random, now: new Date(clock.now()) }
    const requested = { name, role: 'viewer', hours: 1, createdBy: 'x', publicUrl: '' } as const
    const { link } = await database.operate((tx) =>
      inviteMember(tx, tools, { ...requested, tenantId: merchantId }),
    )
    await new Browser(service, PORTAL_API).post('/link/password', {
      token: link.split('#')[1],
      password: PASSWORD,
    })
    tenants.push(merchantId)
  }
  const { merchantId } = await service.newMerchant()
  const enter = (tenantId: string) =>
    new Browser(service, PORTAL_API).post('/session', { name, password: PASSWORD, tenantId })
  for (const tenantId of tenants) expect((await enter(tenantId)).json.tenant.tenantId).toBe(tenantId)
  for (const tenantId of [merchantId, 'mer_none', `mer_x', 'y`])
    expect([tenantId, (await enter(tenantId)).error]).toEqual([tenantId, 'wrong_password'])
  await service.close()
})
