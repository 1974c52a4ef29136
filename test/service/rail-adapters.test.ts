import { createHmac } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
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

/** Notices as they are recorded in the documentation of payment services, with a reference of ours in them. */
const BANKS: Record<
  string,
  (utr: string, tr: string, event?: string) => [text: string, headers: Record<string, string>]
> = {
  gateway(utr, tr, event = 'payment.captured') {
    const text = JSON.stringify({
      entity: 'event',
      account_id: 'acc_BFQ7uQEaa7j2z7',
      event,
      contains: ['payment'],
      payload: {
        payment: {
          entity: {
            id: 'pay_HMtDKsnQnF3N1d',
            entity: 'payment',
            amount: 24950,
            currency: 'INR',
            status: 'captured',
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
    return [text, { 'x-razorpay-signature': createHmac('sha256', RAIL_KEY).update(text).digest('hex') }]
  },
  bank(utr, tr, status = 'SUCCESS') {
    const text = JSON.stringify({
      merchantId: '106161',
      subMerchantId: '12234',
      terminalId: '5411',
      BankRRN: utr,
      merchantTranId: tr,
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

test.each(Object.entries(BANKS))(
  'the adapter “%s” of the guide reads what such a bank sends',
  async (bank, notice) => {
    const { tr } = await newCode(service, shop)
    const utr = newUtr()
    const payment: Json = payloadOf(await send(bank, notice(utr, tr)))
    expect(payment).toMatchObject({ utr, amount: 249.5, status: 'ACCEPTED', payerVpa: 'gaurav.kumar@upi' })
    expect(new Date(payment.transactionOn).toISOString()).toBe('2026-11-21T11:23:28.000Z')
  },
)

test.each(Object.entries(BANKS))(
  'with “%s”, a notice that is not a credit is quarantined, a forged one is 401',
  async (bank, notice) => {
    const { tr } = await newCode(service, shop)
    const failed = await send(bank, notice(newUtr(), tr, 'FAILURE'))
    expect([failed.status, failed.json.payload.reason]).toEqual([202, 'not_a_credit'])
    const [text, headers] = notice(newUtr(), tr)
    expect((await send(bank, [text.replace('24', '25'), headers])).error).toBe('invalid_signature')
  },
)

test('a bank without an adapter must sign as the service’s own notices are signed', async () => {
  const { tr } = await newCode(service, shop)
  expect((await send('unknown', BANKS['gateway']!(newUtr(), tr))).error).toBe('invalid_signature')
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
  const [text, headers] = BANKS['gateway']!(newUtr(), tr)
  const path = `/rails/upi/credits?${'source=prod&'.repeat(150)}bank=gateway&Bank=bank`
  expect(payloadOf(await service.client.send('POST', path, text, headers))).toMatchObject({
    amount: 249.5,
    status: 'ACCEPTED',
  })
})
