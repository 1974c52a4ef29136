import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Client, type Json, payloadOf } from '../harness/client.ts'
import { cancel, creditOf, newCode, newUtr, notifyCredit } from '../harness/qr-codes.ts'
import {
  asSuperuser,
  openService,
  RAIL_KEY,
  type TestMerchant,
  type TestService,
} from '../harness/service.ts'

let service: TestService
let merchant: TestMerchant
let shop: Client
let records: Json[]

const PATH = '/api/v0/payments'
const pay = async (tr: string, rest = {}): Promise<Json> =>
  payloadOf(await notifyCredit(service.client, creditOf(tr, rest)))
const idsOf = async (query: string, client = shop): Promise<string[]> =>
  payloadOf(await client.get(`${PATH}${query}`)).data.map(({ paymentId }: Json) => paymentId)

beforeAll(async () => {
  // Live mode has no simulated bank, which would return the refused credits meanwhile.
  service = await openService({ env: { SVC_MODE: 'live' } })
  merchant = await service.newMerchant()
  shop = await service.as(merchant)
  const order = { referenceNumber: 'order-1', customParams: { till: '7' }, multipleUse: true }
  const [first, second] = [await newCode(service, shop, order), await newCode(service, shop)]
  await pay(first.tr, { amount: 10.5 })
  await pay(second.tr)
  await cancel(shop, first.qrCodeId)
  await pay(first.tr, { amount: 7 })
  await pay('fits no code', { payeeVpa: merchant.vpa.toUpperCase() })
  records = payloadOf(await shop.get(PATH)).data
})
afterAll(() => service.close())

test('payments of all codes are listed newest first, each with its code’s reference and parameters', () => {
  expect(records.map(({ status, amount }) => [status, amount])).toEqual([
    ['SUSPENSE', 10],
    ['REFUND_PENDING', 7],
    ['ACCEPTED', 10],
    ['ACCEPTED', 10.5],
  ])
  for (const record of [records[1], records[3]])
    expect(record).toMatchObject({ referenceNumber: 'order-1', customParams: { till: '7' } })
  expect(records[2]).not.toHaveProperty('referenceNumber')
})

test('each payment is found by its id and by every filter, alone and together with others', async () => {
  const [suspended, late, single, paid] = records as [Json, Json, Json, Json]
  for (const record of records)
    expect(payloadOf(await shop.get(`${PATH}/${record.paymentId}`))).toEqual(record)
  const found: Record<string, Json[]> = {
    [`?utr=${late.utr}`]: [late],
    '?referenceNumber=order-1': [late, paid],
    [`?qrCodeId=${single.qrCodeId}`]: [single],
    '?status=ACCEPTED': [single, paid],
    '?status=SUSPENSE': [suspended],
    '?status=ACCEPTED&referenceNumber=order-1': [paid],
    [`?utr=${late.utr}&status=ACCEPTED`]: [],
    '?referenceNumber=none': [],
    [`?from=${encodeURIComponent(single.createdOn)}`]: [suspended, late, single],
    [`?to=${encodeURIComponent(single.createdOn)}`]: [paid],
  }
  for (const [query, wanted] of Object.entries(found))
    expect([query, await idsOf(query)]).toEqual([query, wanted.map(({ paymentId }) => paymentId)])
  expect((await shop.get(`${PATH}?from=yesterday`)).error).toBe('validation_failed')
})

test('pages of one payment each return all of them once', async () => {
  const seen: string[] = []
  for (let next: string | undefined = ''; next !== undefined; ) {
    const page: Json = payloadOf(await shop.get(`${PATH}?limit=1${next && `&after=${next}`}`))
    seen.push(...page.data.map(({ paymentId }: Json) => paymentId))
    next = page.next
  }
  expect(seen).toEqual(records.map(({ paymentId }) => paymentId))
})

test('a merchant finds no payment of another one, with any filter', async () => {
  const outsider = await service.as(await service.newMerchant())
  const [{ paymentId, utr, qrCodeId }] = records.slice(1) as [Json]
  expect((await outsider.get(`${PATH}/${paymentId}`)).error).toBe('payment_not_found')
  for (const query of ['', `?utr=${utr}`, `?qrCodeId=${qrCodeId}`, '?referenceNumber=order-1'])
    expect(await idsOf(query, outsider)).toEqual([])
})

test('the CSV of a filter has the records of its list, quoted, with corrected amounts, and no formula for a spreadsheet', async () => {
  const tenant = await service.as(await service.newMerchant())
  const tricky = { referenceNumber: '=1+1,"x"', customParams: { note: 'a,b' }, multipleUse: true }
  const { qrCodeId, tr } = await newCode(service, tenant, tricky)
  const record = await pay(tr, { amount: 1234.5 })
  await pay(tr)
  const response = await tenant.send('GET', `${PATH}?utr=${record.utr}`, undefined, { accept: 'text/csv' })
  expect(response.headers['content-type']).toBe('text/csv; charset=utf-8')
  expect(response.text.split('\r\n')).toEqual([
    'paymentId,utr,qrCodeId,referenceNumber,amount,status,reason,payerVpa,createdOn,refundedOn,customParams,refundedAmount,adjustedAmount',
    `${record.paymentId},${record.utr},${qrCodeId},"'=1+1,""x""",1234.50,ACCEPTED,,"payer@bank",${record.createdOn},,"{""note"":""a,b""}",0.00,`,
    '',
  ])
  await asSuperuser(service.db.database, (db) =>
    db.query(
      `begin; set local session_replication_role = replica;
       update payments set adjusted_paise = -34.50 * 100 where payment_id = '${record.paymentId}'; commit`,
    ),
  )
  const path = `${PATH}?utr=${record.utr}`
  const { text } = await tenant.send('GET', path, undefined, { accept: 'text/csv' })
  expect(text.split('\r\n')[1]).toMatch(/,0\.00,1200\.00$/)
  const whole = await tenant.send('GET', PATH, undefined, { accept: 'text/csv' })
  expect(whole.text.split('\r\n')).toHaveLength(4)
  const paged = await tenant.send('GET', `${PATH}?limit=1`, undefined, { accept: 'text/csv' })
  expect(paged.error).toBe('validation_failed')
})

test('a CSV of several pages has every payment once', async () => {
  const own = await service.newMerchant()
  const tenant = await service.as(own)
  const { qrCodeId } = await newCode(service, tenant, { multipleUse: true })
  await asSuperuser(service.db.database, (db) =>
    db.query(
      `insert into payments (payment_id, merchant_id, qr_code_id, utr, tr, amount_paise, payer_vpa, status, created_at)
       select 'pay_' || lpad(n::text, 26, '0'), $1, $2, $3 || n, 'x', n, 'p@bank', 'ACCEPTED', now() - n / 7 * interval '1 s'
       from generate_series(1, 12000) n`,
      [own.merchantId, qrCodeId, newUtr()],
    ),
  )
  const { text } = await tenant.send('GET', PATH, undefined, { accept: 'text/csv' })
  const ids = text
    .split('\r\n')
    .slice(1, -1)
    .map((line) => line.split(',')[0])
  expect([ids.length, new Set(ids).size]).toEqual([12_000, 12_000])
})

test('a merchant is notified of a late credit when it arrives, and of its refund', async () => {
  const own = await service.newMerchant()
  const tenant = await service.as(own)
  const { qrCodeId, tr } = await newCode(service, tenant, { referenceNumber: 'late-1' })
  await cancel(tenant, qrCodeId)
  const { utr, paymentId } = await pay(tr)
  const events = async (): Promise<Json[]> =>
    payloadOf(await tenant.get('/api/v0/events?after=0')).data.slice(2)
  const data = { paymentId, utr, qrCodeId, referenceNumber: 'late-1', reason: 'qr_code_cancelled' }
  await expect.poll(events).toMatchObject([{ type: 'payment.refund_pending', data }])
  payloadOf(await service.client.notify('/rails/upi/refunds', { utr }, RAIL_KEY))
  await expect
    .poll(events)
    .toMatchObject([{ type: 'payment.refund_pending' }, { type: 'payment.refunded', data }])
})
