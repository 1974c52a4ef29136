import { afterAll, beforeAll, expect, test } from 'vitest'
import { payloadOf } from '../harness/client.ts'
import { type Browser, signedIn } from '../harness/console.ts'
import { asPartner, countRows, newPartner, SEARCH, type TestPartner } from '../harness/partner.ts'
import { openService, type TestService } from '../harness/service.ts'

let service: TestService
let partner: TestPartner
let operations: Browser
beforeAll(async () => {
  service = await openService()
  partner = await newPartner(service)
  operations = await signedIn(service, 'operations')
})
afterAll(() => service.close())

const HOLDER = { firstName: 'Canary', email: 'canary.rao@example.com', mobile: '9123456781' }
const issue = (order: object = HOLDER, headers = {}, at = partner) =>
  operations.post(`/card-accounts/${at.cardAccountId}/cards`, order, headers)

test('an operator issues the card that the partner would have ordered: loaded, audited, and belonging to the partner', async () => {
  const issued = await issue({ ...HOLDER, loadAmount: '750' })
  expect(issued.status, issued.text).toBe(200)
  const { svcCardId, companyId, cardAccountId } = issued.json
  // A person who fills in the form twice means two cards (decision C22).
  expect((await issue({ ...HOLDER, loadAmount: '750' })).json.svcCardId).not.toBe(svcCardId)
  expect(issued.json).toMatchObject({ companyId: partner.companyId, cardAccountId: partner.cardAccountId })
  const theirs = await (await asPartner(service.client, partner)).get(`/api/v0/partner/svcCard/${svcCardId}`)
  expect(payloadOf(theirs)).toMatchObject({
    accountBalance: 750,
    email: HOLDER.email,
    companyId,
    cardAccountId,
  })
  const { data } = (await operations.get(`/audit?target=${svcCardId}`)).json
  expect(data).toMatchObject([
    {
      action: 'card.issued',
      actor: expect.stringMatching(/^operator operations/),
      tenantId: partner.partnerId,
    },
  ])
})

test('the holder is masked in the response and in its repeat, which creates nothing', async () => {
  const key = { 'idempotency-key': 'operator-card-1' }
  const first = await issue(HOLDER, key)
  expect(first.text).not.toMatch(/Canary|canary\.rao|912345/)
  const before = await countRows(service.db.database)
  const again = await issue(HOLDER, key)
  expect(again.json).toEqual(first.json)
  expect(await countRows(service.db.database)).toEqual(before)
  expect((await issue({ ...HOLDER, loadAmount: '1' }, key)).error).toBe('idempotency_key_reused')
})

test('an order with the same reference returns the first card', async () => {
  const order = { ...HOLDER, referenceNumber: 'operator-order-1' }
  const [first, again] = [await issue(order), await issue(order)]
  expect(again.json.svcCardId).toBe(first.json.svcCardId)
  expect((await issue({ ...order, loadAmount: '2' })).error).toBe('order_reference_in_use')
})

test('limits and rules are those of the partner’s orders, and a rejected one leaves nothing behind', async () => {
  const empty = await newPartner(service, { fundsPaise: 499_99n })
  const other = await newPartner(service)
  const before = await countRows(service.db.database)
  expect((await issue({ loadAmount: '10001' })).error).toBe('load_over_limit')
  expect((await issue(HOLDER, {}, empty)).error).toBe('insufficient_funds')
  expect((await issue({ userId: other.userId })).error).toBe('user_not_found')
  expect((await issue({ companyId: other.companyId })).status).toBe(400)
  expect((await issue({ email: 'none' })).json.errors).toMatchObject([{ pointer: '/email' }])
  expect((await issue(HOLDER, {}, { ...partner, cardAccountId: 'acc_none' })).error).toBe(
    'card_account_not_found',
  )
  expect(await countRows(service.db.database)).toEqual(before)
})

test('no card is issued for a disabled partner', async () => {
  const disabled = await newPartner(service)
  await operations.send('PATCH', `/partners/${disabled.partnerId}`, { disabled: true })
  expect((await issue(HOLDER, {}, disabled)).error).toBe('tenant_disabled')
  await operations.send('PATCH', `/partners/${disabled.partnerId}`, { disabled: false })
  expect((await issue(HOLDER, {}, disabled)).status).toBe(200)
})

test('an operator who issues cards does not have to be one who funds them', async () => {
  const finance = await signedIn(service, 'finance')
  const order = [`/card-accounts/${partner.cardAccountId}/cards`, HOLDER] as const
  expect((await finance.post(...order)).error).toBe('role_too_low')
  const funds = { amount: '10', reference: 'OPERCARD0001', reason: 'paid in' }
  const path = `/card-accounts/${partner.cardAccountId}/funds`
  expect((await operations.post(path, funds)).error).toBe('role_too_low')
})

test('the setup of a partner shows which step is next, from the company to the credentials', async () => {
  const finance = await signedIn(service, 'finance')
  const body = { name: 'Step House', products: ['incentive'], firstClient: false }
  const { partnerId } = (await operations.post('/partners', body)).json.partner
  const setUp = async () => (await operations.get(`/partners/${partnerId}/set-up`)).json
  expect(await setUp()).toMatchObject({ name: 'Step House', handedOver: false, next: 'company' })
  const { companyId } = (await operations.post('/companies', { partnerId, name: 'Step Mills' })).json
  expect(await setUp()).toMatchObject({ company: { companyId, name: 'Step Mills' }, next: 'cardAccount' })
  const plan = {
    product: 'incentive',
    accountType: 'GIFT',
    binType: 'GIFT',
    cardProgramme: 'Gifts',
    denomination: 500,
  }
  const { cardAccountId } = (await operations.post('/card-accounts', { companyId, ...plan })).json
  expect(await setUp()).toMatchObject({ cardAccount: { cardAccountId, balance: 0 }, next: 'funding' })
  const funds = { amount: '500', reference: 'SETUP000001', reason: 'first' }
  await finance.post(`/card-accounts/${cardAccountId}/funds`, funds)
  expect((await setUp()).next).toBe('card')
  const { svcCardId } = (await operations.post(`/card-accounts/${cardAccountId}/cards`, HOLDER)).json
  expect(await setUp()).toMatchObject({ card: { svcCardId }, next: 'handover' })
  await operations.post(`/tenants/${partnerId}/handovers`, { name: 'step@house.example', sharedKey: true })
  expect(await setUp()).toMatchObject({ handedOver: true })
  expect((await setUp()).next).toBeUndefined()
  expect((await operations.get('/partners/par_none/set-up')).error).toBe('partner_not_found')
})

test('a partner finds cards issued by operators among its own, and no other partner does', async () => {
  const { svcCardId } = (await issue()).json
  const other = await newPartner(service)
  const { companyId, cardAccountId } = partner
  const search = async (who: TestPartner) =>
    (await asPartner(service.client, who)).post(SEARCH, { companyId, cardAccountId, svcCardId })
  expect((await search(partner)).text).toContain(svcCardId)
  expect((await search(other)).status).toBe(404)
})
