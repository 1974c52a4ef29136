import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Client, type Json, payloadOf } from '../harness/client.ts'
import { cancel, creditOf, newCode, notifyCredit, trsOf } from '../harness/qr-codes.ts'
import { openService, type TestService } from '../harness/service.ts'

let service: TestService
let client: Client

beforeAll(async () => {
  service = await openService({ env: { QR_AMOUNT_CAPS: 'default=100000,5411=500' } })
  client = await service.as(await service.newMerchant())
})
afterAll(() => service.close())

const create = (body: object, as = client) => as.post('/api/v0/qr-code', body)
const idOf = async (body: object): Promise<string> => payloadOf(await create(body)).qrCodeId
const inYears = (years: number, moreMs: number): string => {
  const at = new Date()
  at.setUTCFullYear(at.getUTCFullYear() + years)
  return new Date(at.getTime() + moreMs).toISOString()
}
/** Computed when it is sent, not when the table of cases is. */
const expiring = (years: number, moreMs: number): object => ({
  get expiry() {
    return inYears(years, moreMs)
  },
})
const hasLeapDay = (year: number): boolean => new Date(Date.UTC(year, 1, 29)).getUTCMonth() === 1
const nextYears = [1, 2, 3, 4].map((years) => new Date().getUTCFullYear() + years)
const leapYear = nextYears.find(hasLeapDay)
const commonYear = nextYears.find((year) => !hasLeapDay(year))
const pairs = (count: number): Record<string, string> =>
  Object.fromEntries(Array.from({ length: count }, (_, i) => [`key${i}`, 'v']))

test.each<[string, object, object]>([
  ['qrName', { qrName: 'x'.repeat(100) }, { qrName: 'x'.repeat(101) }],
  ['customerName', { customerName: 'x'.repeat(100) }, { customerName: 'x'.repeat(101) }],
  ['description', { description: 'x'.repeat(255) }, { description: 'x'.repeat(256) }],
  ['referenceNumber', { referenceNumber: 'x'.repeat(64) }, { referenceNumber: 'x'.repeat(65) }],
  ['customerId', { customerId: 'x'.repeat(64) }, { customerId: 'x'.repeat(65) }],
  ['customParams', { customParams: pairs(15) }, { customParams: pairs(16) }],
  ['customParams', { customParams: { ['k'.repeat(40)]: 'v' } }, { customParams: { ['k'.repeat(41)]: 'v' } }],
  ['customParams', { customParams: { k: 'v'.repeat(256) } }, { customParams: { k: 'v'.repeat(257) } }],
  ['customParams', { customParams: {} }, { customParams: { k: 1 } }],
  ['customerMobile', { customerMobile: '9876543210' }, { customerMobile: '98765432101' }],
  ['customerMobile', { customerMobile: '0000000000' }, { customerMobile: '987654321' }],
  ['customerEmail', { customerEmail: 'a.b+c@example.co.in' }, { customerEmail: 'a.b@example' }],
  [
    'customerEmail',
    { customerEmail: `${'a'.repeat(242)}@example.com` },
    { customerEmail: `${'a'.repeat(243)}@example.com` },
  ],
  ['amount', { amount: 0.01 }, { amount: 0 }],
  ['amount', { amount: 500 }, { amount: 500.01 }],
  ['amount', { amount: 1.25 }, { amount: 1.255 }],
  ['amount', { amount: 10, fixedAmount: true }, { fixedAmount: true }],
  ['amount', { amount: 10 }, { amount: '10' }],
  ['expiry', expiring(5, -60_000), expiring(5, 60_000)],
  ['expiry', expiring(0, 60_000), expiring(0, -1)],
  ['expiry', { expiry: `${commonYear}-01-31T18:30:00+05:30` }, { expiry: `${commonYear}-01-31T18:30:00` }],
  ['expiry', { expiry: `${leapYear}-02-29T00:00:00Z` }, { expiry: `${commonYear}-02-29T00:00:00Z` }],
  ['multipleUse', { multipleUse: true }, { multipleUse: 'true' }],
])('%s: %o is accepted, %o is rejected by name', async (field, good, bad) => {
  expect((await create(good)).status).toBe(200)
  const refused = await create(bad)
  expect(refused).toMatchObject({ status: 400, error: 'validation_failed' })
  expect(refused.errorDescription).toContain(field)
})

test('every invalid field is reported at once, an unknown one too', async () => {
  const { errorDescription } = await create({ qrName: 7, amount: -1, customerMobile: 'x', colour: 'red' })
  for (const field of ['qrName', 'amount', 'customerMobile', 'colour'])
    expect(errorDescription).toContain(field)
})

test('an amount equal to the cap of the merchant’s category is accepted, a merchant of category 6540 cannot create codes', async () => {
  const load = await service.as(await service.newMerchant({ mcc: '6540' }))
  expect(await create({}, load)).toMatchObject({ status: 422, error: 'mcc_not_allowed' })
  const shop = await service.as(await service.newMerchant({ mcc: '5814' }))
  expect((await create({ amount: 100_000 }, shop)).status).toBe(200)
  expect((await create({ amount: 100_000.01 }, shop)).status).toBe(400)
})

test('a repeated reference: the same request returns the active code, with its image', async () => {
  const request = { referenceNumber: 'order-1', amount: 10, customParams: { a: '1', b: '2' } }
  const first = await create(request)
  expect((await create(request)).text).toBe(first.text)
  expect(
    (await create({ customParams: { b: '2', a: '1' }, amount: 10, referenceNumber: 'order-1' })).text,
  ).toBe(first.text)
  expect((await create({ ...request, multipleUse: false, fixedAmount: false })).text).toBe(first.text)
})

test('a repeated reference: another request is rejected while the code is active', async () => {
  await idOf({ referenceNumber: 'order-2', amount: 10 })
  expect(await create({ referenceNumber: 'order-2', amount: 11 })).toMatchObject({
    status: 409,
    error: 'reference_in_use',
  })
})

test('a repeated reference: a code that was cancelled unpaid is replaced by a new one', async () => {
  const first = await idOf({ referenceNumber: 'order-3' })
  await cancel(client, first)
  const second = await idOf({ referenceNumber: 'order-3' })
  expect(second).not.toBe(first)
  expect(await idOf({ referenceNumber: 'order-3' })).toBe(second)
})

test('a repeated reference: a paid code is never replaced', async () => {
  const single = await newCode(service, client, { referenceNumber: 'order-4' })
  expect(payloadOf(await notifyCredit(service.client, creditOf(single.tr))).status).toBe('ACCEPTED')
  expect(await create({ referenceNumber: 'order-4' })).toMatchObject({ status: 409, error: 'reference_paid' })
  const multiple = await newCode(service, client, { referenceNumber: 'order-5', multipleUse: true })
  await notifyCredit(service.client, creditOf(multiple.tr))
  expect(await idOf({ referenceNumber: 'order-5', multipleUse: true })).toBe(multiple.qrCodeId)
  await cancel(client, multiple.qrCodeId)
  expect(await create({ referenceNumber: 'order-5', multipleUse: true })).toMatchObject({
    status: 409,
    error: 'reference_paid',
  })
})

test('a repeated reference: an expired code is replaced by a new one', async () => {
  const own = await openService()
  const merchant = await own.newMerchant()
  const request = { referenceNumber: 'order-6', expiry: new Date(Date.now() + 60_000).toISOString() }
  const first = payloadOf(await create(request, await own.as(merchant)))
  own.clock.advance(60_001)
  const second = payloadOf(await create({ referenceNumber: 'order-6' }, await own.as(merchant)))
  expect(second.qrCodeId).not.toBe(first.qrCodeId)
  await own.close()
})

test('references of two merchants are independent', async () => {
  const other = await service.as(await service.newMerchant())
  const mine = await idOf({ referenceNumber: 'order-7' })
  expect(payloadOf(await create({ referenceNumber: 'order-7', amount: 5 }, other)).qrCodeId).not.toBe(mine)
})

test('every code has its own reference, of at most 35 characters', async () => {
  const ids = await Promise.all(Array.from({ length: 200 }, () => idOf({})))
  const trs = [...(await trsOf(service.db.database, ids)).values()]
  expect(new Set(trs).size).toBe(200)
  for (const tr of trs) expect(tr).toMatch(/^[A-Za-z0-9]{1,35}$/)
})

const search = async (as: Client, filters: object): Promise<Json> =>
  payloadOf(await as.post('/api/v0/qr-code/search', filters))

test('filters must all match; images and their strings are omitted', async () => {
  const own = await service.as(await service.newMerchant())
  const requested = {
    customerId: 'c1',
    customerName: 'Asha',
    customerEmail: 'asha@example.com',
    customerMobile: '9876543210',
    referenceNumber: 'r1',
    amount: 25,
  }
  const wanted = payloadOf(await create(requested, own))
  const plain = payloadOf(await create({ amount: 24.99 }, own))
  await cancel(own, plain.qrCodeId)
  const { qrCodeBase64, upiUri, ...record } = wanted
  expect([qrCodeBase64, upiUri]).toEqual([expect.any(String), expect.any(String)])
  const { amount, ...texts } = requested
  for (const [field, value] of Object.entries({
    ...texts,
    status: 'ACTIVE',
    amountFrom: amount,
    createdFrom: wanted.createdOn,
  }))
    if (field !== 'createdFrom')
      expect(await search(own, { [field]: value })).toEqual({ recordsCount: 1, data: [record] })
  expect((await search(own, { amountTo: 24.99 })).data).toMatchObject([
    { qrCodeId: plain.qrCodeId, status: 'CANCELLED' },
  ])
  expect((await search(own, { ...texts, status: 'CANCELLED' })).recordsCount).toBe(0)
  expect((await search(own, { createdFrom: wanted.createdOn })).recordsCount).toBe(2)
  expect((await search(own, { createdTo: wanted.createdOn })).recordsCount).toBe(0)
})

test('paging by cursor returns every code once, newest first, while new codes are created', async () => {
  const own = await service.as(await service.newMerchant())
  const before = new Set<string>()
  for (let i = 0; i < 120; i++) before.add(payloadOf(await create({}, own)).qrCodeId)
  const seen: Json[] = []
  let paging = true
  const creating = (async () => {
    while (paging) await create({}, own)
  })()
  for (let after: string | undefined; ; ) {
    const { data, next } = await search(own, { limit: 7, ...(after && { after }) })
    seen.push(...data)
    if (!next) break
    after = next
  }
  paging = false
  await creating
  const ids = seen.map(({ qrCodeId }) => qrCodeId as string)
  expect(new Set(ids).size).toBe(ids.length)
  expect(ids.filter((id) => before.has(id))).toHaveLength(120)
  const times = seen.map(({ createdOn }) => Date.parse(createdOn))
  expect(times).toEqual(times.toSorted((a, b) => b - a))
})

test('a page has 50 records by default and 500 at most, and an invented cursor is rejected', async () => {
  const own = await service.as(await service.newMerchant())
  await Promise.all(Array.from({ length: 51 }, () => create({}, own)))
  expect((await search(own, {})).recordsCount).toBe(50)
  expect((await search(own, { limit: 500 })).recordsCount).toBe(51)
  for (const bad of [{ limit: 501 }, { limit: 0 }, { after: 'made-up' }])
    expect(await own.post('/api/v0/qr-code/search', bad)).toMatchObject({
      status: 400,
      error: 'validation_failed',
    })
})
