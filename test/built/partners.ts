import { createSecretKey } from 'node:crypto'
import { expect } from 'vitest'
import { done, encryptOrders, results, upload, uploadLoads } from '../harness/bulk.ts'
import { Terminal } from '../harness/card-rail.ts'
import { type Client, type Json, payloadOf } from '../harness/client.ts'
import { COINS, ifMatch } from '../harness/coins.ts'
import { handedOver } from '../harness/handed-over.ts'
import { BANK_RAIL_KEY, CARD_RAIL_KEY, type Live } from '../harness/live.ts'
import { loadAndUnload, newMealAccount } from '../harness/meal-account.ts'
import { asPartner, createCard, SEARCH, type TestPartner } from '../harness/partner.ts'

export interface LivePartner extends TestPartner {
  readonly client: Client
}

/** A partner with a company, a funded card account, an employee and a shared key, all by the command line. */
export async function newPartner({ svc }: Live, client: Client): Promise<LivePartner> {
  const companyName = 'Acme Industries Private Limited'
  const plan = ['--name', 'Gift House', '--product', 'incentive', 'employee_rewards']
  const { partnerId } = (await svc(['admin', 'partner', 'create', ...plan])).partner
  const { credential, sharedKey: shared } = await handedOver({ svc }, client, partnerId, '--shared-key')
  const { credentialId: clientId, secret: clientSecret } = credential
  const { companyId } = await svc(['admin', 'company', 'create', partnerId, '--name', companyName])
  const { cardAccountId } = await svc([
    'admin',
    'card-account',
    'create',
    companyId,
    '--product',
    'incentive',
  ])
  await svc([
    'admin',
    'card-account',
    'fund',
    cardAccountId,
    '--amount',
    '100000.00',
    '--reference',
    'AXISN0000000042',
    '--reason',
    'first float',
  ])
  const { userId } = await svc(['admin', 'user', 'create', companyId, '--first-name', 'Asha'])
  const { kid, alg, enc, k } = shared
  const sharedKey = { kid, alg, enc, key: createSecretKey(Buffer.from(k, 'base64url')) }
  const ids = { partnerId, companyId, cardAccountId, userId }
  const partner: TestPartner = { ...ids, clientId, clientSecret, companyName, sharedKey }
  return { ...partner, client: await asPartner(client, partner) }
}

/** What a partner registers by itself: a company with a user, and an account for its cards. */
export async function register({ client }: LivePartner): Promise<void> {
  const [companies, users] = ['/api/v0/partner/companies', '/api/v0/partner/users']
  const { companyId } = payloadOf(await client.post(companies, { name: 'Globex Limited' }))
  payloadOf(await client.patch(`${companies}/${companyId}`, { name: 'Globex Industries Limited' }))
  expect(payloadOf(await client.get(`${companies}/${companyId}`)).name).toBe('Globex Industries Limited')
  expect(payloadOf(await client.get(companies)).data).toHaveLength(2)
  const { userId } = payloadOf(await client.post(users, { companyId, firstName: 'Vikram' }))
  payloadOf(await client.patch(`${users}/${userId}`, { mobile: '9876543210' }))
  expect(payloadOf(await client.get(`${users}/${userId}`)).mobile).toBe('9876543210')
  expect(payloadOf(await client.get(`${users}?companyId=${companyId}`)).data).toHaveLength(1)
  expect(payloadOf(await client.post(`${users}/${userId}/erase`, {})).mobile).toBeUndefined()
  const account = { product: 'incentive', accountType: 'GIFT', binType: 'GIFT', cardProgramme: 'Gifts' }
  payloadOf(await client.post('/api/v0/partner/card-accounts', { companyId, ...account, denomination: 100 }))
}

/** Single orders and a bulk job; what can be done with a card. Returns a card in use, one that is loaded again, and one that waits to be activated. */
export async function issueCards(
  partner: LivePartner,
): Promise<{ inUse: string; meal: string; waiting: string }> {
  const { client, companyId, cardAccountId } = partner
  // Each its own content: the settings take the same content within seconds for a repeat.
  const order = async (firstName: string) =>
    payloadOf(await createCard(client, partner, { physicalCard: true, loadAmount: '500', firstName }))
      .svcCardId
  const [svcCardId, waiting] = [await order('Asha'), await order('Ravi')]
  const path = `/api/v0/partner/svcCard/${svcCardId}`
  payloadOf(await client.get(path))
  payloadOf(await client.post(`${path}/activate`, {}))
  payloadOf(await client.patch(`${path}/status`, { status: 'L', reason: 'Lost' }))
  payloadOf(await client.patch(`${path}/status`, { status: 'UL' }))
  payloadOf(await client.patch(`${path}/flags`, { onlineAllowed: false }))
  expect(payloadOf(await client.get(`${path}/history`)).data.length).toBeGreaterThan(3)
  payloadOf(await client.post(SEARCH, { companyId, cardAccountId, svcCardId }))
  const lost = `/api/v0/partner/svcCard/${await order('Meera')}`
  payloadOf(await client.post(`${lost}/replace`, { reason: 'Lost' }))
  const unwanted = `/api/v0/partner/svcCard/${payloadOf(await client.get(`${lost}/end`)).replacedBy}`
  payloadOf(await client.patch(`${unwanted}/status`, { status: 'BL', reason: 'Not wanted' }))
  payloadOf(await client.post(`${unwanted}/return`, { consentReference: 'letter-1' }))
  payloadOf(await client.get(`${lost}/balance`))
  const accounts = '/api/v0/partner/card-accounts'
  expect(payloadOf(await client.get(accounts)).data).toHaveLength(1)
  payloadOf(await client.patch(`${accounts}/${cardAccountId}`, { lowBalance: 1_000 }))
  expect(payloadOf(await client.get(`${accounts}/${cardAccountId}`)).lowBalance).toBe(1_000)
  const settings = '/api/v0/partner/record-settings'
  payloadOf(await client.patch(settings, { svcSupportMobile: '9876543210' }))
  expect(payloadOf(await client.get(settings))).toEqual({ svcSupportMobile: '9876543210' })
  payloadOf(await client.get(`${accounts}/${cardAccountId}/statement`))
  expect((await client.get(`${accounts}/${cardAccountId}/statement.pdf`)).text).toMatch(/^%PDF-/)
  const { virtualAccountNumber } = payloadOf(
    await client.get(`${accounts}/${cardAccountId}/funding-instructions`),
  )
  expect(virtualAccountNumber).toMatch(/^ACME\d{12}$/)
  const transfer = { utr: 'NEFTLIVE0001', virtualAccount: virtualAccountNumber, amount: 300_000 }
  const credited = await client.notify('/rails/bank/credits', transfer, BANK_RAIL_KEY)
  expect(payloadOf(credited)).toMatchObject({ status: 'CREDITED', cardAccountId })
  const rules = '/api/v0/partner/spend-rules'
  const { spendRuleId } = payloadOf(await client.post(rules, { name: 'Up to 50', transactionAmount: 50 }))
  expect(payloadOf(await client.get(rules)).data).toHaveLength(1)
  expect(payloadOf(await client.get(`${rules}/${spendRuleId}`)).transactionAmount).toBe(50)
  expect(payloadOf(await client.post(`${rules}/backtest`, {})).changed).toBe(0)
  payloadOf(await client.send('DELETE', `${rules}/${spendRuleId}`))
  const { jobId } = payloadOf(await upload(client, await encryptOrders(partner, 20)))
  await done(client, jobId)
  expect((await results(client, jobId)).filter(({ status }) => status !== 'ISSUED')).toEqual([])
  return { inUse: svcCardId, meal: await loadAgain(partner), waiting }
}

/** A meal card, loaded again and unloaded. */
async function loadAgain(partner: LivePartner): Promise<string> {
  const { client } = partner
  const { meal, virtualAccountNumber } = await newMealAccount(client, partner)
  const transfer = { utr: 'NEFTLIVE0002', virtualAccount: virtualAccountNumber, amount: 10_000 }
  payloadOf(await client.notify('/rails/bank/credits', transfer, BANK_RAIL_KEY))
  const { svcCardId } = payloadOf(await createCard(client, meal, { firstName: 'Isha' }))
  await loadAndUnload(client, svcCardId)
  const line = { svcCardId, amount: 5, referenceNumber: 'in-bulk' }
  const { jobId } = payloadOf(await uploadLoads(client, [line]))
  expect(await done(client, jobId)).toMatchObject({ loaded: 1 })
  return svcCardId
}

/** Every message of the card network, and what an operator sees of those that fit nothing. */
export async function useCard(
  { svc }: Pick<Live, 'svc'>,
  { client }: LivePartner,
  svcCardId: string,
): Promise<void> {
  const { token } = payloadOf(await client.get(`/api/v0/partner/svcCard/${svcCardId}`))
  const terminal = new Terminal(client, token, CARD_RAIL_KEY)
  const transfer = { batchUtr: 'NPCILIVE0001', valueDate: new Date().toISOString() }
  const settled = { ...transfer, lines: [{ kind: 'interchange', amount: '0.50' }] }
  payloadOf(await client.notify('/rails/cards/settlements', settled, CARD_RAIL_KEY))
  const { authorizationId } = await terminal.authorize(100)
  const { messageId: captureId } = await terminal.capture(60, { authorizationId })
  expect(await terminal.void({ authorizationId })).toMatchObject({ releasedAmount: 40 })
  expect(await terminal.refund(10, { captureId })).toMatchObject({ creditedAmount: 10 })
  expect(await terminal.advise('forced_post', 1_000)).toMatchObject({ exceptionAmount: 550 })
  expect(await terminal.balance()).toMatchObject({ accountBalance: 0 })
  const path = `/api/v0/partner/svcCard/${svcCardId}`
  const kinds = payloadOf(await client.get(`${path}/transactions`)).data.map(({ kind }: Json) => kind)
  expect(kinds).toEqual(['capture', 'refund', 'capture', 'authorization', 'load'])
  const query = `svcCardId=${svcCardId}&kind=refund`
  expect(payloadOf(await client.get(`/api/v0/partner/card-transactions?${query}`)).recordsCount).toBe(1)
  expect((await client.get(`${path}/statement.pdf`)).text).toMatch(/^%PDF-/)
  expect(payloadOf(await client.get(`${path}/statement`))).toMatchObject({
    openingBalance: 0,
    closingBalance: 0,
  })
  expect(await svc(['admin', 'cards', 'exceptions', svcCardId])).toHaveLength(1)
}

/** A configuration from its creation to its end, and coins that are earned and spent. */
export async function awardCoins({ client, companyId, userId }: LivePartner): Promise<void> {
  const request = { event: 'referral.completed', amount: 100, title: 'Thank you' }
  const { coinConfigId } = payloadOf(await client.post(COINS, request))
  const path = `${COINS}/${coinConfigId}`
  payloadOf(await client.get(path))
  payloadOf(await client.patch(path, { amount: 120 }, ifMatch(1)))
  expect(payloadOf(await client.get(`${path}/revisions`)).data).toHaveLength(2)
  payloadOf(await client.post(`${COINS}/search`, { status: 'ACTIVE' }))
  const award = { requestId: 'referral-77', event: request.event, userId, companyId }
  payloadOf(await client.post(`${COINS}/allocate`, award))
  payloadOf(await client.post(`${COINS}/redeem`, { requestId: 'voucher-9', userId, amount: 50 }))
  expect(payloadOf(await client.get(`${COINS}/users/${userId}/balance`))).toMatchObject({ active: 70 })
  expect(payloadOf(await client.get(`${COINS}/users/${userId}/history`)).data).toHaveLength(2)
  payloadOf(await client.post(`${path}/deactivate`, {}))
  await confirmAndVoid({ client, companyId, userId })
}

/** A pending award that is confirmed, and taken back. */
async function confirmAndVoid({
  client,
  companyId,
  userId,
}: Pick<LivePartner, 'client' | 'companyId' | 'userId'>): Promise<void> {
  const event = 'order.delivered'
  payloadOf(await client.post(COINS, { event, amount: 40, title: 'Order', activation: 'CONFIRMATION' }))
  const award = { requestId: 'order-77', event, userId, companyId }
  const { allocationId } = payloadOf(await client.post(`${COINS}/allocate`, award))
  const path = `${COINS}/allocations/${allocationId}`
  expect(payloadOf(await client.get(path))).toMatchObject({ pending: 40, remaining: 0 })
  payloadOf(await client.post(`${path}/confirm`, {}))
  const report = payloadOf(await client.get(`${COINS}/reports/liability?rupeesPerCoin=0.25`))
  expect(report).toMatchObject({ coins: 110, value: { coins: 27.5 } })
  const request = { requestId: 'return-77', reason: 'order returned' }
  expect(payloadOf(await client.post(`${path}/void`, request))).toMatchObject({ amount: 40 })
}
