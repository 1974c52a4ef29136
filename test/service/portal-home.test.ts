import { afterAll, beforeAll, expect, test } from 'vitest'
import { sqlOn } from '../harness/approvals.ts'
import { payloadOf } from '../harness/client.ts'
import { newDispute } from '../harness/disputes.ts'
import { asPartner, createCard, newPartner } from '../harness/partner.ts'
import { giveAccount, giveFee, preparePayoutOf } from '../harness/payouts.ts'
import { memberBrowser } from '../harness/portal.ts'
import { shopWith } from '../harness/refunds.ts'
import { asSuperuser, openService, type TestService } from '../harness/service.ts'

let service: TestService

beforeAll(async () => {
  service = await openService()
})
afterAll(() => service.close())

const hundredths = (rupees: string | number): bigint => BigInt(Number(rupees).toFixed(2).replace('.', ''))

test('the next payout of the home page is what the payout then says, to the paisa, and it starts again from nothing', async () => {
  const { merchantId, client, path } = await shopWith(service, 1_234.56)
  await giveAccount(service, merchantId)
  await giveFee(service, merchantId, { basisPoints: 205, fixedPaise: 33n })
  await client.post(path, { amount: 100.11, referenceNumber: 'half' })
  const browser = await memberBrowser(service, merchantId, 'viewer')
  const homeOf = async () => (await browser.get('/overview')).json.merchant
  const { nextPayout, today, days } = await homeOf()
  const payoutId = await preparePayoutOf(service, merchantId)
  const payout = payloadOf(await client.get(`/api/v0/payouts/${payoutId}`))
  const { cgst, sgst, igst } = payout.tax
  expect(nextPayout).toMatchObject({ account: { holder: 'Corner Shop', ends: '5678' }, isOver: false })
  expect({
    payments: [nextPayout.payments.count, hundredths(nextPayout.payments.amount)],
    refunds: [nextPayout.refunds.count, hundredths(nextPayout.refunds.amount)],
    fees: hundredths(nextPayout.fees),
    tax: hundredths(nextPayout.tax),
    amount: hundredths(nextPayout.amount),
  }).toEqual({
    payments: [payout.payments.count, hundredths(payout.payments.amount)],
    refunds: [payout.refunds.count, hundredths(payout.refunds.amount)],
    fees: hundredths(payout.fees),
    tax: hundredths(cgst) + hundredths(sgst) + hundredths(igst),
    amount: hundredths(payout.amount),
  })
  expect([today.count, today.amount, today.fees]).toEqual([1, '1234.56', nextPayout.fees])
  expect(hundredths(today.net)).toBe(
    hundredths(today.amount) - hundredths(today.fees) - hundredths(today.tax),
  )
  expect([days.length, days.at(-1).amount]).toEqual([30, '1234.56'])
  const { nextPayout: after } = await homeOf()
  expect([after.payments.count, after.amount]).toEqual([0, '0.00'])
})

test('the home page has what waits for the merchant, and the steps that are left', async () => {
  const { merchantId, paymentId } = await shopWith(service, 500)
  const browser = await memberBrowser(service, merchantId)
  const disputeId = await newDispute(service, paymentId, { amount: 120 })
  const [{ credentialId }] = (await browser.get('/credentials')).json.data
  await browser.post(`/credentials/${credentialId}/roll`, {})
  const { waits, setUp } = (await browser.get('/overview')).json.merchant
  expect(waits).toMatchObject([
    { kind: 'dispute', id: disputeId, amount: '120.00', name: 'Goods not received' },
    { kind: 'credential', id: credentialId },
  ])
  const left = setUp.filter(({ isDone }: { isDone: boolean }) => !isDone)
  expect(left.map(({ step }: { step: string }) => step)).toEqual(['webhook', 'bank_account'])
})

test('the home page of a partner has balance, cards and loads, of this partner alone', async () => {
  const partner = await newPartner(service, { fundsPaise: 5_000_00n })
  await createCard(await asPartner(service.client, partner), partner, { loadAmount: 700 })
  const other = await newPartner(service, { fundsPaise: 9_000_00n })
  await createCard(await asPartner(service.client, other), other, { loadAmount: 800 })
  const browser = await memberBrowser(service, partner.partnerId)
  const { partner: home } = (await browser.get('/overview')).json
  expect(home).toMatchObject({
    accounts: 1,
    balance: '4300.00',
    onCards: '700.00',
    cards: { all: 1, usable: 1 },
    loaded: { count: 1, amount: '700.00' },
    spent: { count: 0, amount: '0.00' },
    fundings: [],
  })
})

test('a member issues a card from an account of the partner, and from no other', async () => {
  const partner = await newPartner(service, { fundsPaise: 5_000_00n })
  const other = await newPartner(service, {})
  const browser = await memberBrowser(service, partner.partnerId, 'operator')
  const order = { email: 'holder@example.com', loadAmount: 250, referenceNumber: 'file-1-2' }
  const at = (cardAccountId: string) => `/card-accounts/${cardAccountId}/cards`
  const first = await browser.post(at(partner.cardAccountId), order)
  expect([first.status, first.json.partnerId ?? partner.partnerId]).toEqual([200, partner.partnerId])
  const again = await browser.post(at(partner.cardAccountId), order)
  expect(again.json.svcCardId).toBe(first.json.svcCardId)
  expect((await browser.post(at(other.cardAccountId), order)).error).toBe('card_account_not_found')
  const viewer = await memberBrowser(service, partner.partnerId, 'viewer')
  expect((await viewer.post(at(partner.cardAccountId), order)).error).toBe('role_too_low')
})

test('a member creates an encryption key beside the present one, and ends one for good', async () => {
  const partner = await newPartner(service, {})
  const browser = await memberBrowser(service, partner.partnerId)
  const first = (await browser.post('/encryption-keys')).json
  const second = (await browser.post('/encryption-keys')).json
  expect(first.k).not.toBe(second.k)
  const list = async () => (await browser.get('/encryption-keys')).json.data
  const kids = (await list()).map(({ kid }: { kid: string }) => kid)
  expect(kids).toEqual(expect.arrayContaining([first.kid, second.kid]))
  const ended = await browser.send('DELETE', `/encryption-keys/${first.kid}`)
  expect(ended.status).toBe(200)
  const states = Object.fromEntries(
    (await list()).map(({ kid, retiredOn }: { kid: string; retiredOn?: string }) => [
      kid,
      retiredOn === undefined,
    ]),
  )
  expect([states[first.kid], states[second.kid]]).toEqual([false, true])
  const shop = await service.newMerchant()
  const merchant = await memberBrowser(service, shop.merchantId)
  expect((await merchant.get('/encryption-keys')).status).toBe(404)
})

test('a member sees why a request of the programs failed; another tenant does not, and the portal’s own are in no list', async () => {
  const { merchantId, client } = await shopWith(service, 10)
  const failed = await client.post('/api/v0/qr-code', { fixedAmount: true, multipleUse: false, amount: -5 })
  expect(failed.status).toBe(400)
  const requestId = String(failed.headers['x-request-id'])
  const browser = await memberBrowser(service, merchantId, 'viewer')
  const admin = await memberBrowser(service, merchantId)
  expect((await admin.post('/qr-code', {})).status).toBe(200)
  await expect.poll(async () => (await browser.get(`/requests/${requestId}`)).status).toBe(200)
  const { json } = await browser.get(`/requests/${requestId}`)
  expect(json).toMatchObject({ operation: 'createQrCode', status: 400, error: 'validation_failed' })
  expect([json.help.remedy.length > 0, typeof json.lastSuccessOn]).toEqual([true, 'string'])
  const other = await memberBrowser(service, (await service.newMerchant()).merchantId)
  expect((await other.get(`/requests/${requestId}`)).error).toBe('request_not_found')
  const text = `select request_id from request_log where tenant_id = $1 and path like '/portal/%'`
  await expect
    .poll(async () => (await sqlOn(service, text, [merchantId])).length, { timeout: 10_000 })
    .toBeGreaterThan(0)
  const { data } = (await browser.get('/requests')).json.payload
  expect(data).not.toEqual([])
  expect(data.filter(({ path }: { path: string }) => path.startsWith('/portal/'))).toEqual([])
})

test('the activity names members and where they were, and no person of the operator', async () => {
  const { merchantId } = await service.newMerchant()
  await giveAccount(service, merchantId)
  const browser = await memberBrowser(service, merchantId)
  await browser.post('/credentials', { name: 'till 7' })
  const { data } = (await browser.get('/activity')).json
  const made = data.find(({ action }: { action: string }) => action === 'api_key.created')
  expect(made).toMatchObject({ by: 'member', name: browser.memberName })
  expect(data.some(({ by }: { by: string }) => by === 'operator')).toBe(true)
  expect(JSON.stringify(data)).not.toMatch(/operator asha|cli |role /)
  const csv = await browser.get('/activity.csv')
  expect(csv.text.split('\n')[0]).toContain('address')
  expect(csv.text).toContain(browser.memberName)
  const { rows } = await asSuperuser(service.db.database, (db) =>
    db.query(`select actor from audit_log where action = 'list.exported' and tenant_id = $1`, [merchantId]),
  )
  expect(rows).toEqual([{ actor: `member ${browser.memberName}` }])
  const viewer = await memberBrowser(service, merchantId, 'viewer')
  expect((await viewer.get('/activity')).error).toBe('role_too_low')
})

test('a member lists the own sessions, and ends the others', async () => {
  const { merchantId } = await service.newMerchant()
  const browser = await memberBrowser(service, merchantId, 'viewer')
  const elsewhere = await memberBrowser(service, merchantId, 'viewer')
  const { data } = (await browser.get('/sessions')).json
  expect(data).toMatchObject([{ isCurrent: true }])
  expect((await browser.send('DELETE', '/sessions')).json).toEqual({ ended: 0 })
  const unknown = await browser.send('DELETE', '/sessions/000000000000000000000000')
  expect(unknown.error).toBe('session_not_found')
  const [theirs] = (await elsewhere.get('/sessions')).json.data
  expect((await browser.send('DELETE', `/sessions/${theirs.sessionId}`)).error).toBe('session_not_found')
  expect((await elsewhere.get('/session')).status).toBe(200)
})
