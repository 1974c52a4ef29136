import { watchAlerts } from '@svc/console-api/alerts/watch-alerts'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { sqlOn } from '../harness/approvals.ts'
import { runHere } from '../harness/cli.ts'
import { type Json, payloadOf } from '../harness/client.ts'
import { type Browser, newOperator, PASSWORD, signedIn } from '../harness/console.ts'
import { giveAccount } from '../harness/payouts.ts'
import { newUtr } from '../harness/qr-codes.ts'
import { balancesOf, brokenIn, notifyRefund, type Shop, shopWith } from '../harness/refunds.ts'
import { MASTER_KEY, openService, type TestService } from '../harness/service.ts'
import { balanceOn, payOn, payOut, settle } from '../harness/settled-outside.ts'

let service: TestService
let other: TestService
let asha: Browser
beforeAll(async () => {
  service = await openService({ background: false })
  other = await openService({ background: false, db: service.db })
  asha = await signedIn(service, 'operator')
})
afterAll(async () => {
  expect(await brokenIn(service)).toEqual([])
  await other?.close()
  await service?.close()
})

const request = async ({ client, path }: Shop, amount: number): Promise<string> =>
  payloadOf(await client.post(path, { amount, referenceNumber: newUtr() })).refundId
const fail = async (refundId: string) =>
  payloadOf(await notifyRefund(service, { refundId, status: 'FAILED', reason: 'account closed' }))
const make = (refundId: string, utr = newUtr(), on = service) =>
  notifyRefund(on, { refundId, status: 'REFUNDED', utr })

/** A merchant with a payment of 10 rupees, of which a refund of 4 has failed. */
async function failed() {
  const shop = await shopWith(service, 10)
  await giveAccount(service, shop.merchantId)
  const refundId = await request(shop, 4)
  await fail(refundId)
  return { shop, refundId }
}

const exceptionsOf = ({ merchantId }: Shop) => balanceOn(service, `refund_exceptions:${merchantId}`)
const eventsOf = async ({ merchantId }: Shop): Promise<string[]> =>
  (
    await sqlOn<{ type: string }>(
      service,
      `select type from outbox where tenant_id = $1 and payload ? 'refund' order by created_at`,
      [merchantId],
    )
  ).map(({ type }) => type)
/** The open alerts about refunds that were made late, by their refunds. */
async function alerts(): Promise<string[]> {
  await sqlOn(service, `update alert_watch set until = '-infinity'`)
  await watchAlerts(service.app.services, 'alp_0')
  const { data } = (await asha.get('/alerts?kind=refund_made_late&status=open')).json
  return data.map(({ objectId }: Json) => objectId)
}
const shown = async ({ client, path }: Shop, refundId: string): Promise<Json> =>
  payloadOf(await client.get(`${path}/${refundId}`))

test('a failed refund that the bank has paid after all is refunded, once, and the next payout deducts it', async () => {
  const { shop, refundId } = await failed()
  const utr = newUtr()
  const made = payloadOf(await make(refundId, utr))
  expect(made).toMatchObject({ status: 'REFUNDED', utr })
  expect(made).not.toHaveProperty('failureReason')
  expect(payloadOf(await make(refundId, utr, other))).toEqual(made)
  expect((await make(refundId)).json.payload.reason).toBe('contradicts_earlier_notice')
  expect(await balancesOf(service, shop.merchantId)).toEqual({ upi_clearing: '-600', payable: '600' })
  const payment = payloadOf(await shop.client.get(`/api/v0/payments/${shop.paymentId}`))
  expect(payment.refundedAmount).toBe(4)
  expect((await shop.client.post(shop.path, { amount: 6.01, referenceNumber: newUtr() })).error).toBe(
    'refund_over_payment',
  )
  expect(await eventsOf(shop)).toEqual([
    'payment.refund_pending',
    'payment.refund_failed',
    'payment.refunded',
  ])
  expect(await payOut(service, shop)).toMatchObject({ refundPaise: 4_00n, amountPaise: 6_00n })
  expect(await brokenIn(service)).toEqual([])
})

test('where a payout deducted the refund before it failed, the bank’s late report leaves it deducted', async () => {
  const shop = await shopWith(service, 10)
  await giveAccount(service, shop.merchantId)
  const refundId = await request(shop, 4)
  expect(await payOut(service, shop)).toMatchObject({ amountPaise: 6_00n })
  await fail(refundId)
  payloadOf(await make(refundId))
  await payOn(service, shop, 20)
  expect(await payOut(service, shop)).toMatchObject({ refundPaise: 0n, amountPaise: 20_00n })
  expect(await balancesOf(service, shop.merchantId)).not.toHaveProperty('payable')
  expect(await brokenIn(service)).toEqual([])
})

test('where a payout returned it, it was refunded again or its money is gone, the bank’s late report is an exception', async () => {
  const givenBack = await shopWith(service, 10)
  await giveAccount(service, givenBack.merchantId)
  const back = await request(givenBack, 4)
  await payOut(service, givenBack)
  await fail(back)
  await payOn(service, givenBack, 1)
  expect(await payOut(service, givenBack)).toMatchObject({ amountPaise: 5_00n })
  await payOn(service, givenBack, 50)
  const again = await failed()
  payloadOf(await make(await request(again.shop, 7)))
  await payOn(service, again.shop, 50)
  const spent = await failed()
  await payOut(service, spent.shop)
  const cases = [
    [givenBack, back] as const,
    ...[again, spent].map((each) => [each.shop, each.refundId] as const),
  ]
  for (const [shop, refundId] of cases) {
    const utr = newUtr()
    const before = await balancesOf(service, shop.merchantId)
    const late = payloadOf(await make(refundId, utr))
    expect(late).toMatchObject({ status: 'FAILED', utr })
    expect(payloadOf(await make(refundId, utr, other))).toEqual(late)
    expect((await make(refundId)).json.payload.reason).toBe('contradicts_earlier_notice')
    expect(await exceptionsOf(shop)).toBe('-400')
    expect((await balancesOf(service, shop.merchantId))['payable']).toBe(before['payable'])
    expect((await eventsOf(shop)).filter((type) => type === 'payment.refund_failed')).toHaveLength(1)
    expect(await alerts()).toContain(refundId)
    const settled = await settle(asha, `refund_exceptions:${shop.merchantId}`, { amount: '4.00' })
    expect(settled.json.open).toBe('0.00')
    expect(await alerts()).not.toContain(refundId)
  }
  expect(await brokenIn(service)).toEqual([])
})

test('an operator records a late refund on the command line and in the console, with the bank’s reference', async () => {
  const { name } = await newOperator(service, 'finance')
  const env = {
    DATABASE_URL: service.db.url,
    SVC_MASTER_KEY: MASTER_KEY,
    SVC_OPERATOR: name,
    SVC_OPERATOR_PASSWORD: PASSWORD,
  }
  const [one, two] = [await failed(), await failed()]
  const utr = newUtr()
  const none = await runHere(['admin', 'refund', 'confirm', one.refundId], env)
  expect(none.code).toBe(1)
  const { code, stderr } = await runHere(['admin', 'refund', 'confirm', one.refundId, '--utr', utr], env)
  expect(code, stderr).toBe(0)
  expect(await shown(one.shop, one.refundId)).toMatchObject({ status: 'REFUNDED', utr })
  const body = { status: 'REFUNDED', utr: newUtr() }
  expect((await asha.post(`/refunds/${two.refundId}/complete`, body)).json).toMatchObject(body)
  expect(
    (await asha.post(`/refunds/${two.refundId}/complete`, { status: 'FAILED', reason: 'x' })).error,
  ).toBe('refund_closed')
})

test('a late report and another refund of the whole payment at once, in two processes, never exceed the payment', async () => {
  for (let round = 0; round < 10; round++) {
    const { shop, refundId } = await failed()
    await Promise.all([
      make(refundId, newUtr(), other),
      shop.client.post(shop.path, { amount: 10, referenceNumber: newUtr() }),
    ])
    const payment = payloadOf(await shop.client.get(`/api/v0/payments/${shop.paymentId}`))
    const { status } = await shown(shop, refundId)
    expect([payment.refundedAmount, status]).toEqual(status === 'FAILED' ? [10, 'FAILED'] : [4, 'REFUNDED'])
    expect(await exceptionsOf(shop)).toBe(status === 'FAILED' ? '-400' : undefined)
  }
})

test('a failure and its late report in one batch are one refund that was paid', async () => {
  const shops = await Promise.all(Array.from({ length: 5 }, () => shopWith(service, 10)))
  const refunds = await Promise.all(shops.map((shop) => request(shop, 4)))
  const report = (refundId: string) => notifyRefund(service, { refundId, status: 'FAILED' })
  await Promise.all(refunds.flatMap((refundId) => [report(refundId), make(refundId)]))
  for (const [i, shop] of shops.entries()) {
    const { status } = await shown(shop, refunds[i]!)
    if (status === 'FAILED') payloadOf(await make(refunds[i]!))
    expect(await shown(shop, refunds[i]!)).toMatchObject({ status: 'REFUNDED' })
    expect(await balancesOf(service, shop.merchantId)).toEqual({ upi_clearing: '-600', payable: '600' })
  }
})
