import { afterAll, beforeAll, expect, test } from 'vitest'
import { payloadOf } from '../harness/client.ts'
import { type Browser, signedIn } from '../harness/console.ts'
import { asPartner, createCard, newPartner } from '../harness/partner.ts'
import { newCode } from '../harness/qr-codes.ts'
import { openService, type TestService } from '../harness/service.ts'

let service: TestService
let operations: Browser
let finance: Browser
beforeAll(async () => {
  service = await openService()
  operations = await signedIn(service, 'operations')
  finance = await signedIn(service, 'finance')
})
afterAll(() => service.close())

const actionsOf = async (target: string): Promise<string[]> =>
  (await operations.get(`/audit?target=${target}`)).json.data.map(({ action }: { action: string }) => action)

test('name, address and category of a merchant are changed for codes created from then on', async () => {
  const merchant = await service.newMerchant()
  const shop = await service.as(merchant)
  const uriOf = async (qrCodeId: string) => (await operations.get(`/qr-codes/${qrCodeId}`)).json.qrCode.upiUri
  const before = await newCode(service, shop)
  const printed = await uriOf(before.qrCodeId)
  const path = `/merchants/${merchant.merchantId}/data`
  const changed = await operations.send('PATCH', path, {
    name: 'New Name',
    vpa: 'new.name@bank',
    mcc: '5812',
  })
  expect(changed.json).toMatchObject({ name: 'New Name', vpa: 'new.name@bank', mcc: '5812' })
  expect(await uriOf(before.qrCodeId)).toBe(printed)
  expect(await uriOf((await newCode(service, shop)).qrCodeId)).toMatch(/pa=new\.name@bank.*mc=5812/)
  expect(await actionsOf(merchant.merchantId)).toContain('merchant.changed')

  const other = await service.newMerchant()
  const taken = await operations.send('PATCH', `/merchants/${other.merchantId}/data`, {
    vpa: 'new.name@bank',
  })
  expect([taken.status, taken.error]).toEqual([409, 'already_exists'])
  expect((await operations.send('PATCH', path, { mcc: '6540' })).error).toBe('mcc_not_allowed')
  expect((await operations.send('PATCH', path, { vpa: 'none' })).json.errors).toMatchObject([
    { pointer: '/vpa' },
  ])
})

test('no code is created for a disabled merchant', async () => {
  const { merchantId } = await service.newMerchant()
  const disable = (disabled: boolean) => operations.send('PATCH', `/merchants/${merchantId}`, { disabled })
  const create = () => operations.post('/qr-codes', { merchantId, qrCode: { qrName: 'Till' } })
  expect((await disable(true)).status).toBe(200)
  expect((await create()).error).toBe('tenant_disabled')
  expect((await operations.get(`/qr-codes?merchantId=${merchantId}`)).json.data).toEqual([])
  expect((await disable(false)).status).toBe(200)
  expect((await create()).status).toBe(200)
})

test('finance sets the bank account and the fee of a merchant; the full account number is shown nowhere', async () => {
  const { merchantId } = await service.newMerchant()
  const account = { holder: 'Corner Shop', number: '000012345678', ifsc: 'HDFC0000001', gstState: '29' }
  const set = await finance.send('PUT', `/merchants/${merchantId}/bank-account`, account)
  expect(set.json.bankAccount).toMatchObject({ holder: 'Corner Shop', ends: '5678', ifsc: 'HDFC0000001' })
  const fee = { percent: '1.8', fixed: '2', validFrom: '2099-04-01' }
  const charged = await finance.post(`/merchants/${merchantId}/fees`, fee)
  expect(charged.json.fees).toEqual([{ validFrom: '2099-04-01', percent: '1.80', fixed: '2.00' }])
  const audit = await finance.get(`/audit?tenantId=${merchantId}`)
  expect(audit.text).toContain('payout_details.created')
  expect(`${audit.text}${set.text}${service.logged()}`).not.toContain(account.number)

  expect((await operations.send('PUT', `/merchants/${merchantId}/bank-account`, account)).error).toBe(
    'role_too_low',
  )
  for (const [body, pointer, rule] of [
    [{ ...fee, validFrom: '2020-01-01' }, '/validFrom', 'minimum'],
    // A day that no calendar has.
    [{ ...fee, validFrom: '2099-02-30' }, '/validFrom', 'format'],
    [{ ...fee, percent: '100.01' }, '/percent', 'maximum'],
    [{ ...fee, fixed: '1.234' }, '/fixed', 'maximum'],
  ] as const)
    expect((await finance.post(`/merchants/${merchantId}/fees`, body)).json.errors).toMatchObject([
      { pointer, rule },
    ])
})

test('operators change the KYC of a card as its table allows, and open and close its channels', async () => {
  const partner = await newPartner(service)
  const client = await asPartner(service.client, partner)
  const { svcCardId } = payloadOf(await createCard(client, partner, {}))
  const support = await signedIn(service, 'support')
  const path = `/cards/${svcCardId}`
  expect((await operations.get(path)).json.kycMoves).toContain('UPLOADED')
  const moved = await operations.post(`${path}/kyc`, { kycStatus: 'UPLOADED', reason: 'papers came' })
  expect(moved.json.kycStatus).toMatchObject({ name: 'UPLOADED' })
  const wrong = await operations.post(`${path}/kyc`, { kycStatus: 'VERIFIED', reason: 'too fast' })
  expect(wrong.error).toBe('invalid_transition')
  expect((await support.post(`${path}/kyc`, { kycStatus: 'PENDING', reason: 'x' })).error).toBe(
    'role_too_low',
  )
  const flags = { atmAllowed: true, atmAllowedAdmin: true }
  expect((await support.post(`${path}/flags`, { ...flags, reason: 'travels' })).json).toMatchObject(flags)
  expect((await support.post(`${path}/flags`, { reason: 'nothing' })).status).toBe(400)
  expect(payloadOf(await client.get(`/api/v0/partner/svcCard/${svcCardId}`))).toMatchObject(flags)
  expect(await actionsOf(svcCardId)).toEqual(
    expect.arrayContaining(['card.kyc_changed', 'card.flags_changed']),
  )
})

test('a coin configuration is created, changed at the revision that was read, deactivated and activated', async () => {
  const { partnerId } = await newPartner(service)
  const config = { event: 'referral.completed', amount: 50, title: 'Referral' }
  const created = await operations.post('/coin-configs', { partnerId, config })
  expect(created.json).toMatchObject({ ...config, status: 'ACTIVE', revision: 1 })
  const { coinConfigId } = created.json
  const path = `/coin-configs/${coinConfigId}`
  const change = (revision: number, terms: object) => operations.send('PATCH', path, { revision, terms })
  expect((await change(1, { amount: 60, perUserDailyLimit: 120 })).json).toMatchObject({
    amount: 60,
    revision: 2,
  })
  expect((await change(1, { amount: 70 })).error).toBe('revision_mismatch')
  expect((await change(2, { perUserDailyLimit: null })).json.perUserDailyLimit).toBeUndefined()
  expect((await operations.post(`${path}/deactivate`)).json.status).toBe('INACTIVE')
  expect((await change(4, { status: 'ACTIVE' })).json).toMatchObject({ status: 'ACTIVE', revision: 5 })
  const again = await operations.post('/coin-configs', { partnerId, config })
  expect(again.error).toBe('coin_config_overlaps')
  expect((await operations.post('/coin-configs', { partnerId: 'par_none', config })).error).toBe(
    'partner_not_found',
  )
  expect(await actionsOf(coinConfigId)).toEqual(
    expect.arrayContaining(['coin_config.created', 'coin_config.changed', 'coin_config.deactivated']),
  )
})
