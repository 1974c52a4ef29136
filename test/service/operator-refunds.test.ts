import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Json, payloadOf } from '../harness/client.ts'
import { type Browser, signedIn } from '../harness/console.ts'
import { creditOf, newCode, notifyCredit } from '../harness/qr-codes.ts'
import { openService, type TestService } from '../harness/service.ts'

let service: TestService
let finance: Browser
beforeAll(async () => {
  service = await openService({ env: { APPROVAL_ABOVE_RUPEES: '5000' } })
  finance = await signedIn(service, 'finance')
})
afterAll(() => service.close())

async function paid(amount: number) {
  const merchant = await service.newMerchant()
  const client = await service.as(merchant)
  const { tr } = await newCode(service, client, { multipleUse: true })
  const { paymentId }: Json = payloadOf(await notifyCredit(service.client, creditOf(tr, { amount })))
  const refund = (body: object) => finance.post(`/payments/${paymentId}/refunds`, body)
  return { merchant, client, paymentId: paymentId as string, refund }
}

test('an operator refunds on behalf of a merchant, who sees the refund; the audit of the merchant names the operator', async () => {
  const { client, merchant, paymentId, refund } = await paid(900)
  const requested = { amount: 300.25, referenceNumber: 'ops-1', reason: 'the merchant asked by telephone' }
  const { refundId } = (await refund(requested)).json
  expect((await refund(requested)).json.refundId).toBe(refundId)
  expect((await refund({ ...requested, amount: 1 })).error).toBe('refund_reference_in_use')
  expect(payloadOf(await client.get(`/api/v0/payments/${paymentId}/refunds/${refundId}`))).toMatchObject({
    amount: 300.25,
    referenceNumber: 'ops-1',
    reason: requested.reason,
  })
  const { data } = (await finance.get(`/audit?tenantId=${merchant.merchantId}&action=payment.refund_created`))
    .json
  // A repeat is on record, too.
  expect(data.map(({ target }: Json) => target)).toEqual([refundId, refundId])
  expect(data[0]).toMatchObject({
    actor: expect.stringMatching(/^operator finance\./),
    details: { paymentId, reason: requested.reason },
  })
  expect((await refund({ referenceNumber: 'ops-2', reason: 'the rest' })).json.amount).toBe(599.75)
  expect((await refund({ referenceNumber: 'ops-3', reason: 'nothing is left' })).error).toBe(
    'refund_over_payment',
  )
})

test('above the limit a refund by an operator waits for a second person, and the merchant itself refunds', async () => {
  const { client, paymentId, refund } = await paid(5_000.01)
  const all = { referenceNumber: 'big', reason: 'all of it' }
  const waiting = await refund(all)
  expect(waiting).toMatchObject({ status: 202, json: { kind: 'merchant_refund', amount: '5000.01' } })
  expect((await refund({ ...all, amount: 5_000.01 })).json.approvalId).toBe(waiting.json.approvalId)
  expect(
    (await client.post(`/api/v0/payments/${paymentId}/refunds`, { referenceNumber: 'own' })).status,
  ).toBe(200)
})

test('what is not a payment, or was not accepted, is not refunded', async () => {
  const none = { referenceNumber: 'none', reason: 'none' }
  expect((await finance.post('/payments/pay_none/refunds', none)).error).toBe('payment_not_found')
  const stray = payloadOf(await notifyCredit(service.client, creditOf('SVCNONE')))
  const { error } = await finance.post(`/payments/${stray.paymentId}/refunds`, none)
  expect(['payment_not_accepted', 'payment_not_found']).toContain(error)
})

test('the trial balance is balanced in each unit, now and as of an instant before the last payment', async () => {
  const before = new Date().toISOString()
  const payable = async (query = '') => {
    const { json } = await finance.get(`/ledger/trial-balance${query}`)
    for (const { credit, debit } of json.sums) expect(credit).toBe(debit)
    return Number(json.lines.find(({ kind }: Json) => kind === 'payable')?.credit ?? 0)
  }
  const then = await payable()
  await paid(123.45)
  expect((await payable()) - then).toBeCloseTo(123.45, 2)
  expect(await payable(`?asOf=${encodeURIComponent(before)}`)).toBe(then)
  expect(await payable('?effectiveThrough=2020-01-01')).toBe(0)
  expect(await payable(`?tenantId=${(await service.newMerchant()).merchantId}`)).toBe(0)
  expect((await finance.get('/ledger/trial-balance?asOf=yesterday')).error).toBe('validation_failed')
})
