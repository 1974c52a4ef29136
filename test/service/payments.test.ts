import { setTimeout as sleep } from 'node:timers/promises'
import { reconcile } from '@svc/core/ledger/reconcile'
import { PAYMENT_CHECKS } from '@svc/core/payments/reconcile-payments'
import { setMerchantDisabled } from '@svc/core/tenants/merchant'
import { calendarDay } from '@svc/kernel/time'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { type Client, type Json, payloadOf } from '../harness/client.ts'
import { cancel, creditOf, newCode, newUtr, notifyCredit, type TestCode } from '../harness/qr-codes.ts'
import { asSuperuser, openService, RAIL_KEY, type TestService } from '../harness/service.ts'

const NEXT_KEY = 'the-rail-key-that-comes-after-0123456789'

let service: TestService
let client: Client

beforeAll(async () => {
  service = await openService({
    env: { QR_AMOUNT_CAPS: 'default=100000,5411=500', UPI_RAIL_KEYS: `${RAIL_KEY},${NEXT_KEY}` },
  })
  client = await service.as(await service.newMerchant())
})
afterAll(() => service.close())

const pay = async (code: TestCode, amount: number): Promise<Json> =>
  payloadOf(await notifyCredit(service.client, creditOf(code.tr, { amount })))
const paymentsOf = async ({ qrCodeId }: TestCode): Promise<Json[]> =>
  payloadOf(await client.get(`/api/v0/qr-code/${qrCodeId}/payments`)).data
const refused = (reason: string) => ({ status: 'REFUND_PENDING', reason })

test('a multiple-use code accepts any number of payments of any amount', async () => {
  const code = await newCode(service, client, { multipleUse: true })
  for (const amount of [0.01, 1, 499.99, 500])
    expect(await pay(code, amount)).toMatchObject({ status: 'ACCEPTED', amount })
  expect((await paymentsOf(code)).map(({ amount }) => amount)).toEqual([500, 499.99, 1, 0.01])
})

test('a fixed amount is accepted exact to the paisa only, one more or less is refunded', async () => {
  const code = await newCode(service, client, { multipleUse: true, fixedAmount: true, amount: 249.5 })
  expect(await pay(code, 249.49)).toMatchObject(refused('amount_mismatch'))
  expect(await pay(code, 249.51)).toMatchObject(refused('amount_mismatch'))
  expect(await pay(code, 249.5)).toMatchObject({ status: 'ACCEPTED' })
})

test('a suggested amount is not required', async () => {
  const code = await newCode(service, client, { multipleUse: true, amount: 100 })
  for (const amount of [99.99, 100, 100.01])
    expect(await pay(code, amount)).toMatchObject({ status: 'ACCEPTED' })
})

test('a payment over the cap of the merchant’s category is refunded, one equal to the cap is accepted', async () => {
  const code = await newCode(service, client, { multipleUse: true })
  expect(await pay(code, 500.01)).toMatchObject(refused('amount_over_limit'))
  expect(await pay(code, 500)).toMatchObject({ status: 'ACCEPTED' })
})

test('a single-use code accepts one payment and is cancelled by it', async () => {
  const code = await newCode(service, client)
  expect(await pay(code, 10)).toMatchObject({ status: 'ACCEPTED' })
  expect(payloadOf(await client.get(`/api/v0/qr-code/${code.qrCodeId}`)).status).toBe('CANCELLED')
  expect(await pay(code, 10)).toMatchObject(refused('qr_code_used'))
})

test('a rejected payment does not use up a single-use code', async () => {
  const code = await newCode(service, client, { fixedAmount: true, amount: 5 })
  expect(await pay(code, 6)).toMatchObject(refused('amount_mismatch'))
  expect(await pay(code, 5)).toMatchObject({ status: 'ACCEPTED' })
})

test('an expired code stays ACTIVE, accepts no payment, and can still be cancelled', async () => {
  const own = await openService()
  const merchant = await own.as(await own.newMerchant())
  const code = await newCode(own, merchant, {
    multipleUse: true,
    expiry: new Date(Date.now() + 60_000).toISOString(),
  })
  expect(payloadOf(await notifyCredit(own.client, creditOf(code.tr))).status).toBe('ACCEPTED')
  own.clock.advance(60_001)
  expect(payloadOf(await notifyCredit(own.client, creditOf(code.tr), own.clock.now()))).toMatchObject(
    refused('qr_code_expired'),
  )
  expect(payloadOf(await merchant.get(`/api/v0/qr-code/${code.qrCodeId}`)).status).toBe('ACTIVE')
  expect(payloadOf(await cancel(merchant, code.qrCodeId)).status).toBe('CANCELLED')
  await own.close()
})

test('codes of a disabled merchant accept no payment until it is enabled', async () => {
  const merchant = await service.newMerchant()
  const code = await newCode(service, await service.as(merchant), { multipleUse: true })
  const { database } = service.app.services
  await database.operate((tx) => setMerchantDisabled(tx, merchant.merchantId, true))
  expect(await pay(code, 10)).toMatchObject(refused('merchant_disabled'))
  await database.operate((tx) => setMerchantDisabled(tx, merchant.merchantId, false))
  expect(await pay(code, 10)).toMatchObject({ status: 'ACCEPTED' })
})

test('a credit whose reference matches no code is held in suspense', async () => {
  const credit = creditOf('NOSUCHREFERENCE')
  expect(payloadOf(await notifyCredit(service.client, credit))).toMatchObject({
    status: 'SUSPENSE',
    reason: 'unknown_code',
    utr: credit.utr,
  })
})

test('a repeated notice gets the same bytes, one that contradicts it is quarantined and changes nothing', async () => {
  const [code, other] = [await newCode(service, client), await newCode(service, client)]
  const credit = creditOf(code.tr)
  const first = await notifyCredit(service.client, credit)
  for (let i = 0; i < 3; i++) expect((await notifyCredit(service.client, credit)).text).toBe(first.text)
  for (const lie of [
    { amount: 10.01 },
    { payerVpa: 'other@bank' },
    { tr: other.tr },
    { tr: 'NOSUCHREFERENCE' },
  ])
    expect(await notifyCredit(service.client, { ...credit, ...lie })).toMatchObject({
      status: 202,
      json: { payload: { status: 'QUARANTINED', reason: 'contradicts_earlier_notice' } },
    })
  expect(await paymentsOf(code)).toHaveLength(1)
  expect(await paymentsOf(other)).toHaveLength(0)
})

test('the return of a credit is recorded once; a notice of another credit, or with another amount, is quarantined', async () => {
  const own = await openService({ background: false })
  onTestFinished(() => own.close())
  const tenant = await own.as(await own.newMerchant())
  const code = await newCode(own, tenant)
  const pay = async (): Promise<Json> => payloadOf(await notifyCredit(own.client, creditOf(code.tr)))
  const [taken, late] = [await pay(), await pay()]
  const confirm = (utr: string, more: object = {}) =>
    own.client.notify('/rails/upi/refunds', { utr, ...more }, RAIL_KEY)
  const kept = [
    [await confirm(taken.utr), 'payment_accepted'],
    [await confirm('NEVERSEEN01'), 'unknown_payment'],
    [await confirm(late.utr, { amount: 9 }), 'contradicts_earlier_notice'],
    [await confirm(late.utr, { amount: 'ten' }), 'amount_unreadable'],
  ] as const
  for (const [response, reason] of kept)
    expect(response).toMatchObject({ status: 202, json: { payload: { status: 'QUARANTINED', reason } } })
  const notices = await asSuperuser(own.db.database, (db) =>
    db.query(
      `select utr, payment_id, reason from rail_notices where flags @> '{refund_notice}' order by reason`,
    ),
  )
  expect(notices.rows).toEqual([
    { utr: late.utr, payment_id: null, reason: 'amount_unreadable' },
    { utr: late.utr, payment_id: late.paymentId, reason: 'contradicts_earlier_notice' },
    { utr: taken.utr, payment_id: taken.paymentId, reason: 'payment_accepted' },
    { utr: 'NEVERSEEN01', payment_id: null, reason: 'unknown_payment' },
  ])
  const { data } = payloadOf(await tenant.get(`/api/v0/qr-code/${code.qrCodeId}/payments`))
  expect(data.map(({ status }: Json) => status)).toEqual(['REFUND_PENDING', 'ACCEPTED'])
  const first = await confirm(late.utr, { amount: '10.00' })
  expect(payloadOf(first)).toMatchObject({ status: 'REFUNDED', reason: 'qr_code_used' })
  expect((await confirm(late.utr)).text).toBe(first.text)
})

test('a notice must be signed with a live key over its exact bytes; no age rejects it', async () => {
  const { tr } = await newCode(service, client, { multipleUse: true })
  const notify = (key: string, nowMs = Date.now()) =>
    service.client.notify('/rails/upi/credits', creditOf(tr), key, nowMs)
  for (const key of [RAIL_KEY, NEXT_KEY]) expect(payloadOf(await notify(key)).status).toBe('ACCEPTED')
  const unsigned = [
    await service.client.post('/rails/upi/credits', creditOf(tr)),
    await notify('a-key-that-was-never-live-0123456789'),
    await service.client.post('/rails/upi/credits', creditOf(tr), { 'x-rail-signature': 't=1,v1=00' }),
  ]
  for (const response of unsigned) expect(response).toMatchObject({ status: 401, error: 'invalid_signature' })
  for (const ms of [-301_000, -30 * 86_400_000, 301_500])
    expect(payloadOf(await notify(RAIL_KEY, Date.now() + ms)).status).toBe('ACCEPTED')
})

const sandboxPay = async (body: object): Promise<Json> =>
  payloadOf(await service.client.post('/sandbox/upi/pay', body))

test('the sandbox pays by id and by the scanned string, and returns rejected credits at once', async () => {
  const code = await newCode(service, client, { amount: 12.5 })
  expect(await sandboxPay({ qrCodeId: code.qrCodeId })).toMatchObject({
    outcome: 'NOTIFIED',
    payment: { status: 'ACCEPTED', amount: 12.5 },
  })
  const upi = `upi://pay?pa=shop@bank&pn=Shop&tr=${code.tr}&am=12.50&cu=INR`
  expect(await sandboxPay({ upi })).toMatchObject({
    outcome: 'NOTIFIED',
    payment: { status: 'REFUNDED', reason: 'qr_code_used' },
  })
})

test.each([{ amount: 100.91 }, { amount: 5, payerVpa: 'declined@sandbox' }])(
  'the sandbox declines %o: no credit, no notice',
  async (magic) => {
    const code = await newCode(service, client)
    expect(await sandboxPay({ qrCodeId: code.qrCodeId, ...magic })).toMatchObject({
      outcome: 'DECLINED',
      notices: 0,
    })
    expect(await paymentsOf(code)).toEqual([])
  },
)

test.each([{ amount: 100.93 }, { amount: 5, payerVpa: 'duplicated@sandbox' }, { amount: 5, duplicates: 2 }])(
  'the sandbox notifies %o three times, which is one payment',
  async (magic) => {
    const code = await newCode(service, client, { multipleUse: true })
    expect(await sandboxPay({ qrCodeId: code.qrCodeId, ...magic })).toMatchObject({
      outcome: 'NOTIFIED',
      notices: 3,
      payment: { status: 'ACCEPTED' },
    })
    expect(await paymentsOf(code)).toHaveLength(1)
  },
)

test.each([
  { amount: 100.92 },
  { amount: 5, payerVpa: 'delayed@sandbox' },
  { amount: 100.94 },
  { amount: 5, payerVpa: 'late@sandbox' },
])('the sandbox withholds the notice of %o', async (magic) => {
  const code = await newCode(service, client)
  const held = await sandboxPay({ qrCodeId: code.qrCodeId, ...magic })
  expect(held).toMatchObject({ outcome: 'HELD', notices: 1 })
  expect(Date.parse(held.dueOn)).toBeGreaterThan(Date.now())
  expect(await paymentsOf(code)).toEqual([])
})

test('a withheld notice survives a restart, and is refunded when its code was cancelled meanwhile', async () => {
  const first = await openService()
  const merchant = await first.newMerchant()
  const [kept, dead] = [
    await newCode(first, await first.as(merchant)),
    await newCode(first, await first.as(merchant)),
  ]
  for (const { qrCodeId } of [kept, dead])
    payloadOf(
      await first.client.post('/sandbox/upi/pay', { qrCodeId, amount: 10, delayMs: 600_000, utr: newUtr() }),
    )
  await cancel(await first.as(merchant), dead.qrCodeId)
  await first.close()
  await asSuperuser(first.db.database, async (db) =>
    expect((await db.query('update sandbox_upi_notices set due_at = clock_timestamp()')).rowCount).toBe(2),
  )
  const second = await openService({ db: first.db })
  const again = await second.as(merchant)
  const settled = async (code: TestCode): Promise<Json> => {
    for (;;) {
      const { data } = payloadOf(await again.get(`/api/v0/qr-code/${code.qrCodeId}/payments`))
      if (data[0] && data[0].status !== 'REFUND_PENDING') return data
      await sleep(50)
    }
  }
  expect(await settled(kept)).toMatchObject([{ status: 'ACCEPTED', amount: 10 }])
  expect(await settled(dead)).toMatchObject([{ status: 'REFUNDED', reason: 'qr_code_cancelled' }])
  await second.close()
})

// Found by the simulation: seed 8, 1500 steps.
test('a clock set back between a payment and the cancel does not date the cancel before the payment', async () => {
  const own = await openService()
  try {
    const merchant = await own.as(await own.newMerchant())
    const code = await newCode(own, merchant, { multipleUse: true })
    const day = 86_400_000
    own.clock.advance(day)
    const ahead = await own.client.notify('/rails/upi/credits', creditOf(code.tr), RAIL_KEY, own.clock.now())
    own.clock.advance(-day)
    const cancelled = payloadOf(await cancel(merchant, code.qrCodeId))
    expect(Date.parse(cancelled.modifiedOn)).toBeGreaterThanOrEqual(Date.parse(payloadOf(ahead).createdOn))
    const { checks } = await reconcile(own.app.services.database, PAYMENT_CHECKS)
    expect(checks.filter(({ ok }) => !ok)).toEqual([])
  } finally {
    await own.close()
  }
})

test('a credit is in the books of the day of the payer’s bank, never of a day to come', async () => {
  const DAY = 86_400_000
  const merchant = await service.as(await service.newMerchant())
  const code = await newCode(service, merchant, { multipleUse: true })
  const dayOf = (ms: number) => calendarDay(new Date(ms), 'Asia/Kolkata')
  for (const [transactionMs, expected] of [
    [Date.now() - 3 * DAY, dayOf(Date.now() - 3 * DAY)],
    [Date.now() + DAY - 60_000, undefined],
  ] as const) {
    const transactionTime = new Date(transactionMs).toISOString()
    const notice = { ...creditOf(code.tr), transactionTime }
    const { paymentId } = payloadOf(await service.client.notify('/rails/upi/credits', notice, RAIL_KEY))
    const { rows } = await asSuperuser(service.db.database, (db) =>
      db.query(
        `select j.effective_date::text as day, j.at from journals j join ledger_transfers t using (tenant_id, journal_id)
         where t.object_id = $1`,
        [paymentId],
      ),
    )
    expect(rows).toEqual([{ day: expected ?? dayOf(rows[0].at.getTime()), at: expect.any(Date) }])
  }
})
