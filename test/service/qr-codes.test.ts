import { calendarDay } from '@svc/kernel/time'
import { signNotice } from '@svc/server/http/notice-signature'
import { diagnose } from '@svc/upi-qr/qr-doctor'
import * as fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Client, type Json, payloadOf } from '../harness/client.ts'
import { openService, RAIL_KEY, type TestMerchant, type TestService } from '../harness/service.ts'

let service: TestService
let merchant: TestMerchant
let client: Client

beforeAll(async () => {
  service = await openService()
  merchant = await service.newMerchant()
  client = await service.as(merchant)
})
afterAll(() => service.close())

test('a created code is returned with every field of the request, and a get returns the same', async () => {
  const nextYear = calendarDay(new Date(Date.now() + 365 * 86_400_000), 'Asia/Kolkata')
  const request = {
    qrName: 'Table 12',
    multipleUse: true,
    fixedAmount: true,
    amount: 249.5,
    description: 'Lunch',
    expiry: `${nextYear}T18:30:00+05:30`,
    customParams: { table: '12' },
    customerName: 'Asha',
    customerEmail: 'asha@example.com',
    customerMobile: '9876543210',
    customerId: 'c-1',
    referenceNumber: 'order-1',
  }
  const created = payloadOf(await client.post('/api/v0/qr-code', request))
  expect(created).toMatchObject({ ...request, expiry: `${nextYear}T18:30:00.000+05:30`, status: 'ACTIVE' })
  expect(created.createdOn).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}\+05:30$/)
  expect(created.modifiedOn).toBe(created.createdOn)
  expect(payloadOf(await client.get(`/api/v0/qr-code/${created.qrCodeId}`))).toEqual(created)
})

test('whatever a merchant asks for, the QR doctor has no warning about the code, and its string says what its record says', async () => {
  const unit = fc.constantFrom(...'aZ9 \u3000\u200b\u202e\u2069🍵न+%@&#\'"', 'e\u0301')
  const request = fc.record(
    {
      qrName: fc
        .string({ unit, minLength: 1, maxLength: 100 })
        .map((text) => [...text].slice(0, 100).join('')),
      amount: fc.integer({ min: 1, max: 10_000_00 }).map((paise) => paise / 100),
      fixedAmount: fc.boolean(),
      multipleUse: fc.boolean(),
    },
    { requiredKeys: [] },
  )
  await fc.assert(
    fc.asyncProperty(request, async ({ fixedAmount = false, ...asked }) => {
      const fixed = fixedAmount && asked.amount !== undefined
      const code = payloadOf(await client.post('/api/v0/qr-code', { ...asked, fixedAmount: fixed }))
      const { findings, parts, text } = diagnose({ image: Buffer.from(code.qrCodeBase64, 'base64') })
      expect(findings.filter(({ ok }) => !ok)).toEqual([])
      expect(text).toBe(code.upiUri)
      expect(parts?.am).toBe(asked.amount?.toFixed(2))
      expect(parts?.mam).toBe(asked.amount === undefined || fixed ? undefined : '0.01')
      expect(parts?.mode).toBe(asked.multipleUse || asked.amount === undefined ? '01' : '15')
    }),
    { numRuns: 60 },
  )
})

test('a client without PATCH cancels by POST with X-HTTP-Method-Override, and no other method goes that way', async () => {
  const { qrCodeId } = payloadOf(await client.post('/api/v0/qr-code', {}))
  const cancel = (method: string) =>
    client.post(`/api/v0/qr-code/${qrCodeId}/cancel`, {}, { 'x-http-method-override': method })
  expect((await client.post(`/api/v0/qr-code/${qrCodeId}/cancel`, {})).status).toBe(405)
  expect(payloadOf(await cancel('patch')).status).toBe('CANCELLED')
  const other = await client.post('/api/v0/qr-code', {}, { 'X-HTTP-Method-Override': 'DELETE' })
  expect([other.status, other.error]).toEqual([400, 'bad_request'])
  const notice = Buffer.from('{"utr":"OVERRIDE0001","amount":10,"tr":"NOBODY"}')
  const rail = await service.client.send('POST', '/rails/upi/credits', notice, {
    'x-rail-signature': signNotice(notice, RAIL_KEY, Date.now()),
    'x-http-method-override': 'PATCH',
  })
  expect(rail.status).toBe(200)
})

test('cancelling twice returns what the first call returned', async () => {
  const { qrCodeId } = payloadOf(await client.post('/api/v0/qr-code', {}))
  const first = await client.patch(`/api/v0/qr-code/${qrCodeId}/cancel`, {})
  expect(payloadOf(first).status).toBe('CANCELLED')
  expect((await client.patch(`/api/v0/qr-code/${qrCodeId}/cancel`)).text).toBe(first.text)
})

test('minimumAmount is the mam of a suggested amount; a payment of less is refunded', async () => {
  const create = (fields: object) => client.post('/api/v0/qr-code', { multipleUse: true, ...fields })
  for (const [fields, rule] of [
    [{ amount: 100, minimumAmount: 100.01 }, 'must be at most amount'],
    [{ minimumAmount: 10 }, 'needs an amount that is not fixed'],
    [{ amount: 100, fixedAmount: true, minimumAmount: 10 }, 'needs an amount that is not fixed'],
  ] as const) {
    const { error, errorDescription } = await create(fields)
    expect([error, errorDescription]).toEqual(['validation_failed', `minimumAmount ${rule}`])
  }
  const code = payloadOf(await create({ amount: 100, minimumAmount: 40.5 }))
  expect(code).toMatchObject({ amount: 100, minimumAmount: 40.5 })
  const { findings, parts } = diagnose({ text: code.upiUri })
  expect(findings.filter(({ ok }) => !ok)).toEqual([])
  expect([parts?.am, parts?.mam]).toEqual(['100.00', '40.50'])
  const pay = async (amount: number) =>
    payloadOf(await service.client.post('/sandbox/upi/pay', { qrCodeId: code.qrCodeId, amount })).payment
  expect(await pay(40.49)).toMatchObject({ reason: 'amount_mismatch' })
  expect(await pay(40.5)).toMatchObject({ status: 'ACCEPTED' })
  const cancelled = await client.patch(`/api/v0/qr-code/${code.qrCodeId}/cancel`, {})
  expect(payloadOf(cancelled)).not.toHaveProperty('minimumAmount')
})

test('a reason of the cancellation is in its event and in our reads, never in the specified record', async () => {
  const { qrCodeId } = payloadOf(await client.post('/api/v0/qr-code', { qrName: 'Order', multipleUse: true }))
  const cancel = (body?: object) => client.patch(`/api/v0/qr-code/${qrCodeId}/cancel`, body)
  expect((await cancel({ reason: 5 })).error).toBe('validation_failed')
  const before = new Date(service.clock.now() - 1).toISOString()
  const first = await cancel({ reason: 'The table has left' })
  expect(payloadOf(first).status).toBe('CANCELLED')
  expect(first.text).not.toContain('The table has left')
  expect((await cancel({ reason: 'Another' })).text).toBe(first.text)
  expect((await cancel()).text).toBe(first.text)
  const read = async (query = '') => payloadOf(await client.get(`/api/v0/qr-code/${qrCodeId}${query}`))
  expect(await read()).toMatchObject({ cancelReason: 'The table has left' })
  const earlier = await read(`?asOf=${encodeURIComponent(before)}`)
  expect(earlier.status).toBe('ACTIVE')
  expect(earlier).not.toHaveProperty('cancelReason')
  const { data } = payloadOf(await client.post('/api/v0/qr-code/search', { status: 'CANCELLED', limit: 1 }))
  expect(data).toMatchObject([{ qrCodeId, cancelReason: 'The table has left' }])
  const events = async () =>
    payloadOf(await client.get('/api/v0/events?after=0&type=qr_code.cancelled')).data.filter(
      (event: Json) => event.data.qrCodeId === qrCodeId,
    )
  await expect
    .poll(events)
    .toMatchObject([{ data: { reason: 'cancelled', cancelReason: 'The table has left' } }])
})

test('a credit after the cancel is rejected, recorded and refunded', async () => {
  const { qrCodeId, tr } = await newCode({ multipleUse: true })
  payloadOf(await client.patch(`/api/v0/qr-code/${qrCodeId}/cancel`, {}))
  const notice = { utr: 'LATE0000001', tr, amount: 10, payerVpa: 'payer@bank' }
  const refused = payloadOf(await service.client.notify('/rails/upi/credits', notice, RAIL_KEY))
  expect(refused).toMatchObject({ status: 'REFUND_PENDING', reason: 'qr_code_cancelled', utr: 'LATE0000001' })
  payloadOf(await service.client.notify('/rails/upi/refunds', { utr: 'LATE0000001' }, RAIL_KEY))
  const { data, recordsCount } = payloadOf(await client.get(`/api/v0/qr-code/${qrCodeId}/payments`))
  expect(recordsCount).toBe(1)
  expect(data[0]).toMatchObject({
    utr: 'LATE0000001',
    amount: 10,
    status: 'REFUNDED',
    reason: 'qr_code_cancelled',
  })
})

async function newCode(request: object): Promise<{ qrCodeId: string; tr: string }> {
  const { qrCodeId } = payloadOf(await client.post('/api/v0/qr-code', request))
  const [row] = await service.app.services.database.read([merchant.merchantId], (tx) =>
    tx.query<{ tr: string }>({ name: 'test_tr', text: 'select tr from qr_codes where qr_code_id = $1' }, [
      qrCodeId,
    ]),
  )
  return { qrCodeId, tr: row!.tr }
}
