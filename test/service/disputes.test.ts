import { closeDispute } from '@svc/core/payments/disputes/close-dispute'
import { expireDisputes } from '@svc/core/payments/disputes/expire-disputes'
import { changePayout } from '@svc/core/payments/payouts/change-payout'
import { preparePayout } from '@svc/core/payments/payouts/prepare-payout'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { payloadOf } from '../harness/client.ts'
import { signedIn } from '../harness/console.ts'
import { closeAs, newDispute, notifyDispute, utrOf } from '../harness/disputes.ts'
import { operatorsOf } from '../harness/operators.ts'
import { giveAccount } from '../harness/payouts.ts'
import { newUtr } from '../harness/qr-codes.ts'
import { balancesOf, brokenIn, type Shop, shopWith } from '../harness/refunds.ts'
import { asSuperuser, openService, type TestService } from '../harness/service.ts'

let service: TestService
beforeAll(async () => {
  // Without the simulated bank, which would make refunds meanwhile.
  service = await openService({ background: false })
})
afterAll(() => service.close())

const eventsOf = ({ merchantId }: Shop): Promise<string[]> =>
  asSuperuser(service.db.database, async (db) => {
    const { rows } = await db.query(
      `select type || ' ' || (payload ->> 'status') as event from outbox
       where tenant_id = $1 and payload ? 'disputeId' order by event_id`,
      [merchantId],
    )
    return rows.map(({ event }) => event)
  })
const disputeOf = async ({ client }: Shop, disputeId: string) =>
  payloadOf(await client.get(`/api/v0/disputes/${disputeId}`))
const statusOf = async (shop: Shop, disputeId: string): Promise<string> =>
  (await disputeOf(shop, disputeId)).status
const payOut = async ({ merchantId }: Shop) => {
  const { commands } = service.app.services
  const args = { merchantId, businessDay: '2026-04-01', preparedBy: 'one', isEarly: true }
  const { payout } = await operatorsOf(commands)
    .open(preparePayout)
    .run({ ...args, requiresSettlement: false })
  return payout
}

test('a dispute debits its amount from the merchant; contested and won, all of it is returned', async () => {
  const shop = await shopWith(service, 100)
  const respondBy = new Date(service.clock.now() + 86_400_000).toISOString()
  const notice = {
    caseReference: newUtr(),
    utr: await utrOf(service, shop.paymentId),
    amount: '30.50',
    respondBy,
  }
  const opened = payloadOf(await notifyDispute(service, notice))
  expect(opened).toMatchObject({ status: 'OPEN', amount: 30.5, paymentId: shop.paymentId })
  expect(payloadOf(await notifyDispute(service, { ...notice, extra: 1 }))).toEqual(opened)
  expect(await balancesOf(service, shop.merchantId)).toEqual({
    upi_clearing: '-10000',
    payable: '6950',
    disputes: '3050',
  })
  const payment = payloadOf(await shop.client.get(`/api/v0/payments/${shop.paymentId}`))
  expect(payment).toMatchObject({ status: 'ACCEPTED', disputedAmount: 30.5 })
  const path = `/api/v0/disputes/${opened.disputeId}`
  const evidence = { evidence: 'Delivered, signed by the recipient' }
  const contested = payloadOf(await shop.client.post(`${path}/evidence`, evidence))
  expect(contested).toMatchObject({ status: 'EVIDENCE_SUBMITTED', ...evidence })
  expect(payloadOf(await shop.client.post(`${path}/evidence`, evidence))).toEqual(contested)
  const won = await closeAs(service, opened.disputeId, 'WON')
  expect(won.status).toBe('WON')
  expect(await closeAs(service, opened.disputeId, 'WON')).toEqual(won)
  expect((await shop.client.post(`${path}/accept`, {})).error).toBe('dispute_closed')
  expect((await shop.client.post(`${path}/evidence`, { evidence: 'other' })).error).toBe('dispute_closed')
  expect(await balancesOf(service, shop.merchantId)).toEqual({ upi_clearing: '-10000', payable: '10000' })
  expect(payloadOf(await shop.client.get(`/api/v0/payments/${shop.paymentId}`))).not.toHaveProperty(
    'disputedAmount',
  )
  expect(await eventsOf(shop)).toEqual(['payment.disputed OPEN', 'dispute.won WON'])
  expect(payloadOf(await shop.client.get('/api/v0/disputes?status=WON')).data).toEqual([won])
  expect(payloadOf(await shop.client.get('/api/v0/disputes?status=LOST')).data).toEqual([])
  expect(await brokenIn(service)).toEqual([])
})

test('an accepted or lost dispute leaves the money with the payer', async () => {
  const shop = await shopWith(service, 10)
  const accepted = await newDispute(service, shop.paymentId, { amount: 4 })
  const path = `/api/v0/disputes/${accepted}/accept`
  const first = payloadOf(await shop.client.post(path, {}))
  expect(payloadOf(await shop.client.post(path, {}))).toEqual(first)
  const lost = await newDispute(service, shop.paymentId, { amount: 5 })
  expect((await closeAs(service, lost, 'LOST')).status).toBe('LOST')
  // The network's own end of a case that the merchant accepted says nothing new.
  expect(await closeAs(service, accepted, 'LOST')).toEqual(first)
  expect(await balancesOf(service, shop.merchantId)).toEqual({ upi_clearing: '-100', payable: '100' })
  expect((await eventsOf(shop)).slice(1)).toEqual([
    'dispute.lost ACCEPTED',
    'payment.disputed OPEN',
    'dispute.lost LOST',
  ])
  expect(await brokenIn(service)).toEqual([])
})

test('without evidence a dispute is lost at its deadline, on the test clock of the merchant; with it, it waits', async () => {
  const shop = await shopWith(service, 10)
  const respondBy = new Date(service.clock.now() + 60_000).toISOString()
  const [silent, contested] = [
    await newDispute(service, shop.paymentId, { amount: 4, respondBy }),
    await newDispute(service, shop.paymentId, { amount: 5, respondBy }),
  ]
  const path = `/api/v0/disputes/${contested}/evidence`
  payloadOf(await shop.client.post(path, { evidence: 'Delivered' }))
  await expireDisputes(service.app.services)
  const early = { merchantId: shop.merchantId, disputeId: silent, outcome: 'OVERDUE' as const }
  await operatorsOf(service.app.services.commands).open(closeDispute).run(early)
  expect(await statusOf(shop, silent)).toBe('OPEN')
  const clock = `/sandbox/tenants/${shop.merchantId}/clock`
  payloadOf(await service.client.post(`${clock}/advance`, { bySeconds: 61 }))
  expect(await statusOf(shop, silent)).toBe('LOST')
  expect(await statusOf(shop, contested)).toBe('EVIDENCE_SUBMITTED')
  const late = await shop.client.post(`/api/v0/disputes/${silent}/evidence`, { evidence: 'late' })
  expect(late.error).toBe('dispute_closed')
  expect(await eventsOf(shop)).toContain('dispute.lost LOST')
  expect(await brokenIn(service)).toEqual([])
})

test('a dispute after the payout is an advance, which the next payout deducts once; when won, it is returned', async () => {
  const shop = await shopWith(service, 100)
  await giveAccount(service, shop.merchantId)
  await payOut(shop)
  const disputeId = await newDispute(service, shop.paymentId, { amount: 60 })
  expect(await balancesOf(service, shop.merchantId)).toMatchObject({
    merchant_advances: '-6000',
    disputes: '6000',
  })
  const { client, merchantId } = shop
  const code = payloadOf(await client.post('/api/v0/qr-code', { qrName: 'Till', multipleUse: true }))
  const pay = { qrCodeId: code.qrCodeId, amount: 100 }
  payloadOf(await client.post('/sandbox/upi/pay', pay))
  expect(await payOut(shop)).toMatchObject({
    paymentPaise: 100_00n,
    refundPaise: 60_00n,
    amountPaise: 40_00n,
  })
  expect((await balancesOf(service, merchantId))['merchant_advances']).toBeUndefined()
  await closeAs(service, disputeId, 'WON')
  payloadOf(await client.post('/sandbox/upi/pay', pay))
  const last = await payOut(shop)
  expect(last).toMatchObject({ refundPaise: -60_00n, amountPaise: 160_00n })
  const { data } = payloadOf(await client.get(`/api/v0/payouts/${last?.payoutId}/lines`))
  expect(data).toContainEqual(expect.objectContaining({ kind: 'dispute_won', disputeId, amount: 60 }))
  expect((await balancesOf(service, merchantId))['merchant_advances']).toBeUndefined()
  await operatorsOf(service.app.services.commands)
    .open(changePayout)
    .run({
      merchantId,
      payoutId: last?.payoutId ?? '',
      step: { to: 'CANCELLED', reason: 'test' },
    })
  expect(await brokenIn(service)).toEqual([])
})

test('concurrent refunds and disputes of one payment never exceed it', async () => {
  for (let round = 0; round < 5; round++) {
    const shop = await shopWith(service, 10)
    const utr = await utrOf(service, shop.paymentId)
    const caseReference = newUtr()
    const same = { caseReference, utr, amount: 4 }
    const responses = await Promise.all([
      ...[1, 2, 3].map((i) => shop.client.post(shop.path, { amount: 4, referenceNumber: `r${i}` })),
      notifyDispute(service, same),
      notifyDispute(service, same),
      ...[1, 2].map(() => notifyDispute(service, { ...same, caseReference: newUtr() })),
    ])
    expect(responses.filter(({ status }) => status >= 500)).toEqual([])
    const payment = payloadOf(await shop.client.get(`/api/v0/payments/${shop.paymentId}`))
    expect((payment.refundedAmount ?? 0) + (payment.disputedAmount ?? 0)).toBe(8)
    expect(await brokenIn(service)).toEqual([])
  }
})

test('a dispute and a payout at once: the money is deducted once, from this payout or the next', async () => {
  for (let round = 0; round < 5; round++) {
    const shop = await shopWith(service, 100)
    await giveAccount(service, shop.merchantId)
    const [payout] = await Promise.all([payOut(shop), newDispute(service, shop.paymentId, { amount: 60 })])
    const { payable = '0', merchant_advances: advances = '0' } = await balancesOf(service, shop.merchantId)
    const paid = Number(payout?.amountPaise)
    expect([paid, Number(payable) + Number(advances)]).toEqual(paid === 4000 ? [4000, 0] : [10_000, -6000])
    expect(await brokenIn(service)).toEqual([])
  }
})

test('a signed notice that is not a dispute of an accepted payment is quarantined and changes nothing', async () => {
  const shop = await shopWith(service, 10)
  const other = await shopWith(service, 10)
  const utr = await utrOf(service, shop.paymentId)
  const caseReference = newUtr()
  const disputeId = await newDispute(service, shop.paymentId, { caseReference, amount: 4 })
  const reasonOf = async (notice: object): Promise<string> => {
    const response = await notifyDispute(service, notice)
    expect(response.status).toBe(202)
    return response.json.payload.reason
  }
  const fresh = { caseReference: newUtr(), utr, amount: 1 }
  const before = await balancesOf(service, shop.merchantId)
  expect([
    await reasonOf([]),
    await reasonOf({ utr, amount: 1 }),
    await reasonOf({ ...fresh, amount: 'ten' }),
    await reasonOf({ ...fresh, amount: undefined }),
    await reasonOf({ ...fresh, status: 'MAYBE' }),
    await reasonOf({ ...fresh, utr: newUtr() }),
    await reasonOf({ ...fresh, amount: 6.01 }),
    await reasonOf({ caseReference: newUtr(), status: 'LOST' }),
    await reasonOf({ ...fresh, caseReference, amount: 5 }),
    await reasonOf({ ...fresh, caseReference, amount: 4, utr: await utrOf(service, other.paymentId) }),
  ]).toEqual([
    'not_json',
    'reference_unreadable',
    'amount_unreadable',
    'amount_unreadable',
    'status_unreadable',
    'unknown_payment',
    'dispute_over_payment',
    'unknown_dispute',
    'contradicts_earlier_notice',
    'contradicts_earlier_notice',
  ])
  expect(await balancesOf(service, shop.merchantId)).toEqual(before)
  await closeAs(service, disputeId, 'WON')
  expect(await reasonOf({ caseReference, status: 'LOST' })).toBe('contradicts_earlier_notice')
  expect(await statusOf(shop, disputeId)).toBe('WON')
  expect(await brokenIn(service)).toEqual([])
})

test('an operator lists disputes and closes one with the quarantined notice that reports the outcome', async () => {
  const shop = await shopWith(service, 10)
  const disputeId = await newDispute(service, shop.paymentId)
  const unknown = await notifyDispute(service, { caseReference: newUtr(), status: 'WON' })
  const { noticeId } = unknown.json.payload
  const browser = await signedIn(service, 'operator')
  const listed = (await browser.get(`/disputes?q=${disputeId}`)).json.data
  expect(listed).toMatchObject([{ merchantId: shop.merchantId, disputeId, status: 'OPEN' }])
  const path = `/disputes/${disputeId}/close`
  const closed = await browser.post(path, { outcome: 'WON', noticeId })
  expect(closed.json).toMatchObject({ disputeId, status: 'WON' })
  expect((await browser.get(`/rail-notices/${noticeId}`)).json).toMatchObject({ status: 'ASSIGNED' })
  expect((await browser.post(path, { outcome: 'LOST' })).error).toBe('dispute_closed')
  expect((await browser.post('/disputes/dsp_none/close', { outcome: 'LOST' })).error).toBe(
    'dispute_not_found',
  )
  expect(await brokenIn(service)).toEqual([])
})
