import { createHash, createHmac } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { readRailAdapters } from '@svc/contract/rail-adapters'
import { signNotice } from '@svc/server/http/notice-signature'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Client, type Json, payloadOf } from '../harness/client.ts'
import { newCode, newUtr } from '../harness/qr-codes.ts'
import { openService, RAIL_KEY, type TestService } from '../harness/service.ts'

let service: TestService
let shop: Client
beforeAll(async () => {
  const guide = await readFile(join(import.meta.dirname, '../../docs/guides/upi-rail.md'), 'utf8')
  service = await openService({
    env: { RAIL_ADAPTERS: /^## Banks with another format.*?^```json\n(.*?)^```/ms.exec(guide)![1]! },
  })
  shop = await service.as(await service.newMerchant())
})
afterAll(() => service.close())

type Notice = (utr: string, tr: string, status?: string) => [text: string, headers: Record<string, string>]

const hmac = (text: string, encoding: 'hex' | 'base64') =>
  createHmac('sha256', RAIL_KEY).update(text).digest(encoding)
const hash = (algorithm: string, text: string) => createHash(algorithm).update(text).digest('hex')

/** Notices as they are recorded in the documentation of payment services, with a reference of ours in them. */
const BANKS: Readonly<Record<string, Notice>> = {
  razorpay(utr, tr, status = 'captured') {
    const text = JSON.stringify({
      entity: 'event',
      account_id: 'acc_BFQ7uQEaa7j2z7',
      event: status === 'captured' ? 'payment.captured' : 'payment.failed',
      contains: ['payment'],
      payload: {
        payment: {
          entity: {
            id: 'pay_HMtDKsnQnF3N1d',
            entity: 'payment',
            amount: 24950,
            currency: 'INR',
            status,
            method: 'upi',
            vpa: 'gaurav.kumar@upi',
            notes: { tr },
            acquirer_data: { rrn: utr },
            created_at: 1795260208,
          },
        },
      },
      created_at: 1795260209,
    })
    return [text, { 'x-razorpay-signature': hmac(text, 'hex') }]
  },
  cashfree(utr, tr, status = 'SUCCESS') {
    const text = JSON.stringify({
      data: {
        order: { order_id: tr, order_amount: 249.5, order_currency: 'INR', order_tags: null },
        payment: {
          cf_payment_id: 975677709,
          payment_status: status,
          payment_amount: 249.5,
          payment_currency: 'INR',
          payment_message: 'Transaction Success',
          payment_time: '2026-11-21T16:53:28+05:30',
          bank_reference: utr,
          payment_method: { upi: { channel: null, upi_id: 'gaurav.kumar@upi' } },
          payment_group: 'upi',
        },
      },
      event_time: '2026-11-21T16:53:31+05:30',
      type: 'PAYMENT_SUCCESS_WEBHOOK',
    })
    const time = '1795260211000'
    return [text, { 'x-webhook-timestamp': time, 'x-webhook-signature': hmac(time + text, 'base64') }]
  },
  phonepe(utr, tr, status = 'COMPLETED') {
    const payload = {
      success: status === 'COMPLETED',
      code: 'PAYMENT_SUCCESS',
      message: 'Your payment is successful.',
      data: {
        merchantId: 'PGTESTPAYUAT',
        merchantTransactionId: tr,
        transactionId: 'T2111221437456190170379',
        amount: 24950,
        state: status,
        responseCode: 'SUCCESS',
        paymentInstrument: { type: 'UPI', utr },
      },
    }
    const response = Buffer.from(JSON.stringify(payload)).toString('base64')
    return [JSON.stringify({ response }), { 'x-verify': `${hash('sha256', response + RAIL_KEY)}###1` }]
  },
  payu(utr, tr, status = 'success') {
    const fields = {
      mihpayid: '403993715531077182',
      mode: 'UPI',
      status,
      key: 'JPM7Fg',
      txnid: tr,
      amount: '249.50',
      addedon: '2026-11-21 16:53:28',
      productinfo: 'Coffee & cake',
      firstname: 'Gaurav',
      email: 'gaurav@example.com',
      udf1: '',
      udf2: '',
      udf3: '',
      udf4: '',
      udf5: '',
      field1: 'gaurav.kumar@upi',
      bank_ref_num: utr,
    }
    const over = `${RAIL_KEY}|${status}|||||||||||${fields.email}|${fields.firstname}|${fields.productinfo}|${fields.amount}|${tr}|${fields.key}`
    return [new URLSearchParams({ ...fields, hash: hash('sha512', over) }).toString(), {}]
  },
  bank(utr, tr, status = 'SUCCESS') {
    const text = JSON.stringify({
      merchantId: '106161',
      subMerchantId: '12234',
      terminalId: '5411',
      BankRRN: utr,
      merchantTranId: `STQ${tr}`,
      PayerName: 'GAURAV KUMAR',
      PayerMobile: '0000000000',
      PayerVA: 'gaurav.kumar@upi',
      PayerAmount: '249.50',
      TxnStatus: status,
      TxnInitDate: '20261121165325',
      TxnCompletionDate: '20261121165328',
    })
    return [text, { 'x-rail-signature': signNotice(Buffer.from(text), RAIL_KEY, service.clock.now()) }]
  },
}

const send = (bank: string, [text, headers]: [string, Record<string, string>]) =>
  service.client.send('POST', `/rails/upi/credits?bank=${bank}`, text, {
    'content-type': 'application/json',
    ...headers,
  })

test.each([
  [{ captured: false }, 'captured'],
  [{ error_code: 'U30' }, 'error_code'],
  [{ refund_status: 'full' }, 'refund_status'],
  [
    { captured: true, error_code: null, refund_status: null, description: 'failed order', bank: null },
    undefined,
  ],
])('what stands beside the amount of an adapter counts: %j', async (beside, field) => {
  const { tr } = await newCode(service, shop)
  const utr = newUtr()
  const notice = JSON.parse(BANKS['razorpay']!(utr, tr)[0])
  Object.assign(notice.payload.payment.entity, beside)
  const text = JSON.stringify(notice)
  const { status, json } = await send('razorpay', [text, { 'x-razorpay-signature': hmac(text, 'hex') }])
  expect([status, (json as { payload: Json }).payload['field']]).toEqual([field ? 202 : 200, field])
})

test.each(Object.entries(BANKS))(
  'the adapter “%s” of the guide reads what such a bank sends',
  async (bank, notice) => {
    const { tr } = await newCode(service, shop)
    const utr = newUtr()
    const payment: Json = payloadOf(await send(bank, notice(utr, tr)))
    expect(payment).toMatchObject({ utr, amount: 249.5, status: 'ACCEPTED' })
    // PhonePe states neither.
    if (bank === 'phonepe') return
    expect(payment['payerVpa']).toBe('gaurav.kumar@upi')
    expect(new Date(payment.transactionOn).toISOString()).toBe('2026-11-21T11:23:28.000Z')
  },
)

test.each(Object.entries(BANKS))(
  'with “%s”, a notice that is not a credit is quarantined, a forged one is 401',
  async (bank, notice) => {
    const { tr } = await newCode(service, shop)
    const failed = await send(bank, notice(newUtr(), tr, 'FAILED'))
    expect([failed.status, failed.json.payload.reason]).toEqual([202, 'not_a_credit'])
    const [text, headers] = notice(newUtr(), tr)
    const forged = text.includes('249')
      ? text.replace('249', '259')
      : text.replace('response":"e', 'response":"f')
    expect(forged).not.toBe(text)
    expect((await send(bank, [forged, headers])).error).toBe('invalid_signature')
  },
)

test('a bank without an adapter must sign as the service’s own notices are signed', async () => {
  const { tr } = await newCode(service, shop)
  expect((await send('unknown', BANKS['razorpay']!(newUtr(), tr))).error).toBe('invalid_signature')
})

test.each(['gatway', 'constructor', '', 'x'.repeat(33), 'bank%00', 'bank&bank=bank', 'bank&bank='])(
  'a notice from a bank unknown to the settings is quarantined, since its unit is unknown: “%s”',
  async (bank) => {
    const { tr } = await newCode(service, shop)
    const text = JSON.stringify({ utr: newUtr(), tr, amount: 24950 })
    const signature = signNotice(Buffer.from(text), RAIL_KEY, service.clock.now())
    const kept = await send(bank, [text, { 'x-rail-signature': signature }])
    expect([kept.status, kept.json.payload.reason]).toEqual([202, 'unknown_bank'])
  },
)

test('a bank is identified by its name in the query, whatever else the query contains', async () => {
  const { tr } = await newCode(service, shop)
  const [text, headers] = BANKS['razorpay']!(newUtr(), tr)
  const path = `/rails/upi/credits?${'source=prod&'.repeat(150)}bank=razorpay&Bank=bank`
  expect(payloadOf(await service.client.send('POST', path, text, headers))).toMatchObject({
    amount: 249.5,
    status: 'ACCEPTED',
  })
})

test('the status and currency beside the amount count, whatever the event says', async () => {
  const { tr } = await newCode(service, shop)
  const [text] = BANKS['razorpay']!(newUtr(), tr)
  const sendSigned = (changed: string) =>
    send('razorpay', [changed, { 'x-razorpay-signature': hmac(changed, 'hex') }])
  const dollars = await sendSigned(text.replace('"INR"', '"USD"'))
  expect([dollars.status, dollars.json.payload]).toEqual([
    202,
    expect.objectContaining({ reason: 'not_in_rupees', field: 'payload.payment.entity.currency' }),
  ])
  const beside = await sendSigned(
    text.replace('"status"', '"base_currency":"USD","txn_currency":"USD","status"'),
  )
  expect(beside.json.payload).toMatchObject({ reason: 'not_in_rupees', field: 'txn_currency' })
  const failed = await sendSigned(text.replace('"captured"', '"failed"'))
  expect(failed.json.payload).toMatchObject({
    reason: 'not_a_credit',
    field: 'payload.payment.entity.status',
  })
  const ignored = await sendSigned(text.replace('payment.captured', 'order.paid'))
  expect([ignored.status, ignored.json.payload.status]).toEqual([200, 'IGNORED'])
})

test.each([
  ['{', 'is not JSON'],
  ['[]', 'is not an object'],
  ['{"Bank":{}}', 'Bank must be a name'],
  ['{"b":{"field":1}}', 'b.field is not known'],
  ['{"b":{"fields":{"utr":"u"}}}', 'b.fields.amount must be a text'],
  ['{"b":{"fields":{"utr":"u","amount":"a"}}}', 'b.signature must be an object'],
  ['{"b":{"fields":{"utr":"u","amount":"a"},"time":"yy-dd","signature":{}}}', 'b.time must be'],
  [
    '{"b":{"fields":{"utr":"u","amount":"a"},"signature":{"header":"h","digest":"sha256","over":"{secret}"}}}',
    'b.signature.over must contain {body} or {field:',
  ],
  [
    '{"b":{"fields":{"utr":"u","amount":"a"},"signature":{"header":"h","digest":"sha256","over":"{body}"}}}',
    'must contain {secret}',
  ],
])('an adapter that cannot be used is refused with its place: %s', (text, message) =>
  expect(() => readRailAdapters(text)).toThrow(message),
)
