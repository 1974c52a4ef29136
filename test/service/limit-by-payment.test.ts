import { WaitingApproval } from '@svc/core/ledger/money-command'
import { adjustPayment } from '@svc/core/payments/adjustments/adjust-payment'
import { paise } from '@svc/kernel/money'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { runHere } from '../harness/cli.ts'
import { payloadOf } from '../harness/client.ts'
import { Browser, newOperator, PASSWORD, signedIn } from '../harness/console.ts'
import { operatorsOf } from '../harness/operators.ts'
import { brokenIn, notifyRefund, type Shop, shopWith } from '../harness/refunds.ts'
import { asSuperuser, MASTER_KEY, openService, type TestService } from '../harness/service.ts'

const env = { APPROVAL_ABOVE_RUPEES: '1000' }

let service: TestService
let other: TestService
let asha: Browser
let ravi: Browser
/** Asha in the other process. */
let there: Browser
beforeAll(async () => {
  service = await openService({ background: false, env })
  other = await openService({ background: false, env, db: service.db })
})
// Other people in each test: what a person posts for all tenants counts together, too.
beforeEach(async () => {
  ;[asha, ravi] = [await signedIn(service, 'finance'), await signedIn(service, 'finance')]
  there = new Browser(other)
  there.cookie = asha.cookie
})
afterAll(async () => {
  expect(await brokenIn(service)).toEqual([])
  await other?.close()
  await service?.close()
})

let names = 0
const newName = (): string => `HDFCN${String(++names).padStart(7, '0')}`
const refund = (by: Browser, { paymentId }: Shop, amount?: number, referenceNumber = newName()) =>
  by.post(`/payments/${paymentId}/refunds`, { amount, referenceNumber, reason: 'by telephone' })
const adjust = (by: Browser, { paymentId }: Shop, amount: number, reference = newName()) =>
  by.post(`/payments/${paymentId}/adjustments`, { amount, reference, reason: 'letter of the bank' })

test('operators together refund no more of a payment than the limit for one operator', async () => {
  const shop = await shopWith(service, 5_000)
  const first = await refund(asha, shop, 600, 'first')
  expect(first.status).toBe(200)
  const waiting = await refund(asha, shop, 400.01)
  expect(waiting).toMatchObject({ status: 202, json: { kind: 'merchant_refund', amount: '400.01' } })
  expect((await refund(ravi, shop, 400.01)).status).toBe(202)
  expect((await refund(ravi, shop, 400)).status).toBe(200)
  for (const amount of [0.01, 4_000, undefined]) expect((await refund(asha, shop, amount)).status).toBe(202)
  const { approvalId } = waiting.json
  expect((await ravi.post(`/approvals/${approvalId}/approve`, {})).json.status).toBe('POSTED')
  // A repeat is no further refund, and another payment has a sum of its own.
  expect((await refund(asha, shop, 600, 'first')).json.refundId).toBe(first.json.refundId)
  expect((await refund(asha, await shopWith(service, 5_000), 1_000)).status).toBe(200)
})

test('the merchant’s own refunds do not count, and are not limited', async () => {
  const shop = await shopWith(service, 5_000)
  const own = (amount: number) => shop.client.post(shop.path, { amount, referenceNumber: newName() })
  expect((await own(2_000)).status).toBe(200)
  expect((await refund(asha, shop, 1_000)).status).toBe(200)
  expect((await refund(asha, shop, 1)).status).toBe(202)
  expect((await own(2_000)).status).toBe(200)
})

test('a refund that failed by a signed notice does not count against its payment: the merchant has its money again', async () => {
  const shop = await shopWith(service, 5_000)
  const { refundId } = (await refund(asha, shop, 1_000)).json
  expect((await refund(ravi, shop, 1_000)).status).toBe(202)
  const failed = { refundId, status: 'FAILED', reason: 'account closed' }
  expect(payloadOf(await notifyRefund(service, failed))).toMatchObject({ status: 'FAILED' })
  expect((await refund(ravi, shop, 1_000)).status).toBe(200)
})

test('of two refunds at the same instant, in two processes, one passes', async () => {
  for (let round = 0; round < 10; round++) {
    const shop = await shopWith(service, 5_000)
    const both = await Promise.all([asha, there, asha, there].map((by) => refund(by, shop, 600)))
    expect(both.map(({ status }) => status).sort()).toEqual([200, 202, 202, 202])
  }
})

test('corrections of a payment by one person count together, in either direction', async () => {
  const shop = await shopWith(service, 5_000)
  expect((await adjust(asha, shop, 4_400)).status).toBe(200)
  const waiting = await adjust(ravi, shop, 4_900)
  expect(waiting).toMatchObject({ status: 202, json: { amount: '500.00' } })
  expect((await adjust(asha, shop, 4_000)).status).toBe(200)
  expect((await adjust(asha, shop, 4_000.01)).status).toBe(202)
  expect((await adjust(asha, await shopWith(service, 5_000), 4_000)).status).toBe(200)
})

test('a correction that a second person approved does not count', async () => {
  const shop = await shopWith(service, 5_000)
  const { approvalId } = (await adjust(asha, shop, 3_000)).json
  expect((await ravi.post(`/approvals/${approvalId}/approve`, {})).json.status).toBe('POSTED')
  expect((await adjust(asha, shop, 2_000)).status).toBe(200)
  const small = await adjust(asha, shop, 1_999)
  expect(small).toMatchObject({ status: 202, json: { amount: '1.00' } })
  expect((await ravi.post(`/approvals/${small.json.approvalId}/approve`, {})).json.status).toBe('POSTED')
})

test('an approved correction is never posted in the other direction, nor one that names no previous amount', async () => {
  const shop = await shopWith(service, 5_000)
  const lower = await adjust(asha, shop, 3_500)
  expect(lower.json).toMatchObject({ amount: '1500.00', request: { from: '5000.00', amount: '3500.00' } })
  // Another correction, by the same 1,500 below what was asked for.
  const { approvalId } = (await adjust(asha, shop, 2_000)).json
  const approve = (id: string) => ravi.post(`/approvals/${id}/approve`, {})
  expect((await approve(approvalId)).json.status).toBe('POSTED')
  const refused = await approve(lower.json.approvalId)
  expect(refused.error).toBe('approval_outdated')
  const { adjustedAmount } = payloadOf(await shop.client.get(`/api/v0/payments/${shop.paymentId}`))
  expect(adjustedAmount).toBe(2_000)
  const unnamed = (await adjust(asha, shop, 3_900)).json
  await asSuperuser(service.db.database, (db) =>
    db.query(
      `begin; set local session_replication_role = replica;
       update approvals set request = request - 'from' where approval_id = '${unnamed.approvalId}'; commit`,
    ),
  )
  expect((await approve(unnamed.approvalId)).error).toBe('approval_outdated')
})

test('of two corrections at the same instant, in two processes, one passes', async () => {
  const run = (on: TestService, { merchantId, paymentId }: Shop, amount: bigint) =>
    operatorsOf(on.app.services.commands)
      .open(adjustPayment)
      .run(
        { merchantId, paymentId, amountPaise: paise(amount), reference: newName(), reason: 'letter' },
        { actor: 'operator asha', target: paymentId },
      )
  for (let round = 0; round < 10; round++) {
    const shop = await shopWith(service, 5_000)
    const both = await Promise.all([run(service, shop, 4_400_00n), run(other, shop, 5_300_00n)])
    expect(both.filter((outcome) => outcome instanceof WaitingApproval)).toHaveLength(1)
  }
})

test('on the command line corrections count in the same way', async () => {
  const shop = await shopWith(service, 5_000)
  expect((await adjust(asha, shop, 4_400)).status).toBe(200)
  const { name } = await newOperator(service, 'finance')
  const args = ['admin', 'payments', 'adjust', shop.paymentId, '--amount', '4900', '--reference', newName()]
  const waits = await runHere([...args, '--reason', 'letter of the bank', '--json'], {
    ...env,
    DATABASE_URL: service.db.url,
    SVC_MASTER_KEY: MASTER_KEY,
    SVC_OPERATOR: name,
    SVC_OPERATOR_PASSWORD: PASSWORD,
  })
  expect(waits.code, waits.stderr).toBe(0)
  expect(JSON.parse(waits.stdout)).toMatchObject({ kind: 'payment_adjustment', amount: '500.00' })
})
