import { afterAll, beforeAll, expect, test } from 'vitest'
import { reconcile } from '../../src/ledger/reconcile.ts'
import { type Client, payloadOf } from '../harness/client.ts'
import {
  asPartner,
  createCard,
  newPartner,
  partnerToken,
  sealFor,
  type TestPartner,
} from '../harness/partner.ts'
import { asSuperuser, openService, type TestService } from '../harness/service.ts'

let service: TestService
let incentive: TestPartner
let rewards: TestPartner
let client: Client
let rewardsClient: Client

beforeAll(async () => {
  service = await openService()
  incentive = await newPartner(service)
  rewards = await newPartner(service, { products: ['employee_rewards'] })
  client = await asPartner(service.client, incentive)
  rewardsClient = await asPartner(service.client, rewards)
})
afterAll(() => service.close())

// The tables of spec section 2.4, by type; written from the specification, not from our schema.
const STRINGS = `svcCardId userId cardAccountId maskedNumber expiryMonth expiryYear email mobile title firstName lastName
  gender specialDate address address2 city state country pincode pan physicalCardRequestDate deliveryAddress
  deliveryAddress2 deliveryCity deliveryState deliveryCountry deliveryPincode companyId loadAmount companyName
  svcCardTxnId token createdOn modifiedOn cardProgramme blockCode remarks partnerLogo extEntityId switchProvider
  tncVersionMasterId tncUrl virtualAccountNumber defaultCardImage svcSupportEmail svcSupportMobile`
const INTEGERS = 'otbBalance accountBalance lastAllocatedAmount cardKitMasterId'
const NUMBERS =
  'usedMtd usedDtd usedYtd usedLtd limitAllocatedLtd surchargeAmt holdBalance unAllocateHoldBalance'
const BOOLEANS = `primaryCard prepaidCard physicalCard physicalDeliveryAddressFlag cardActivated physicalCardAllowed
  panValidated posAllowed posAllowedAdmin atmAllowed atmAllowedAdmin onlineAllowed onlineAllowedAdmin
  unallocateFundAllowed deleted closedLoopCard useAccountFunds liveImage cKycEnabled useParentFundAllowed
  minKycOtpVerified vKycAllowed latestTnCVersionAccepted latestKeyFactAccepted latestTnCVersionAcceptedForPrimaryCard
  latestKeyFactAcceptedCardForPrimaryCard tncUnAllocateAllowed tncUnAllocateAccepted`
const OBJECTS = 'cardStatus kycStatus accountType binType kitType'
const INCENTIVE_STRINGS = 'middleName primarySvcCardId primarySvcCardUserId'
const INCENTIVE_NUMBERS = 'minTransactionAmount totalRewardsReceived rewardPointsReceived'
const words = (text: string) => text.trim().split(/\s+/)

function expectTypes(
  record: Record<string, unknown>,
  more: { strings?: string; numbers?: string; booleans?: string } = {},
) {
  const strings = words(`${STRINGS} ${more.strings ?? ''}`)
  const numbers = words(`${INTEGERS} ${NUMBERS} ${more.numbers ?? ''}`)
  const booleans = words(`${BOOLEANS} ${more.booleans ?? ''}`)
  const objects = words(OBJECTS)
  for (const name of strings) expect(typeof record[name], name).toBe('string')
  for (const name of numbers) expect(typeof record[name], name).toBe('number')
  for (const name of words(INTEGERS)) expect(Number.isInteger(record[name]), name).toBe(true)
  for (const name of booleans) expect(typeof record[name], name).toBe('boolean')
  for (const name of objects)
    expect(record[name], name).toMatchObject({ name: expect.any(String), label: expect.any(String) })
  expect(Object.keys(record).sort()).toEqual([...strings, ...numbers, ...booleans, ...objects].sort())
}

test('a created card has every field of spec 2.4, typed as carried, and no other', async () => {
  const answer = await createCard(client, incentive, {
    firstName: 'Ravi',
    lastName: 'Kumar',
    email: 'ravi@example.com',
    mobile: '9876543210',
    loadAmount: 1200,
  })
  expect(answer.json).toMatchObject({ code: 0, message: 'Success' })
  const card = payloadOf(answer)
  expectTypes(card)
  expect(card).toMatchObject({
    firstName: 'Ravi',
    otbBalance: 1200,
    accountBalance: 1200,
    loadAmount: '1200',
    companyName: incentive.companyName,
    cardStatus: { name: 'UL', label: 'UnLocked' },
    kycStatus: { name: 'NOT_UPLOADED' },
    accountType: { name: 'GIFT', description: expect.any(String) },
    physicalCardRequestDate: '',
  })
  expect(card.maskedNumber).toMatch(/^\d{6}X{6}\d{4}$/)
  expect(card.createdOn).toMatch(
    /^(Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec) \d{1,2}, \d{4} \d{1,2}:\d\d:\d\d (AM|PM)$/,
  )
})

test('an incentive search answers the full record of the one card, with the incentive fields', async () => {
  const { svcCardId } = payloadOf(await createCard(client, incentive))
  const { companyId, cardAccountId } = incentive
  const { data, recordsCount } = payloadOf(
    await client.post('/api/v0/partner/svcCard/search', { companyId, cardAccountId, svcCardId }),
  )
  expect(recordsCount).toBe(1)
  expectTypes(data[0], {
    strings: INCENTIVE_STRINGS,
    numbers: INCENTIVE_NUMBERS,
    booleans: 'enableHoldAmount',
  })
  expect(data[0].svcCardId).toBe(svcCardId)
})

test('an incentive search without svcCardId is refused by name', async () => {
  const { companyId, cardAccountId } = incentive
  const answer = await client.post('/api/v0/partner/svcCard/search', { companyId, cardAccountId })
  expect([answer.status, answer.errorDescription]).toEqual([400, 'svcCardId: is required'])
})

test('a rewards search answers all cards of the account with exactly the twelve fields of spec 2.5', async () => {
  const ids = []
  for (const mobile of ['9111111111', '9111111112', '9111111113'])
    ids.push(payloadOf(await createCard(rewardsClient, rewards, { mobile, loadAmount: '100' })).svcCardId)
  const { companyId, cardAccountId } = rewards
  const answer = await rewardsClient.post('/api/v0/partner/svcCard/search', { companyId, cardAccountId })
  const { data, recordsCount } = payloadOf(answer)
  expect(recordsCount).toBe(3)
  expect(data.map((card: { svcCardId: string }) => card.svcCardId)).toEqual(ids)
  const twelve =
    'svcCardId userId cardAccountId expiryMonth expiryYear email mobile title firstName lastName otbBalance companyId'
  for (const card of data) {
    expect(Object.keys(card).sort()).toEqual(words(twelve).sort())
    expect(card.otbBalance).toBe(100)
  }
  const one = payloadOf(
    await rewardsClient.post('/api/v0/partner/svcCard/search', {
      companyId,
      cardAccountId,
      svcCardId: ids[1],
    }),
  )
  expect(one).toEqual({ data: [data[1]], recordsCount: 1 })
})

test('an account in pages answers every card once, and says when there are no more', async () => {
  const partner = await newPartner(service, { products: ['employee_rewards'] })
  const caller = await asPartner(service.client, partner)
  for (let i = 0; i < 5; i++)
    payloadOf(await createCard(caller, partner, { mobile: `922222222${i}`, loadAmount: 1 }))
  const { companyId, cardAccountId } = partner
  const seen: string[] = []
  for (let after: string | undefined, pages = 0; ; pages++) {
    expect(pages).toBeLessThan(4)
    const page = payloadOf(
      await caller.post('/api/v0/partner/svcCard/search', {
        companyId,
        cardAccountId,
        limit: 2,
        ...(after && { after }),
      }),
    )
    seen.push(...page.data.map((card: { svcCardId: string }) => card.svcCardId))
    expect(page.recordsCount).toBe(page.data.length)
    if (!page.next) break
    after = page.next
  }
  expect(new Set(seen).size).toBe(5)
  expect(seen).toHaveLength(5)
})

test('a search without the session cookie, or with that of another token, is 401 invalid_session', async () => {
  const { companyId, cardAccountId } = rewards
  const search = (cookie: string) =>
    rewardsClient.with({ cookie }).post('/api/v0/partner/svcCard/search', { companyId, cardAccountId })
  const another = String((await partnerToken(service.client, rewards)).headers['set-cookie']).split(';')[0]!
  for (const cookie of ['', 'SVCSESSION=', 'other=1', another])
    expect((await search(cookie)).error, cookie).toBe('invalid_session')
})

test('a search of an unknown company or account is 404, of an unknown card an empty success', async () => {
  const { companyId, cardAccountId } = rewards
  const search = (body: object) => rewardsClient.post('/api/v0/partner/svcCard/search', body)
  expect((await search({ companyId: incentive.companyId, cardAccountId })).error).toBe('company_not_found')
  expect((await search({ companyId, cardAccountId: incentive.cardAccountId })).error).toBe(
    'card_account_not_found',
  )
  expect(payloadOf(await search({ companyId, cardAccountId, svcCardId: 'nonsense' }))).toEqual({
    data: [],
    recordsCount: 0,
  })
})

test('the same seal with no key answers the same bytes, under a new key it is 409 seal_replayed, and once the answer is forgotten 409 too', async () => {
  const { companyId, cardAccountId } = incentive
  const sealed = await sealFor(incentive, { companyId, cardAccountId, mobile: '9333333333' })
  const first = await client.post('/api/v0/partner/svcCard', sealed)
  payloadOf(first)
  expect((await client.post('/api/v0/partner/svcCard', sealed)).text).toBe(first.text)
  expect((await client.post('/api/v0/partner/svcCard', sealed, { 'idempotency-key': 'k-1' })).error).toBe(
    'seal_replayed',
  )
  await asSuperuser(service.db.database, (db) => db.query('delete from idempotency_keys'))
  expect((await client.post('/api/v0/partner/svcCard', sealed)).error).toBe('seal_replayed')
})

test('a seal sent with a key is answered again with that key and without one', async () => {
  const { companyId, cardAccountId } = incentive
  const sealed = await sealFor(incentive, { companyId, cardAccountId, mobile: '9333333334' })
  const first = await client.post('/api/v0/partner/svcCard', sealed, { 'idempotency-key': 'k-2' })
  payloadOf(first)
  expect((await client.post('/api/v0/partner/svcCard', sealed, { 'idempotency-key': 'k-2' })).text).toBe(
    first.text,
  )
  expect((await client.post('/api/v0/partner/svcCard', sealed)).text).toBe(first.text)
})

test('a plain request is refused, and with Accept: application/jose the answer comes sealed', async () => {
  const { companyId, cardAccountId } = incentive
  expect((await client.post('/api/v0/partner/svcCard', { companyId, cardAccountId })).error).toBe(
    'payload_not_sealed',
  )
  const answer = await createCard(client, incentive, { mobile: '9333333335' }, { accept: 'application/jose' })
  expect(answer.status).toBe(200)
  expect(answer.text.split('.')).toHaveLength(5)
})

test('an account is never overspent: of 60 orders at once for funds of 25, exactly 25 get a card, and the books add up', async () => {
  const partner = await newPartner(service, { fundsPaise: 25n * 500_00n })
  const caller = await asPartner(service.client, partner)
  const answers = await Promise.all(
    Array.from({ length: 60 }, (_, i) => createCard(caller, partner, { mobile: String(9_400_000_000 + i) })),
  )
  expect(answers.filter((answer) => answer.status === 200)).toHaveLength(25)
  expect(answers.filter((answer) => answer.error === 'insufficient_funds')).toHaveLength(35)
  expect((await reconcile(service.app.services.database)).ok).toBe(true)
})
