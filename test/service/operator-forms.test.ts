import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Browser, signedIn } from '../harness/console.ts'
import { newPartner } from '../harness/partner.ts'
import { memberBrowser } from '../harness/portal.ts'
import { newCode } from '../harness/qr-codes.ts'
import { asSuperuser, openService, type TestService } from '../harness/service.ts'

let service: TestService
beforeAll(async () => {
  service = await openService()
})
afterAll(() => service.close())

const countOf = (table: string): Promise<number> =>
  asSuperuser(service.db.database, async (db) => {
    const { rows } = await db.query<{ count: number }>(`select count(*)::int from ${table}`)
    return rows[0]!.count
  })

interface Form {
  readonly path: string
  readonly body?: object
  /** Where what it creates is stored. */
  readonly table: string
}

/** What each form of the console that creates something sends. */
async function formsOf(browser: Browser): Promise<readonly Form[]> {
  const { merchantId } = await service.newMerchant()
  const { partnerId, companyId } = await newPartner(service, {})
  const code = await newCode(service, await service.as(await service.newMerchant()))
  const { json: credentials } = await browser.get(`/tenants/${merchantId}/credentials`)
  const { credentialId } = credentials.data[0]
  const account = { product: 'incentive', accountType: 'GIFT', binType: 'GIFT', cardProgramme: 'Gifts' }
  return [
    { path: '/merchants', body: { name: 'Twice', vpa: 'twice@bank', mcc: '5411' }, table: 'merchants' },
    { path: '/partners', body: { name: 'Twice', products: ['incentive'] }, table: 'partners' },
    { path: `/partners/${partnerId}/encryption-keys`, table: 'partner_encryption_keys' },
    { path: '/companies', body: { partnerId, name: 'Twice' }, table: 'companies' },
    { path: '/card-accounts', body: { companyId, denomination: 500, ...account }, table: 'card_accounts' },
    { path: '/users', body: { companyId, firstName: 'Twice' }, table: 'users' },
    {
      path: '/qr-codes',
      body: { merchantId, qrCode: { multipleUse: true, fixedAmount: false } },
      table: 'qr_codes',
    },
    { path: `/qr-codes/${code.qrCodeId}/pay`, body: { amount: 12 }, table: 'payments' },
    {
      path: '/webhooks',
      body: { tenantId: merchantId, endpoint: { url: 'http://127.0.0.1:8443/twice' } },
      table: 'webhook_endpoints',
    },
    { path: `/tenants/${merchantId}/credentials`, body: { name: 'twice' }, table: 'api_keys' },
    {
      path: `/tenants/${merchantId}/credentials/${credentialId}/roll`,
      body: { hours: 1 },
      table: 'api_keys',
    },
  ]
}

test('a console form that is sent twice with its key, also at the same time, creates one record and gets the first response', async () => {
  const browser = await signedIn(service, 'admin')
  for (const { path, body, table } of await formsOf(browser)) {
    const before = await countOf(table)
    const key = { 'idempotency-key': `form.${path}` }
    const both = await Promise.all([browser.post(path, body, key), browser.post(path, body, key)])
    const again = await browser.post(path, body, key)
    for (const response of [...both, again])
      expect([path, response.status, response.text]).toEqual([path, 200, both[0]!.text])
    expect([path, await countOf(table)]).toEqual([path, before + 1])
  }
})

test('a form’s key sent with other values is rejected, and a rejected form may be corrected', async () => {
  const browser = await signedIn(service, 'admin')
  const merchant = { name: 'First', vpa: 'first@bank', mcc: '5411' }
  const send = (body: object, key: string) => browser.post('/merchants', body, { 'idempotency-key': key })
  expect((await send(merchant, 'first')).status).toBe(200)
  expect((await send({ ...merchant, vpa: 'second@bank' }, 'first')).error).toBe('idempotency_key_reused')
  expect((await send(merchant, 'corrected')).error).toBe('already_exists')
  expect((await send({ ...merchant, vpa: 'second@bank' }, 'corrected')).status).toBe(200)
})

test('an API key that a member issues twice with the key of one form is issued once, and so is its replacement', async () => {
  const { merchantId } = await service.newMerchant()
  const browser = await memberBrowser(service, merchantId)
  const before = await countOf('api_keys')
  const twice = async (path: string, body: object) => {
    const key = { 'idempotency-key': `member.${path}` }
    const [first, second] = [await browser.post(path, body, key), await browser.post(path, body, key)]
    expect([path, second.status, second.text]).toEqual([path, 200, first.text])
    return first.json
  }
  const { credentialId } = await twice('/credentials', { name: 'till' })
  expect(await countOf('api_keys')).toBe(before + 1)
  await twice(`/credentials/${credentialId}/roll`, { hours: 1 })
  expect(await countOf('api_keys')).toBe(before + 2)
})
