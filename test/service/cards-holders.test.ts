import { findCardAccount, insertCardAccount } from '@svc/core/cards/account/card-account'
import { insertCompany } from '@svc/core/tenants/company'
import { paise } from '@svc/kernel/money'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Client, payloadOf } from '../harness/client.ts'
import { fundCardAccount } from '../harness/fund-card-account.ts'
import { asPartner, countRows, createCard, newPartner, type TestPartner } from '../harness/partner.ts'
import { openService, type TestService } from '../harness/service.ts'

let service: TestService
let partner: TestPartner
let client: Client

beforeAll(async () => {
  service = await openService()
  partner = await newPartner(service)
  client = await asPartner(service.client, partner)
})
afterAll(() => service.close())

const create = (order: object = {}, of = partner) => createCard(client, of, { loadAmount: 1, ...order })
const holder = async (order: object, of = partner): Promise<string> =>
  payloadOf(await create(order, of)).userId
const users = async () => (await countRows(service.db.database))['users']!

/** Another company of the same partner, with an account that has funds. */
async function secondCompany(): Promise<TestPartner> {
  const { database, random, config } = service.app.services
  const maker = { random, timeZone: config.BUSINESS_TIME_ZONE }
  return database.operate(async (tx) => {
    const companyId = insertCompany(tx, random, partner.partnerId, 'Second')
    const cardAccountId = insertCardAccount(tx, random, {
      partnerId: partner.partnerId,
      companyId,
      product: 'incentive',
      accountType: 'GIFT',
      binType: 'GIFT',
      programme: 'Second',
      denominationPaise: 100_00n,
    })
    await fundCardAccount(tx, maker, (await findCardAccount(tx, cardAccountId))!, paise(1_000_00n))
    return { ...partner, companyId, cardAccountId }
  })
}

test('the holder named by userId is used, and fields that the order omits are those known of that user', async () => {
  const before = await users()
  const card = payloadOf(await create({ userId: partner.userId, lastName: 'Menon' }))
  expect(card).toMatchObject({
    userId: partner.userId,
    firstName: 'Asha',
    lastName: 'Menon',
    email: 'asha@example.com',
  })
  expect(await users()).toBe(before)
})

test('a userId of another company, of another partner, or of no user gets the same 404', async () => {
  const second = await secondCompany()
  const other = await newPartner(service)
  const responses = [
    await create({ userId: partner.userId }, second),
    await create({ userId: other.userId }),
    await create({ userId: `usr_${'0'.repeat(26)}` }),
  ]
  for (const response of responses)
    expect([response.status, response.error, response.errorDescription]).toEqual([
      404,
      'user_not_found',
      responses[0]!.errorDescription,
    ])
})

test('an empty text in an order is absent: it names no user, and clears nothing that is known', async () => {
  const empty = { firstName: '', lastName: '', title: '', city: '', referenceNumber: '' }
  expect(payloadOf(await create({ ...empty, userId: partner.userId }))).toMatchObject({
    userId: partner.userId,
    firstName: 'Asha',
  })
  const before = await users()
  const userId = await holder({ ...empty, userId: '', mobile: '9300000009' })
  expect(await users()).toBe(before + 1)
  expect(await holder({ userId: '', mobile: '9300000009' })).toBe(userId)
})

test('a holder is found by mobile, and by e-mail in any case, within the company', async () => {
  const userId = await holder({ mobile: '9300000001', email: 'Meera.Iyer@Example.com' })
  const before = await users()
  expect(await holder({ mobile: '9300000001' })).toBe(userId)
  expect(await holder({ mobile: '9300000001', email: 'new@example.com' })).toBe(userId)
  expect(await holder({ email: 'mEERA.iYER@eXAMPLE.COM' })).toBe(userId)
  expect(await holder({ mobile: '9300000002', email: 'meera.iyer@example.com' })).toBe(userId)
  expect(await holder({ email: 'ASHA@example.com' })).toBe(partner.userId)
  expect(await users()).toBe(before)
})

test('the same mobile in another company or of another partner is another holder', async () => {
  const second = await secondCompany()
  const other = await newPartner(service)
  const theirs = await asPartner(service.client, other)
  const order = { mobile: '9300000003', email: 'same@example.com', loadAmount: 1 }
  const ids = [
    await holder(order),
    await holder(order, second),
    payloadOf(await createCard(theirs, other, order)).userId,
  ]
  expect(new Set(ids).size).toBe(3)
})

test('an order that names no user creates its own holder each time', async () => {
  expect(await holder({})).not.toBe(await holder({}))
})

test.each([1, 2])(
  '60 concurrent orders for one new mobile and e-mail create one holder, on %s services',
  async (count) => {
    const second = count === 2 ? await openService({ db: service.db }) : undefined
    const callers = [client, ...(second ? [await asPartner(second.client, partner)] : [])]
    const before = await users()
    const order = (i: number) => ({
      loadAmount: 1,
      ...(i % 3 > 0 && { mobile: `931000000${count}` }),
      ...(i % 3 !== 1 && { email: i % 2 ? `Once${count}@example.com` : `once${count}@EXAMPLE.com` }),
    })
    payloadOf(await createCard(client, partner, order(2)))
    const responses = await Promise.all(
      Array.from({ length: 60 }, (_, i) => createCard(callers[i % callers.length]!, partner, order(i))),
    )
    expect(new Set(responses.map((response) => payloadOf(response).userId)).size).toBe(1)
    expect(await users()).toBe(before + 1)
    // And with no one known before, each order names both.
    const both = { loadAmount: 1, mobile: `932000000${count}`, email: `both${count}@example.com` }
    const fresh = await Promise.all(
      Array.from({ length: 60 }, (_, i) => createCard(callers[i % callers.length]!, partner, both)),
    )
    expect(new Set(fresh.map((response) => payloadOf(response).userId)).size).toBe(1)
    expect(await users()).toBe(before + 2)
    await second?.close()
  },
)
