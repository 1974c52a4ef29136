import { reconcile } from '@svc/core/ledger/reconcile'
import { encrypt } from '@svc/jwe/jwe'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { expectCreatedRecord } from '../harness/card-tables.ts'
import { type Client, payloadOf } from '../harness/client.ts'
import { newCompany } from '../harness/coins.ts'
import {
  asPartner,
  CREATE,
  countRows,
  createCard,
  encryptFor,
  JOSE,
  newPartner,
  SEARCH,
  type TestPartner,
} from '../harness/partner.ts'
import { asSuperuser, openService, type TestService } from '../harness/service.ts'

let service: TestService
let partner: TestPartner
let client: Client

beforeAll(async () => {
  service = await openService()
  partner = await newPartner(service)
  client = await asPartner(service.client, partner)
})
afterAll(() => service.close())

const create = (order: object = {}) => createCard(client, partner, { loadAmount: 1, ...order })
const TEXT_TIME =
  /^(Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec) \d{1,2}, \d{4} \d{1,2}:\d\d:\d\d (AM|PM)$/

test('a created card has every field of spec 2.4, with its type on the wire, and no other', async () => {
  const order = { firstName: 'Ravi', email: 'ravi@example.com', mobile: '9876543210', loadAmount: 1200 }
  const response = await create(order)
  expect(response.json).toMatchObject({ code: 0, message: 'Success' })
  const card = payloadOf(response)
  expectCreatedRecord(card)
  expect(card).toMatchObject({
    ...order,
    otbBalance: 1200,
    accountBalance: 1200,
    lastAllocatedAmount: 1200,
    loadAmount: '1200',
    companyId: partner.companyId,
    companyName: partner.companyName,
    cardAccountId: partner.cardAccountId,
    cardStatus: { name: 'UL', label: 'UnLocked' },
    kycStatus: { name: 'NOT_UPLOADED' },
    accountType: { name: 'GIFT', description: expect.any(String) },
    physicalCardRequestDate: '',
    physicalCard: false,
    cardActivated: true,
    pan: '',
  })
  expect(card.maskedNumber).toMatch(/^\d{6}X{6}\d{4}$/)
  expect([card.createdOn, card.modifiedOn]).toEqual([expect.stringMatching(TEXT_TIME), card.createdOn])
})

describe('fields of the request (spec 4.3)', () => {
  const TEXTS: [string, number][] = [
    ...'title firstName middleName lastName gender specialDate city state country pincode deliveryCity deliveryState deliveryCountry deliveryPincode'
      .split(' ')
      .map((name): [string, number] => [name, 100]),
    ...'address address2 deliveryAddress deliveryAddress2'
      .split(' ')
      .map((name): [string, number] => [name, 255]),
  ]
  test.each(TEXTS)(
    '%s accepts any text up to %i characters, returned as sent, and no more',
    async (name, max) => {
      for (const text of ['', '<b>"O’Brien" \\ & अनीता</b>', '🍵'.repeat(max)]) {
        const { svcCardId, ...card } = payloadOf(await create({ [name]: text }))
        if (name !== 'middleName') expect(card[name]).toBe(text)
        const { companyId, cardAccountId } = partner
        const found = payloadOf(await client.post(SEARCH, { companyId, cardAccountId, svcCardId }))
        expect(found.data[0][name]).toBe(text)
      }
      for (const bad of ['x'.repeat(max + 1), 5, ['x'], true]) {
        const response = await create({ [name]: bad })
        expect([response.status, response.error]).toEqual([400, 'validation_failed'])
        expect(response.errorDescription).toMatch(new RegExp(`^${name} must `))
      }
    },
  )

  const longest = `${'a'.repeat(242)}@example.com`
  test.each<[string, unknown, boolean]>([
    ['mobile', '0000000000', true],
    ['mobile', '999999999', false],
    ['mobile', '99999999999', false],
    ['mobile', '+919999999', false],
    ['mobile', '९९९९९९९९९९', false],
    ['mobile', 9999999999, false],
    ['mobile', '', false],
    ['email', 'A.b_c%d+e-f@Sub-1.example.co', true],
    ['email', longest, true],
    ['email', `a${longest}`, false],
    ['email', 'no-at.example.com', false],
    ['email', 'a@b.c', false],
    ['email', 'a b@example.com', false],
    ['email', '<a@example.com>', false],
    ['email', '', false],
    ['physicalCard', 'true', false],
    ['physicalCard', 1, false],
    ['physicalDeliveryAddressFlag', 'false', false],
    ['companyId', 5, false],
    ['cardAccountId', null, false],
    ['cardNumber', '4111111111111111', false],
    ['loadamount', 5, false],
  ])('%s: %j is accepted: %s', async (name, value, taken) => {
    const response = await create({ [name]: value })
    if (taken) expect(payloadOf(response)[name]).toBe(value)
    else {
      expect([response.status, response.error]).toEqual([400, 'validation_failed'])
      expect(response.errorDescription).toMatch(new RegExp(`^${name} `))
      expect(response.text).not.toContain('4111111111111111')
    }
  })

  test('all errors are reported at once, by name', async () => {
    const encrypted = await encryptFor(partner, { mobile: '1', email: 'x', first_name: 'y' })
    const { errorDescription } = await client.post(CREATE, encrypted)
    for (const name of ['companyId', 'cardAccountId', 'mobile', 'email', 'first_name'])
      expect(errorDescription).toContain(`${name} `)
  })

  test('companies and accounts that are not the partner’s are 404, as if they did not exist', async () => {
    const other = await newPartner(service)
    const empty = await newCompany(service, partner)
    for (const [order, error] of [
      [{ companyId: other.companyId }, 'company_not_found'],
      [{ companyId: 'nonsense 🍵' }, 'company_not_found'],
      [{ companyId: other.companyId, cardAccountId: other.cardAccountId }, 'company_not_found'],
      [{ cardAccountId: other.cardAccountId }, 'card_account_not_found'],
      [{ cardAccountId: 'acc_0' }, 'card_account_not_found'],
      [{ companyId: empty }, 'card_account_not_found'],
    ] as const) {
      const response = await create(order)
      expect([response.status, response.error]).toEqual([404, error])
    }
  })

  test('a delivery address is required by its flag, part by part, and returned as it was sent', async () => {
    const parts = {
      deliveryAddress: '1 Road',
      deliveryCity: 'Pune',
      deliveryState: 'MH',
      deliveryCountry: 'India',
      deliveryPincode: '411001',
    }
    const flagged = { physicalDeliveryAddressFlag: true }
    const missing = await create({ ...flagged, deliveryAddress: '1 Road' })
    expect(missing.errorDescription?.match(/\w+(?= is required)/g)).toEqual(Object.keys(parts).slice(1))
    expect(payloadOf(await create({ ...flagged, ...parts }))).toMatchObject({
      ...flagged,
      ...parts,
      deliveryAddress2: '',
    })
    expect(payloadOf(await create({ deliveryCity: 'Pune' }))).toMatchObject({
      ...flagged,
      deliveryCity: 'Pune',
    })
    for (const order of [{}, { physicalDeliveryAddressFlag: false }])
      expect(payloadOf(await create(order))).toMatchObject({
        physicalDeliveryAddressFlag: false,
        deliveryCity: '',
      })
  })

  test('a physical card awaits its activation, with the date of the request', async () => {
    const card = payloadOf(await create({ physicalCard: true }))
    expect(card).toMatchObject({
      physicalCard: true,
      cardActivated: false,
      cardStatus: { name: 'AP', label: 'Activation InProgress' },
      physicalCardRequestDate: card.createdOn,
      otbBalance: 1,
    })
  })
})

describe('the load (decisions C6, C7)', () => {
  const raw = async (loadAmount: string) => {
    const { companyId, cardAccountId } = partner
    const order = `{"companyId":"${companyId}","cardAccountId":"${cardAccountId}","loadAmount":${loadAmount}}`
    return client.send('POST', CREATE, await encrypt(Buffer.from(order), partner.sharedKey), JOSE)
  }
  test.each(['1', '"1"', '1.0', '1e3', '10000', '"10000"'])('%s is accepted', async (text) => {
    const rupees = Number(JSON.parse(text))
    expect(payloadOf(await raw(text))).toMatchObject({ loadAmount: String(rupees), otbBalance: rupees })
  })
  test.each([
    '0',
    '"0"',
    '-1',
    '"-1"',
    '-0',
    '1.5',
    '"1.5"',
    '"1e3"',
    '""',
    '" 5"',
    '"05"',
    '"ten"',
    '"١"',
    'true',
    '[5]',
    '1e21',
  ])('%s is rejected', async (text) => {
    const response = await raw(text)
    expect([response.status, response.error]).toEqual([400, 'validation_failed'])
    expect(response.errorDescription).toMatch(/^loadAmount /)
  })
  test.each(['10001', '"10001"', '999999999'])('%s is over the limit', async (text) => {
    const response = await raw(text)
    expect([response.status, response.error]).toEqual([422, 'load_over_limit'])
  })

  test('without one the account’s denomination is loaded, unless it is over the limit', async () => {
    expect(payloadOf(await create({ loadAmount: undefined })).loadAmount).toBe('500')
    const low = await openService({ db: service.db, env: { CARD_LOAD_MAX_RUPEES: '499' } })
    const caller = await asPartner(low.client, partner)
    expect((await createCard(caller, partner)).error).toBe('load_over_limit')
    await low.close()
  })

  test('it moves from the card account to the card in the ledger, exact to the paisa', async () => {
    const balances = async (...ids: string[]) =>
      (
        await asSuperuser(service.db.database, (db) =>
          db.query('select balance from ledger_accounts where account_id = any ($1) order by 1', [ids]),
        )
      ).rows.map(({ balance }) => BigInt(balance))
    const funding = `card_funding:${partner.cardAccountId}`
    const [before] = await balances(funding)
    const { svcCardId, svcCardTxnId } = payloadOf(await create({ loadAmount: 7 }))
    expect(await balances(funding)).toEqual([before! - 700n])
    expect(await balances(`card:${svcCardId}`)).toEqual([700n])
    const { rows } = await asSuperuser(service.db.database, (db) =>
      db.query(
        'select debit_account_id, credit_account_id, amount from ledger_transfers where transfer_id = $1',
        [svcCardTxnId],
      ),
    )
    expect(rows).toEqual([
      { debit_account_id: funding, credit_account_id: `card:${svcCardId}`, amount: '700' },
    ])
  })

  test('with insufficient funds, nothing at all is written', async () => {
    const poor = await newPartner(service, { fundsPaise: 499_99n })
    const caller = await asPartner(service.client, poor)
    const before = await countRows(service.db.database)
    const response = await createCard(caller, poor, { mobile: '9000000009' }, { 'idempotency-key': 'poor' })
    expect([response.status, response.error]).toEqual([422, 'insufficient_funds'])
    // Only that the request is used up.
    expect(await countRows(service.db.database)).toEqual({ ...before, batches: before['batches']! + 1 })
    payloadOf(
      await createCard(
        caller,
        poor,
        { mobile: '9000000009', loadAmount: 499 },
        { 'idempotency-key': 'poor' },
      ),
    )
  })

  test('an account is never overspent: of 60 concurrent orders for funds of 25, exactly 25 get a card, and the books balance', async () => {
    const own = await newPartner(service, { fundsPaise: 25n * 500_00n })
    const caller = await asPartner(service.client, own)
    const responses = await Promise.all(
      Array.from({ length: 60 }, (_, i) => createCard(caller, own, { mobile: String(9_400_000_000 + i) })),
    )
    expect(responses.filter(({ status }) => status === 200)).toHaveLength(25)
    expect(responses.filter(({ error }) => error === 'insufficient_funds')).toHaveLength(35)
    expect((await reconcile(service.app.services.database)).ok).toBe(true)
  })
})
