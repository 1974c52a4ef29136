import { fundAccount } from '@svc/core/cards/account/fund-account'
import { paise } from '@svc/kernel/money'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Client, type Json, payloadOf } from '../harness/client.ts'
import { expectFailure } from '../harness/failure.ts'
import { operatorsOf } from '../harness/operators.ts'
import { asPartner, createCard, newPartner, type TestPartner } from '../harness/partner.ts'
import { asSuperuser, openService, type TestService } from '../harness/service.ts'

const COMPANIES = '/api/v0/partner/companies'
const USERS = '/api/v0/partner/users'
const ACCOUNTS = '/api/v0/partner/card-accounts'

let service: TestService
let other: TestService
let partner: TestPartner
let client: Client
let elsewhere: Client
beforeAll(async () => {
  service = await openService()
  other = await openService({ db: service.db })
  partner = await newPartner(service)
  client = await asPartner(service.client, partner)
  elsewhere = await asPartner(other.client, partner)
})
afterAll(async () => {
  await other?.close()
  await service?.close()
})

const newCompany = async (name = 'Acme Limited'): Promise<string> =>
  payloadOf(await client.post(COMPANIES, { name })).companyId

test('a partner registers a company, its users and a card account, and once the account is funded issues a card', async () => {
  const company = payloadOf(await client.post(COMPANIES, { name: 'Acme Limited' }))
  const { companyId } = company
  expect(payloadOf(await client.get(`${COMPANIES}/${companyId}`))).toEqual(company)
  const profile = { firstName: 'Asha', lastName: 'Rao', mobile: '9876543210', email: 'Asha@Example.com' }
  const user = payloadOf(await client.post(USERS, { companyId, ...profile }))
  expect(user).toEqual({
    userId: expect.stringMatching(/^usr_/),
    companyId,
    ...profile,
    createdOn: expect.any(String),
  })
  expect(payloadOf(await client.get(`${USERS}/${user.userId}`))).toEqual(user)
  const account = payloadOf(
    await client.post(ACCOUNTS, {
      companyId,
      product: 'incentive',
      accountType: 'GIFT',
      binType: 'GIFT',
      cardProgramme: 'Festival',
      denomination: 500,
      lowBalance: 1000.5,
    }),
  )
  expect(account).toMatchObject({ companyName: 'Acme Limited', balance: 0, lowBalance: 1000.5 })
  expect(payloadOf(await client.get(`${ACCOUNTS}/${account.cardAccountId}`))).toEqual(account)
  const order = { companyId, cardAccountId: account.cardAccountId, userId: user.userId }
  expectFailure(await createCard(client, partner, order), 'insufficient_funds')
  await operatorsOf(service.app.services.commands)
    .open(fundAccount)
    .run({
      partnerId: partner.partnerId,
      cardAccountId: account.cardAccountId,
      amountPaise: paise(1_000_00n),
      reference: 'AXISN0000000001',
      reason: 'float',
    })
  expect(payloadOf(await createCard(client, partner, order))).toMatchObject({ userId: user.userId })
})

test('lists are read page by page, newest first, without duplicate or missing records', async () => {
  const client = await asPartner(service.client, await newPartner(service))
  const made = await Promise.all(
    Array.from({ length: 7 }, async (_, i) => payloadOf(await client.post(COMPANIES, { name: `C ${i}` }))),
  )
  const companyId = made[0].companyId
  const people = await Promise.all(
    Array.from({ length: 7 }, async (_, i) =>
      payloadOf(await client.post(USERS, { companyId, firstName: `U ${i}` })),
    ),
  )
  const all = async (path: string): Promise<Json[]> => {
    const found: Json[] = []
    for (let next: string | undefined = ''; next !== undefined; ) {
      const page: Json = payloadOf(await client.get(`${path}limit=3${next && `&after=${next}`}`))
      found.push(...page.data)
      next = page.next
    }
    return found
  }
  const companies = await all(`${COMPANIES}?`)
  expect(companies.map(({ companyId }) => companyId)).toEqual([...new Set(companies.map((c) => c.companyId))])
  expect(companies.map(({ name }) => name)).toEqual(expect.arrayContaining(made.map(({ name }) => name)))
  const users = await all(`${USERS}?companyId=${companyId}&`)
  expect(users.map(({ userId }) => userId).sort()).toEqual(people.map(({ userId }) => userId).sort())
  // Of all companies, but of no other partner.
  const another = payloadOf(await client.post(USERS, { companyId: made[1].companyId, firstName: 'Another' }))
  const everyone = await all(`${USERS}?`)
  expect(everyone[0].userId).toBe(another.userId)
  expect(everyone.map(({ userId }) => userId)).toEqual(expect.arrayContaining(users.map((u) => u.userId)))
  expect(everyone).toHaveLength(people.length + 2)
})

test('a mobile number and an e-mail address name one user of a company, in any case, and after a change', async () => {
  const [companyId, second] = [await newCompany(), await newCompany()]
  const create = (rest: object) => client.post(USERS, { companyId, ...rest })
  const asha = payloadOf(await create({ mobile: '9000000001', email: 'asha@example.com' }))
  expectFailure(await create({ mobile: '9000000001' }), 'already_exists')
  expectFailure(await create({ email: 'ASHA@example.com' }), 'already_exists')
  payloadOf(await client.post(USERS, { companyId: second, mobile: '9000000001' }))
  const ravi = payloadOf(await create({ mobile: '9000000002' }))
  const patch = (userId: string, changes: object) => client.patch(`${USERS}/${userId}`, changes)
  expectFailure(await patch(ravi.userId, { email: 'Asha@Example.com' }), 'already_exists')
  expect(payloadOf(await patch(asha.userId, { mobile: null, title: 'Ms' }))).toEqual({
    userId: asha.userId,
    companyId,
    email: 'asha@example.com',
    title: 'Ms',
    createdOn: asha.createdOn,
  })
  expect(payloadOf(await patch(ravi.userId, { mobile: '9000000001' })).mobile).toBe('9000000001')
  expect(payloadOf(await patch(ravi.userId, {})).mobile).toBe('9000000001')
})

test('of many concurrent registrations of one mobile number, in two processes, one succeeds', async () => {
  const companyId = await newCompany()
  for (let round = 0; round < 5; round++) {
    const user = { companyId, mobile: `910000000${round}` }
    const responses = await Promise.all(
      Array.from({ length: 12 }, (_, i) => (i % 2 ? client : elsewhere).post(USERS, user)),
    )
    expect(responses.map(({ status }) => status).sort()).toEqual([200, ...Array(11).fill(409)])
  }
})

test('two users who exchange their numbers in one batch never share one', async () => {
  const companyId = await newCompany()
  const create = async (mobile: string): Promise<string> =>
    payloadOf(await client.post(USERS, { companyId, mobile })).userId
  const ids = [await create('9200000001'), await create('9200000002')]
  await Promise.all(
    ids.flatMap((userId) =>
      ['9200000001', '9200000002', '9200000003'].map((mobile) =>
        client.patch(`${USERS}/${userId}`, { mobile }),
      ),
    ),
  )
  const { data } = payloadOf(await client.get(`${USERS}?companyId=${companyId}`))
  expect(new Set(data.map(({ mobile }: Json) => mobile)).size).toBe(2)
})

test('a repeat with its Idempotency-Key registers nothing more; records of other partners are 404', async () => {
  const headers = { 'idempotency-key': crypto.randomUUID() }
  const first = await client.post(COMPANIES, { name: 'Once Limited' }, headers)
  expect((await client.post(COMPANIES, { name: 'Once Limited' }, headers)).text).toBe(first.text)
  const outsider = await asPartner(service.client, await newPartner(service))
  const { companyId } = payloadOf(first)
  expectFailure(await outsider.get(`${COMPANIES}/${companyId}`), 'company_not_found')
  expectFailure(await outsider.patch(`${COMPANIES}/${companyId}`, { name: 'Mine' }), 'company_not_found')
  expectFailure(await outsider.post(USERS, { companyId, firstName: 'A' }), 'company_not_found')
  expect(payloadOf(await client.get(`${COMPANIES}/${companyId}`)).name).toBe('Once Limited')
})

test('an invalid field is named, with what would be valid', async () => {
  const companyId = await newCompany()
  const failing = async (body: object) => (await client.post(USERS, { companyId, ...body })).errorDescription
  expect(await failing({ mobile: '12345' })).toContain('mobile must be exactly 10 digits')
  expect(await failing({ email: 'asha' })).toContain('email must be an e-mail address')
  expect(await failing({})).toContain('mobile is required, or another field')
  const account = { companyId, accountType: 'GIFT', binType: 'GIFT', cardProgramme: 'x', denomination: 1 }
  const { errorDescription } = await client.post(ACCOUNTS, { ...account, product: 'employee_rewards' })
  expect(errorDescription).toContain('product must be one that the partner uses: incentive')
})

test('the audit names the partner, and contains no personal data', async () => {
  const companyId = await newCompany('Audited Limited')
  const { userId } = payloadOf(
    await client.post(USERS, { companyId, firstName: 'Secretive', mobile: '9300000001' }),
  )
  payloadOf(await client.patch(`${USERS}/${userId}`, { lastName: 'Person' }))
  payloadOf(await client.patch(`${COMPANIES}/${companyId}`, { name: 'Renamed Limited' }))
  const rows = await asSuperuser(service.db.database, async (db) => {
    const { rows } = await db.query(
      `select action, actor, content as details from audit_log where target = any ($1) order by number`,
      [[companyId, userId]],
    )
    return rows as { action: string; actor: string; details: string }[]
  })
  expect(rows.map(({ action, actor }) => [action, actor])).toEqual(
    ['company.created', 'user.created', 'user.changed', 'company.changed'].map((action) => [
      action,
      `tenant ${partner.partnerId}`,
    ]),
  )
  expect(rows.map(({ details }) => details).join()).not.toMatch(/Secretive|Person|9300000001/)
})
