import { resolveSuspense } from '@svc/core/payments/suspense/resolve-suspense'
import { calendarDay } from '@svc/kernel/time'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { approve, openApprovers, sqlOn } from '../harness/approvals.ts'
import { runHere } from '../harness/cli.ts'
import { type Json, payloadOf } from '../harness/client.ts'
import type { Browser } from '../harness/console.ts'
import { operatorsOf } from '../harness/operators.ts'
import { giveAccount, preparePayoutOf } from '../harness/payouts.ts'
import { creditOf, newCode, newUtr, notifyCredit } from '../harness/qr-codes.ts'
import { balancesOf, brokenIn, newShop, notifyRefund } from '../harness/refunds.ts'
import { MASTER_KEY, RAIL_KEY, type TestService } from '../harness/service.ts'

let service: TestService
let other: TestService
let asha: Browser
let ravi: Browser
beforeAll(async () => {
  ;({ service, other, asha, ravi } = await openApprovers())
})
afterAll(async () => {
  expect(await brokenIn(service)).toEqual([])
  await other?.close()
  await service?.close()
})

type Shop = Awaited<ReturnType<typeof newShop>>

/** A credit in suspense: of the platform, or of the merchant whose address the bank names. */
async function stray(payee?: Shop, amount = 10) {
  const utr = newUtr()
  const transactionTime = '2026-04-01T10:00:00+05:30'
  const notice = {
    ...creditOf('NOSUCHCODE', { utr, amount }),
    transactionTime,
    ...(payee && { payeeVpa: payee.vpa }),
  }
  const { paymentId } = payloadOf(await notifyCredit(service.client, notice))
  return { utr, paymentId: paymentId as string, notice }
}
const assign = (paymentId: string, { merchantId }: Shop, by = asha) =>
  by.post(`/payments/${paymentId}/assign`, { merchantId, reason: 'by phone' })
const unassign = (paymentId: string, by = asha) =>
  by.post(`/payments/${paymentId}/unassign`, { reason: 'of another shop' })
const paymentsOf = async ({ client }: Shop): Promise<Json[]> =>
  payloadOf(await client.get('/api/v0/payments')).data
const eventsOf = async (paymentId: string): Promise<Json[]> =>
  sqlOn(
    service,
    `select tenant_id as tenant, type, payload ->> 'status' as status from outbox where object_id = $1
     and type <> 'payment.suspended' order by created_at`,
    [paymentId],
  )
/** What is open of a merchant by the ledger and by its records, on a day. */
const unexplained = async (shop: Shop): Promise<string> => {
  const env = { DATABASE_URL: service.db.url, SVC_MASTER_KEY: MASTER_KEY }
  const day = calendarDay(new Date(), 'Asia/Kolkata')
  const { stdout, stderr } = await runHere(
    ['admin', 'payout', 'statement', shop.merchantId, '--date', day, '--json'],
    env,
  )
  return stdout === '' ? stderr : JSON.parse(stdout).unexplained
}

/** By journals that took the assignment back, the merchant's first. */
const MOVED = `select j.tenant_id as tenant, t.kind, split_part(t.debit_account_id, ':', 1) as debit,
      split_part(t.credit_account_id, ':', 1) as credit, t.amount::text
    from journals j join ledger_transfers t using (tenant_id, journal_id)
    where j.reference = $1 and j.reason = 'of another shop' order by t.kind desc`

test('an assignment out of the platform’s suspense is taken back by two linked journals, and the credit goes elsewhere', async () => {
  const [wrong, right] = [await newShop(service), await newShop(service)]
  const { notice, paymentId, utr } = await stray()
  const [before] = await sqlOn<{ created_at: Date }>(
    service,
    'select created_at from payments where payment_id = $1',
    [paymentId],
  )
  const assigned = (await assign(paymentId, wrong)).json.payment
  // Named by any of its payments; a repeat changes nothing, also while the credit is in suspense again.
  for (const id of [assigned.paymentId, assigned.paymentId, paymentId]) {
    const { json } = await unassign(id)
    expect(json).toMatchObject({
      merchantId: 'house',
      payment: { paymentId, utr, status: 'SUSPENSE', transactionOn: '2026-04-01T10:00:00.000+05:30' },
    })
  }
  expect(await paymentsOf(wrong)).toMatchObject([{ paymentId: assigned.paymentId, status: 'UNASSIGNED' }])
  expect(await balancesOf(service, wrong.merchantId)).toEqual({})
  expect(await sqlOn(service, MOVED, [utr])).toEqual([
    {
      tenant: wrong.merchantId,
      kind: 'suspense_unassigned',
      debit: 'payable',
      credit: 'inter_tenant',
      amount: '1000',
    },
    { tenant: 'house', kind: 'suspense_restored', debit: 'inter_tenant', credit: 'suspense', amount: '1000' },
  ])
  expect(await eventsOf(assigned.paymentId)).toEqual([
    { tenant: wrong.merchantId, type: 'payment.assigned', status: 'ACCEPTED' },
    { tenant: wrong.merchantId, type: 'payment.unassigned', status: 'UNASSIGNED' },
  ])
  expect(await eventsOf(paymentId)).toEqual([
    { tenant: 'house', type: 'payment.unassigned', status: 'SUSPENSE' },
  ])
  // The bank sends its notice again: it is the credit in suspense. Assigned, it is a payment of the other merchant.
  expect(payloadOf(await notifyCredit(service.client, notice))).toMatchObject({
    paymentId,
    status: 'SUSPENSE',
  })
  expect((await assign(paymentId, right)).json.merchantId).toBe(right.merchantId)
  expect(await paymentsOf(right)).toMatchObject([{ utr, status: 'ACCEPTED', amount: 10 }])
  // And again: taken back and given to the first one after all.
  await unassign(paymentId)
  expect((await assign(paymentId, wrong)).json.merchantId).toBe(wrong.merchantId)
  expect((await paymentsOf(wrong)).map(({ status }) => status)).toEqual(['ACCEPTED', 'UNASSIGNED'])
  expect((await unassign(assigned.paymentId)).json.payment.paymentId).toBe(paymentId)
  expect((await paymentsOf(wrong)).map(({ status }) => status)).toEqual(['ACCEPTED', 'UNASSIGNED'])
  const [after] = await sqlOn<{ created_at: Date }>(
    service,
    'select created_at from payments where payment_id = $1',
    [paymentId],
  )
  expect(after).toEqual(before)
  expect(await unexplained(wrong)).toBe('0.00')
})

test('an assignment of a credit that named its merchant goes back into that merchant’s suspense, and to no other', async () => {
  const [shop, another] = [await newShop(service), await newShop(service)]
  const { paymentId } = await stray(shop)
  await assign(paymentId, shop)
  const accepted = new Date().toISOString()
  expect((await unassign(paymentId)).json).toMatchObject({
    merchantId: shop.merchantId,
    payment: { paymentId, status: 'SUSPENSE', reason: 'unknown_code' },
  })
  expect(await balancesOf(service, shop.merchantId)).toEqual({ upi_clearing: '-1000', suspense: '1000' })
  expect((await assign(paymentId, another)).error).toBe('suspense_resolved')
  const past = payloadOf(
    await shop.client.get(`/api/v0/payments/${paymentId}?asOf=${encodeURIComponent(accepted)}`),
  )
  expect([past.status, past.reason]).toEqual(['ACCEPTED', undefined])
  await assign(paymentId, shop)
  await unassign(paymentId)
  expect(
    (await asha.post(`/payments/${paymentId}/return`, { reason: 'the payer asked' })).json.payment.status,
  ).toBe('REFUND_PENDING')
  expect((await unassign(paymentId)).error).toBe('payment_not_assigned')
  expect(await unexplained(shop)).toBe('0.00')
})

test('a payment of a notice that an operator read is taken back, and may go to any merchant under its bank reference', async () => {
  const [wrong, right] = [await newShop(service), await newShop(service)]
  const { tr } = await newCode(service, wrong.client, { multipleUse: false })
  const notify = () => service.client.notify('/rails/upi/credits', { words: newUtr() }, RAIL_KEY)
  const { noticeId } = (await notify()).json.payload
  const reading = { utr: newUtr(), amount: 25, tr }
  const made = (await asha.post(`/rail-notices/${noticeId}/assign`, reading)).json
  expect(made.status).toBe('ACCEPTED')
  expect((await asha.get(`/payments/${made.paymentId}`)).json.isAssigned).toBe(true)
  expect((await unassign(made.paymentId)).json.payment).toMatchObject({
    paymentId: made.paymentId,
    status: 'SUSPENSE',
  })
  expect((await asha.get(`/payments/${made.paymentId}`)).json.isAssigned).toBe(false)
  expect(await balancesOf(service, wrong.merchantId)).toEqual({ upi_clearing: '-2500', suspense: '2500' })
  expect((await assign(made.paymentId, right)).json.merchantId).toBe(right.merchantId)
  expect(await balancesOf(service, right.merchantId)).toEqual({ inter_tenant: '-2500', payable: '2500' })
  await unassign(made.paymentId)
  expect((await assign(made.paymentId, wrong)).json).toMatchObject({
    merchantId: wrong.merchantId,
    payment: { paymentId: made.paymentId, status: 'ACCEPTED' },
  })
  expect(await unexplained(wrong)).toBe('0.00')
  expect(await unexplained(right)).toBe('0.00')
})

test('what no operator assigned, what is in a payout, refunded, or spent by other refunds stays where it is', async () => {
  const shop = await newShop(service)
  await giveAccount(service, shop.merchantId)
  const { tr } = await newCode(service, shop.client, { multipleUse: true })
  const paid = payloadOf(await notifyCredit(service.client, creditOf(tr, { amount: 10 })))
  expect((await unassign(paid.paymentId)).error).toBe('payment_not_assigned')
  expect((await unassign('pay_none')).error).toBe('payment_not_found')
  const inSuspense = await stray()
  expect((await unassign(inSuspense.paymentId)).error).toBe('payment_not_assigned')

  const { paymentId } = await stray(shop)
  await assign(paymentId, shop)
  const payoutId = await preparePayoutOf(service, shop.merchantId)
  const prepared = await unassign(paymentId)
  expect([prepared.error, prepared.json.payload?.description ?? JSON.stringify(prepared.json)]).toEqual([
    'assignment_not_reversible',
    expect.stringContaining(payoutId),
  ])
  expect((await asha.post(`/payouts/${payoutId}/cancel`, { reason: 'too early' })).status).toBe(200)
  const refund = (id: string, amount: number) =>
    shop.client.post(`/api/v0/payments/${id}/refunds`, { amount, referenceNumber: newUtr() })
  payloadOf(await refund(paymentId, 1))
  expect((await unassign(paymentId)).error).toBe('assignment_not_reversible')

  // Of 20 payable, 10 of a payment and 10 assigned, another refund takes 10 after the first was paid out.
  const poor = await newShop(service)
  await giveAccount(service, poor.merchantId)
  const code = await newCode(service, poor.client, { multipleUse: true })
  const old = payloadOf(await notifyCredit(service.client, creditOf(code.tr, { amount: 10 })))
  await preparePayoutOf(service, poor.merchantId)
  const late = await stray(poor)
  await assign(late.paymentId, poor)
  payloadOf(
    await poor.client.post(`/api/v0/payments/${old.paymentId}/refunds`, {
      amount: 4,
      referenceNumber: newUtr(),
    }),
  )
  expect((await unassign(late.paymentId)).error).toBe('assignment_not_reversible')
})

test('above the limit a second person approves it, as the assignment; on the command line, too', async () => {
  const [shop, another] = [await newShop(service), await newShop(service)]
  const { paymentId, utr } = await stray(undefined, 2_500)
  expect((await approve(ravi, (await assign(paymentId, shop)).json.approvalId)).json.status).toBe('POSTED')
  const env = { DATABASE_URL: service.db.url, SVC_MASTER_KEY: MASTER_KEY, APPROVAL_ABOVE_RUPEES: '1000' }
  const args = ['admin', 'suspense', 'unassign', utr, '--reason', 'of another shop', '--json']
  const waiting = JSON.parse((await runHere(args, env)).stdout)
  expect(waiting).toMatchObject({ kind: 'suspense_unassigned', status: 'PENDING', amount: '2500.00' })
  expect((await paymentsOf(shop))[0]).toMatchObject({ status: 'ACCEPTED' })
  expect((await approve(asha, waiting.approvalId)).json.status).toBe('POSTED')
  expect((await paymentsOf(shop))[0]).toMatchObject({ status: 'UNASSIGNED' })
  expect(JSON.parse((await runHere(args, env)).stdout)).toMatchObject({
    payment: { paymentId, status: 'SUSPENSE' },
  })
  // To another merchant it goes with another approval, and back with another one.
  expect((await approve(ravi, (await assign(paymentId, another)).json.approvalId)).json.status).toBe('POSTED')
  const again = await unassign(paymentId)
  expect(again.json).toMatchObject({ kind: 'suspense_unassigned', status: 'PENDING' })
  expect((await approve(ravi, again.json.approvalId)).json.status).toBe('POSTED')
})

test('taken back, refunded, paid out and assigned elsewhere at once, in two processes: the money is in one place', async () => {
  const [one, two] = [await newShop(service), await newShop(service)]
  await giveAccount(service, one.merchantId)
  for (let round = 0; round < 6; round++) {
    const { paymentId, utr } = await stray()
    const mine = (await assign(paymentId, one)).json.payment.paymentId
    await Promise.all([
      unassign(mine),
      unassign(paymentId, ravi),
      one.client.post(`/api/v0/payments/${mine}/refunds`, { amount: 10, referenceNumber: utr }),
      preparePayoutOf(service, one.merchantId).catch(() => undefined),
      operatorsOf(other.app.services.commands)
        .open(resolveSuspense)
        .run({ tenantId: 'house', paymentId, merchantId: two.merchantId, reason: 'by phone' })
        .catch(() => undefined),
      notifyRefund(service, { utr }),
    ])
    expect(await brokenIn(service)).toEqual([])
  }
})

test('a credit in suspense names the merchants whose it may be, by a code of its amount and by its payer', async () => {
  const [byCode, byPayer, other] = [await newShop(service), await newShop(service), await newShop(service)]
  await newCode(service, byCode.client, { amount: 731.25 })
  await newCode(service, other.client, { amount: 731.26 })
  const paid = await newCode(service, byPayer.client, { multipleUse: true })
  const payer = { payerVpa: 'candidate@bank' }
  await notifyCredit(service.client, { ...creditOf(paid.tr, { amount: 5 }), ...payer })
  const credit = { ...creditOf('NOSUCHCODE', { utr: newUtr(), amount: 731.25 }), ...payer }
  const { paymentId } = payloadOf(await notifyCredit(service.client, credit))
  const { data } = (await asha.get(`/payments/${paymentId}/candidates`)).json
  expect(data.map(({ merchantId, why }: Json) => `${merchantId} ${why}`).sort()).toEqual(
    [`${byCode.merchantId} amount`, `${byPayer.merchantId} payer`].sort(),
  )
  expect((await asha.get('/payments/pay_none/candidates')).error).toBe('payment_not_found')
})
