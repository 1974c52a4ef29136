import { createSecretKey } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { payloadOf } from '../harness/client.ts'
import { Browser, PASSWORD, PORTAL_API, signedIn } from '../harness/console.ts'
import { dumpDatabase } from '../harness/dump-database.ts'
import { asPartner, createCard, newPartner, type TestPartner } from '../harness/partner.ts'
import { newCode } from '../harness/qr-codes.ts'
import { asSuperuser, openService, type TestService } from '../harness/service.ts'

let service: TestService
let admin: Browser
let partner: TestPartner
beforeAll(async () => {
  service = await openService({ env: { CONSOLE_STEP_UP_MINUTES: '0' } })
  admin = await signedIn(service, 'admin')
  partner = await newPartner(service)
})
afterAll(() => service.close())

let people = 0
const outsider = (at: Pick<TestService, 'client'> = service) => new Browser(at, PORTAL_API)

async function handOver(tenantId: string, body: { name?: string; sharedKey?: boolean; hours?: number } = {}) {
  const name = `person.${people++}@tenant.example`
  const { json, status, text } = await admin.post(`/tenants/${tenantId}/handovers`, { name, ...body })
  expect(status, text).toBe(200)
  return { ...json.handover, token: String(json.link.split('#')[1]) }
}

const open = (token: string, browser = outsider()) =>
  browser.post('/link/password', { token, password: PASSWORD })
const listOf = async (tenantId: string) => (await admin.get(`/tenants/${tenantId}/handovers`)).json.data
const credentialsOf = async (tenantId: string) =>
  (await admin.get(`/tenants/${tenantId}/credentials`)).json.data

/** A partner of the console without credentials, and the first steps of its set-up. */
async function newcomer(): Promise<{ partnerId: string; companyId: string; cardAccountId: string }> {
  const created = await admin.post('/partners', {
    name: 'Gift House',
    products: ['incentive'],
    firstClient: false,
  })
  expect(created.json.credential).toBeUndefined()
  const { partnerId } = created.json.partner
  const { companyId } = (await admin.post('/companies', { partnerId, name: 'Acme' })).json
  const plan = {
    product: 'incentive',
    accountType: 'GIFT',
    binType: 'GIFT',
    cardProgramme: 'Gifts',
    denomination: 500,
  }
  const { cardAccountId } = (await admin.post('/card-accounts', { companyId, ...plan })).json
  return { partnerId, companyId, cardAccountId }
}

test('a link issues credentials when it is opened, which work, and shows them once', async () => {
  const { partnerId, companyId, cardAccountId } = await newcomer()
  const funds = { amount: '5000', reference: 'HANDOVER0001', reason: 'first' }
  expect((await admin.post(`/card-accounts/${cardAccountId}/funds`, funds)).status).toBe(200)
  const made = await handOver(partnerId, { sharedKey: true })
  expect(await credentialsOf(partnerId)).toEqual([])
  const browser = outsider()
  expect((await browser.post('/link', { token: made.token })).json).toMatchObject({
    role: 'admin',
    handsOver: true,
  })
  expect(await listOf(partnerId)).toMatchObject([{ name: made.name, state: 'waiting', sharedKey: true }])

  const { handover: sheet, ...session } = (await open(made.token, browser)).json
  expect(session).toMatchObject({
    member: { name: made.name, role: 'admin' },
    tenant: { tenantId: partnerId },
  })
  const { kid, alg, enc, k } = sheet.sharedKey
  const theirs: TestPartner = {
    ...partner,
    partnerId,
    companyId,
    cardAccountId,
    clientId: sheet.credential.credentialId,
    clientSecret: sheet.credential.secret,
    sharedKey: { kid, alg, enc, key: createSecretKey(Buffer.from(k, 'base64url')) },
  }
  const issued = await createCard(await asPartner(service.client, theirs), theirs, { email: 'h@example.com' })
  expect(payloadOf(issued).accountBalance).toBe(500)
  for (const { url } of sheet.guides)
    expect((await service.client.get(new URL(url).pathname)).status, url).toBe(200)
  expect(sheet.tokenUrl).toBe(`${sheet.baseUrl}/oauth/token`)

  expect((await browser.get('/session')).text).not.toContain(sheet.credential.secret)
  expect((await open(made.token)).error).toBe('invitation_not_found')
  const { credentialId } = sheet.credential
  expect(await listOf(partnerId)).toMatchObject([{ name: made.name, state: 'opened', credentialId, kid }])
  expect(await credentialsOf(partnerId)).toMatchObject([
    { credentialId, name: `handed over to ${made.name}` },
  ])
  expect((await admin.get(`/audit?tenantId=${partnerId}`)).json.data).toEqual(
    expect.arrayContaining([
      expect.objectContaining({ action: 'handover.created', target: made.memberId, actor: made.createdBy }),
      expect.objectContaining({ action: 'handover.changed', actor: `member ${made.name}` }),
      expect.objectContaining({ action: 'oauth_client.created', actor: `member ${made.name}` }),
    ]),
  )
  const kept = await dumpDatabase(service.db.database)
  for (const secret of [sheet.credential.secret, k, made.token.split('.')[1]!]) {
    expect(kept).not.toContain(secret)
    expect(service.logged()).not.toContain(secret)
  }
})

test('a link of a disabled tenant issues nothing and stays valid; it works once the tenant is enabled', async () => {
  const { merchantId } = await service.newMerchant()
  const before = await credentialsOf(merchantId)
  const { token } = await handOver(merchantId)
  const set = (disabled: boolean) => admin.send('PATCH', `/merchants/${merchantId}`, { disabled })
  await set(true)
  expect((await outsider().post('/link', { token })).error).toBe('invitation_not_found')
  expect((await open(token)).error).toBe('invitation_not_found')
  expect(await credentialsOf(merchantId)).toEqual(before)
  expect(await listOf(merchantId)).toMatchObject([{ state: 'waiting' }])
  await set(false)
  expect((await open(token)).json.handover.tenantId).toBe(merchantId)
})

test('the set-up of a merchant shows its next step, and counts what the merchant has done', async () => {
  const business = { name: 'Step Stores', vpa: 'step.stores@bank', mcc: '5411', firstKey: false }
  const created = (await admin.post('/merchants', business)).json
  expect(created.credential).toBeUndefined()
  const { merchantId, accessKey } = created.merchant
  const setUp = async () => {
    const { next, handedOver, steps } = (await admin.get(`/merchants/${merchantId}/set-up`)).json
    const done = steps.filter(({ isDone }: { isDone: boolean }) => isDone)
    return { next, handedOver, done: done.map(({ step }: { step: string }) => step) }
  }
  expect(await setUp()).toEqual({ next: 'bank_account', handedOver: false, done: [] })
  const account = { holder: 'Step Stores', number: '123456789012', ifsc: 'HDFC0000001' }
  await admin.send('PUT', `/merchants/${merchantId}/bank-account`, account)
  expect(await setUp()).toEqual({ next: 'handover', handedOver: false, done: ['bank_account'] })
  const { token } = await handOver(merchantId)
  expect(await setUp()).toEqual({ handedOver: true, done: ['bank_account'] })
  const { handover } = (await open(token)).json
  expect(handover.accessKey).toBe(accessKey)
  expect(await setUp()).toEqual({ handedOver: true, done: ['bank_account', 'link', 'credential'] })
  const client = await service.as({ apiKey: handover.credential.secret })
  await newCode(service, client)
  payloadOf(await client.post('/api/v0/webhook-endpoints', { url: 'https://step.example/hook' }))
  expect((await setUp()).done).toEqual(['bank_account', 'link', 'credential', 'qr_code', 'webhook'])
  expect((await admin.get('/merchants/mer_none/set-up')).error).toBe('merchant_not_found')
})

test('a merchant gets an API key the same way, and no shared key', async () => {
  const { merchantId } = await service.newMerchant()
  const refused = await admin.post(`/tenants/${merchantId}/handovers`, { name: 'x.y', sharedKey: true })
  expect(refused.json.errors).toMatchObject([{ pointer: '/sharedKey' }])
  const { json } = await open((await handOver(merchantId)).token)
  expect(json.handover).toMatchObject({ kind: 'merchant', tenantId: merchantId })
  expect(json.handover.sharedKey).toBeUndefined()
  const token = await service.client.send('POST', '/api/v0/merchant/token', '', {
    'api-key': json.handover.credential.secret,
  })
  expect(token.status).toBe(200)
})

test('an expired link issues nothing, and a new one replaces it', async () => {
  const { partnerId } = await newPartner(service)
  const late = await handOver(partnerId, { hours: 1 })
  service.clock.advance(3_600_001)
  // Sessions of operators end sooner.
  admin = await signedIn(service, 'admin')
  expect((await open(late.token)).error).toBe('invitation_expired')
  expect(await listOf(partnerId)).toMatchObject([{ state: 'expired' }])
  const again = await handOver(partnerId, { name: late.name })
  expect((await open(late.token)).error).toBe('invitation_not_found')
  expect((await open(again.token)).json.handover.tenantId).toBe(partnerId)
  expect(await listOf(partnerId)).toMatchObject([{ state: 'opened' }])
  expect(await credentialsOf(partnerId)).toHaveLength(2)
})

test('of two processes in which one link is opened at once, one shows credentials, and one credential is issued', async () => {
  const { partnerId } = await newPartner(service)
  const other = await openService({ db: service.db, background: false })
  try {
    const { token } = await handOver(partnerId, { sharedKey: true })
    const both = await Promise.all([service, other].map((at) => open(token, outsider(at))))
    expect(both.map(({ status }) => status).sort()).toEqual([200, 404])
    expect(both.filter(({ json }) => json.handover !== undefined)).toHaveLength(1)
    expect(await credentialsOf(partnerId)).toHaveLength(2)
  } finally {
    await other.close()
  }
})

test('credentials go to administrators alone: not to a member of another role, and not after the role was removed', async () => {
  const { partnerId } = await newPartner(service)
  await admin.post(`/tenants/${partnerId}/members`, { name: 'viewer.x', role: 'viewer' })
  const refused = await admin.post(`/tenants/${partnerId}/handovers`, { name: 'viewer.x' })
  expect([refused.status, refused.error]).toEqual([409, 'already_exists'])
  const made = await handOver(partnerId)
  await admin.send('PATCH', `/tenants/${partnerId}/members/${made.memberId}`, { role: 'viewer' })
  const { json, status } = await open(made.token)
  expect([status, json.handover]).toEqual([200, undefined])
  expect(await credentialsOf(partnerId)).toHaveLength(1)
})

test('the service’s own login cannot create a handover, and sees only those of its tenant', async () => {
  const { partnerId } = await newPartner(service)
  await handOver(partnerId)
  const { database } = service.app.services
  const rows = await database.read([partner.partnerId], (tx) =>
    tx.query({ name: 'test_handovers', text: 'select tenant_id from handovers' } as never, []),
  )
  expect(rows).toEqual([])
  const rights = await asSuperuser(service.db.database, (db) =>
    db.query(
      `select has_table_privilege('svc_service', 'svc.handovers', 'insert') as inserts,
         has_column_privilege('svc_service', 'svc.handovers', 'shared_key', 'update') as changes`,
    ),
  )
  expect(rights.rows).toEqual([{ inserts: false, changes: false }])
})

test('a tenant that is closing gets no link', async () => {
  const { merchantId } = await service.newMerchant()
  await admin.post(`/tenants/${merchantId}/closing`, { reason: 'ended' })
  const { error } = await admin.post(`/tenants/${merchantId}/handovers`, { name: 'late.one' })
  expect(error).toBe('tenant_closing')
})
