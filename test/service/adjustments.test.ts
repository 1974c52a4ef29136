import { adjustPayment } from '@svc/core/payments/adjustments/adjust-payment'
import { preparePayout } from '@svc/core/payments/payouts/prepare-payout'
import { resolveSuspense } from '@svc/core/payments/suspense/resolve-suspense'
import { paise } from '@svc/kernel/money'
import { calendarDay } from '@svc/kernel/time'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { runHere } from '../harness/cli.ts'
import { type Json, payloadOf } from '../harness/client.ts'
import { type Browser, signedIn } from '../harness/console.ts'
import { newDispute, notifyDispute, utrOf } from '../harness/disputes.ts'
import { operatorsOf } from '../harness/operators.ts'
import { giveAccount } from '../harness/payouts.ts'
import { creditOf, newUtr, notifyCredit } from '../harness/qr-codes.ts'
import { balancesOf, brokenIn, newShop, type Shop, shopWith } from '../harness/refunds.ts'
import { asSuperuser, MASTER_KEY, openService, type TestService } from '../harness/service.ts'
import { recordSettlement } from '../harness/settlements.ts'

let service: TestService
let other: TestService
let asha: Browser
let ravi: Browser
beforeAll(async () => {
  const env = { APPROVAL_ABOVE_RUPEES: '1000' }
  service = await openService({ background: false, env })
  other = await openService({ background: false, env, db: service.db })
  ;[asha, ravi] = [await signedIn(service, 'operator'), await signedIn(service, 'operator')]
})
afterAll(async () => {
  expect(await brokenIn(service)).toEqual([])
  await other?.close()
  await service?.close()
})

const today = () => calendarDay(new Date(), 'Asia/Kolkata')
let letters = 0
const newLetter = (): string => `HDFCL${String(++letters).padStart(7, '0')}`

const adjust = (by: Browser, { paymentId }: Shop, amount: number, reference = newLetter()) =>
  by.post(`/payments/${paymentId}/adjustments`, { amount, reference, reason: 'letter of the bank' })
const run = (on: TestService, { merchantId, paymentId }: Shop, amount: bigint, reference = newLetter()) =>
  operatorsOf(on.app.services.commands)
    .open(adjustPayment)
    .run({ merchantId, paymentId, amountPaise: paise(amount), reference, reason: 'letter' })
const paymentOf = async ({ client, paymentId }: Shop, query = ''): Promise<Json> =>
  payloadOf(await client.get(`/api/v0/payments/${paymentId}${query}`))
const settle = async (shop: Shop, amount: bigint) => {
  const utr = await utrOf(service, shop.paymentId)
  return recordSettlement(service.app.services.commands, `stf_${utr.toLowerCase()}`, [
    { utr, line: 1, amountPaise: paise(amount), settledOn: today() },
  ])
}
const prepare = async ({ merchantId }: Shop) =>
  (
    await operatorsOf(service.app.services.commands)
      .open(preparePayout)
      .run({ merchantId, businessDay: today(), preparedBy: 'operator asha', isEarly: true })
  ).payout
const statementOf = async ({ merchantId }: Shop): Promise<Json> => {
  const args = ['admin', 'payout', 'statement', merchantId, '--date', today(), '--json']
  return JSON.parse((await runHere(args, settings())).stdout)
}
const settings = () => ({
  DATABASE_URL: service.db.url,
  SVC_MASTER_KEY: MASTER_KEY,
  APPROVAL_ABOVE_RUPEES: '1000',
})

test('a payment of a wrong amount is corrected by the difference and keeps the amount of its notice', async () => {
  const shop = await shopWith(service, 249.5)
  const reference = newLetter()
  const first = await adjust(asha, shop, 249, reference)
  expect(first).toMatchObject({ status: 200, json: { amount: 249, change: -0.5, reference } })
  expect(await balancesOf(service, shop.merchantId)).toEqual({ upi_clearing: '-24900', payable: '24900' })
  const payment = await paymentOf(shop)
  expect(payment).toMatchObject({ amount: 249.5, adjustedAmount: 249, status: 'ACCEPTED' })
  const { adjustmentId } = first.json
  expect(payment['adjustments']).toMatchObject([{ adjustmentId, amount: 249, change: -0.5, reference }])
  // The reason is for operators.
  expect(payment['adjustments'][0]).not.toHaveProperty('reason')
  expect(payloadOf(await shop.client.get('/api/v0/payments')).data[0].adjustedAmount).toBe(249)
  const spelled = `${reference.slice(0, 5).toLowerCase()}-${reference.slice(5)}`
  expect((await adjust(ravi, shop, 249, spelled)).json.adjustmentId).toBe(adjustmentId)
  expect((await adjust(asha, shop, 248, reference)).error).toBe('adjustment_reference_used')
  const second = await adjust(asha, shop, 251)
  expect(second.json).toMatchObject({ change: 2 })
  expect(await balancesOf(service, shop.merchantId)).toEqual({ upi_clearing: '-25100', payable: '25100' })
  expect((await paymentOf(shop))['adjustments']).toHaveLength(2)
  const events = await asSuperuser(service.db.database, (db) =>
    db.query(`select payload from outbox where object_id = $1 and type = 'payment.adjusted'`, [
      shop.paymentId,
    ]),
  )
  expect(events.rows[0].payload).toMatchObject({
    amount: 249.5,
    adjustedAmount: 249,
    adjustment: { adjustmentId, reference },
  })
})

test('an as-of view shows a payment without later adjustments', async () => {
  const shop = await shopWith(service, 10)
  const before = new Date().toISOString()
  await run(service, shop, 9_00n)
  const then = await paymentOf(shop, `?asOf=${encodeURIComponent(before)}`)
  expect(then).not.toHaveProperty('adjustedAmount')
  expect(then).not.toHaveProperty('adjustments')
})

test('a settlement line that differed is matched by the adjustment, and a later one by the corrected amount', async () => {
  const listed = await shopWith(service, 249.5)
  await settle(listed, 249_00n)
  await run(service, listed, 249_00n)
  expect(await balancesOf(service, listed.merchantId)).toEqual({ bank: '-24900', payable: '24900' })
  const detail = (await asha.get(`/payments/${listed.paymentId}`)).json
  expect(detail.settlement).toMatchObject({ status: 'MATCHED', amount: '249.00' })
  const later = await shopWith(service, 249.5)
  await run(service, later, 249_00n)
  await settle(later, 249_00n)
  expect(await balancesOf(service, later.merchantId)).toEqual({ bank: '-24900', payable: '24900' })
  for (const shop of [listed, later]) {
    const { rows } = await asSuperuser(service.db.database, (db) =>
      db.query(`select type from outbox where object_id = $1 and type = 'payment.settled'`, [shop.paymentId]),
    )
    expect(rows).toHaveLength(1)
    expect(await statementOf(shop)).toMatchObject({
      unexplained: '0.00',
      closingPayable: '249.00',
      bank: { settled: '249.00', otherAmount: '0.00' },
    })
  }
  const refused = await adjust(asha, later, 250)
  expect(refused).toMatchObject({ status: 409, error: 'adjustment_refused' })
  expect(refused.text).toContain('The bank has paid 249.00')
})

test('refunds and disputes use the corrected amount, which is never less than their total', async () => {
  const shop = await shopWith(service, 100)
  await run(service, shop, 60_00n)
  const path = `/api/v0/payments/${shop.paymentId}/refunds`
  expect((await shop.client.post(path, { amount: 60.01, referenceNumber: 'r-1' })).error).toBe(
    'refund_over_payment',
  )
  expect(payloadOf(await shop.client.post(path, { amount: 40, referenceNumber: 'r-2' })).amount).toBe(40)
  const caseOf = async (amount: number) => ({
    caseReference: newUtr(),
    utr: await utrOf(service, shop.paymentId),
    amount,
  })
  expect((await notifyDispute(service, await caseOf(20.01))).text).toContain('dispute_over_payment')
  await newDispute(service, shop.paymentId, { amount: 15 })
  expect((await adjust(asha, shop, 54.99)).text).toContain('55.00 of the payment are refunded or disputed')
  expect((await adjust(asha, shop, 55)).status).toBe(200)
  // Up again: what is refundable grows.
  expect((await adjust(asha, shop, 120)).status).toBe(200)
  expect(payloadOf(await shop.client.post(path, { referenceNumber: 'r-3' })).amount).toBe(65)
})

test('what the merchant owes beyond its payable balance is an advance, which its next payout deducts', async () => {
  const shop = await shopWith(service, 100)
  await giveAccount(service, shop.merchantId)
  const utr = await utrOf(service, shop.paymentId)
  const commands = service.app.services.commands
  const payoutArgs = { merchantId: shop.merchantId, businessDay: today(), preparedBy: 'one', isEarly: true }
  const { payout } = await operatorsOf(commands)
    .open(preparePayout)
    .run({ ...payoutArgs, requiresSettlement: false })
  expect(payout).toMatchObject({ amountPaise: 100_00n })
  await run(service, shop, 90_00n)
  expect(await balancesOf(service, shop.merchantId)).toMatchObject({ merchant_advances: '-1000' })
  expect(await statementOf(shop)).toMatchObject({ unexplained: '0.00' })
  const { tr } = (
    await asSuperuser(service.db.database, (db) =>
      db.query<{ tr: string }>('select tr from payments where utr = $1', [utr]),
    )
  ).rows[0]!
  const paid = payloadOf(await notifyCredit(service.client, creditOf(tr, { amount: 30 })))
  await settle({ ...shop, paymentId: paid.paymentId }, 30_00n)
  const next = await prepare(shop)
  expect(next).toMatchObject({ paymentPaise: 30_00n, adjustmentPaise: -10_00n, amountPaise: 20_00n })
  const path = `/api/v0/payouts/${next!.payoutId}`
  expect(payloadOf(await shop.client.get(path)).adjustments).toEqual({ count: 1, amount: -10 })
  const { data } = payloadOf(await shop.client.get(`${path}/lines`))
  expect(data).toMatchObject([
    { kind: 'adjustment_down', amount: 10, isDeducted: true, fee: 0 },
    { kind: 'payment', amount: 30, isDeducted: false },
  ])
  expect(await balancesOf(service, shop.merchantId)).not.toHaveProperty('merchant_advances')
  expect(await statementOf(shop)).toMatchObject({ unexplained: '0.00' })
})

test('a correction is due with its payment, once the bank has paid for that', async () => {
  const shop = await shopWith(service, 100)
  await giveAccount(service, shop.merchantId)
  await run(service, shop, 110_00n)
  expect(await prepare(shop)).toBeUndefined()
  await settle(shop, 110_00n)
  expect(await prepare(shop)).toMatchObject({
    paymentPaise: 100_00n,
    adjustmentCount: 1,
    adjustmentPaise: 10_00n,
    amountPaise: 110_00n,
  })
})

test('an adjustment is rejected if the payment was not accepted, was assigned from the platform’s suspense, or has the amount already', async () => {
  const shop = await shopWith(service, 10)
  expect((await adjust(asha, shop, 10)).text).toContain('amounts to 10.00 already')
  const { paymentId } = payloadOf(await notifyCredit(service.client, creditOf('NOSUCHCODE')))
  expect((await adjust(asha, { ...shop, paymentId }, 9)).error).toBe('payment_not_accepted')
  const { merchantId } = await newShop(service)
  const { payment } = await operatorsOf(service.app.services.commands)
    .open(resolveSuspense)
    .run({ tenantId: 'house', paymentId, merchantId, reason: 'by phone' })
  expect((await adjust(asha, { ...shop, paymentId: payment.paymentId }, 9)).text).toContain('suspense')
  expect((await adjust(asha, { ...shop, paymentId: 'pay_none' }, 9)).error).toBe('payment_not_found')
})

test('a difference above the limit waits for a second person, and is rejected if it has changed by then', async () => {
  const shop = await shopWith(service, 5_000)
  expect((await adjust(asha, shop, 4_600)).status).toBe(200)
  const waiting = await adjust(asha, shop, 2_000)
  const json = { kind: 'payment_adjustment', amount: '2600.00' }
  const request = { from: '4600.00', amount: '2000.00' }
  expect(waiting).toMatchObject({ status: 202, json: { ...json, request } })
  const approve = (approvalId: string) => ravi.post(`/approvals/${approvalId}/approve`, {})
  expect((await adjust(asha, shop, 4_000)).status).toBe(200)
  expect((await approve(waiting.json.approvalId)).error).toBe('approval_outdated')
  const again = await adjust(asha, shop, 2_000)
  expect((await approve(again.json.approvalId)).json.status).toBe('POSTED')
  expect((await paymentOf(shop))['adjustedAmount']).toBe(2_000)
})

test('one reference used twice at once in two processes adjusts once; two references at once both count', async () => {
  for (let round = 0; round < 10; round++) {
    const shop = await shopWith(service, 10)
    const reference = newLetter()
    const same = await Promise.all(
      [service, other, service, other].map((each) => run(each, shop, 9_00n, reference)),
    )
    expect(new Set(same.map(({ adjustment }) => adjustment.adjustmentId)).size).toBe(1)
    await Promise.all([run(service, shop, 12_00n), run(other, shop, 7_00n)])
    const { adjustedAmount } = await paymentOf(shop)
    expect([12, 7]).toContain(adjustedAmount)
    expect(await balancesOf(service, shop.merchantId)).toEqual({
      upi_clearing: String(-adjustedAmount * 100),
      payable: String(adjustedAmount * 100),
    })
  }
})

test('an adjustment and a refund at once never refund more than the corrected amount', async () => {
  for (let round = 0; round < 10; round++) {
    const shop = await shopWith(service, 10)
    const path = `/api/v0/payments/${shop.paymentId}/refunds`
    const [adjusted, refunded] = await Promise.allSettled([
      run(other, shop, 6_00n),
      shop.client.post(path, { amount: 8, referenceNumber: 'all' }),
    ])
    const isRefunded = refunded.status === 'fulfilled' && refunded.value.status === 200
    expect([adjusted.status === 'fulfilled', isRefunded].filter(Boolean)).toHaveLength(1)
  }
})

test('an adjustment and the bank’s file at once leave a line that is matched when its amount agrees', async () => {
  for (let round = 0; round < 10; round++) {
    const shop = await shopWith(service, 10)
    await Promise.all([run(other, shop, 9_00n), settle(shop, 9_00n)])
    const { settlement } = (await asha.get(`/payments/${shop.paymentId}`)).json
    expect(settlement.status).toBe('MATCHED')
    expect(await balancesOf(service, shop.merchantId)).toEqual({ bank: '-900', payable: '900' })
  }
})

test('the same holds on the command line, by the bank’s reference of the payment; the console shows who did it and why', async () => {
  const shop = await shopWith(service, 249.5)
  const utr = await utrOf(service, shop.paymentId)
  const args = ['admin', 'payments', 'adjust', utr, '--amount', '249.00', '--reference', newLetter()]
  const done = await runHere([...args, '--reason', 'letter of the bank', '--json'], settings())
  expect(done.code, done.stderr).toBe(0)
  expect(JSON.parse(done.stdout)).toMatchObject({ amount: 249, change: -0.5 })
  const { adjustments, history } = (await asha.get(`/payments/${shop.paymentId}`)).json
  expect(adjustments).toMatchObject([{ amount: 249, reason: 'letter of the bank' }])
  expect(history).toContainEqual(expect.objectContaining({ what: 'adjusted', amount: '249.00' }))
  expect(history).toContainEqual(expect.objectContaining({ source: 'journal', what: 'payment_adjustment' }))
  expect(history).toContainEqual(expect.objectContaining({ source: 'audit', what: 'payment.adjusted' }))
  const wrong = await runHere([...args, '--reason', 'x', '--amount', '0'], settings())
  expect(wrong.stderr).toContain('--amount must be')
})

test('another merchant cannot see the adjustments of a payment', async () => {
  const [shop, outsider] = [await shopWith(service, 10), await shopWith(service, 10)]
  await run(service, shop, 9_00n)
  expect((await outsider.client.get(`/api/v0/payments/${shop.paymentId}`)).error).toBe('payment_not_found')
  expect(await paymentOf(outsider)).not.toHaveProperty('adjustments')
  // The command names its tenant: the payment of another one is not there.
  await expect(run(service, { ...shop, merchantId: outsider.merchantId }, 8_00n)).rejects.toMatchObject({
    code: 'payment_not_found',
  })
})
