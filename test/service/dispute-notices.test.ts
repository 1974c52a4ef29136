import { expireDisputes } from '@svc/core/payments/disputes/expire-disputes'
import { changePayout } from '@svc/core/payments/payouts/change-payout'
import { preparePayout } from '@svc/core/payments/payouts/prepare-payout'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { runHere } from '../harness/cli.ts'
import { payloadOf } from '../harness/client.ts'
import { signedIn } from '../harness/console.ts'
import { closeAs, newDispute, notifyDispute, utrOf } from '../harness/disputes.ts'
import { operatorsOf } from '../harness/operators.ts'
import { giveAccount } from '../harness/payouts.ts'
import { creditOf, newCode, newUtr, notifyCredit } from '../harness/qr-codes.ts'
import { balancesOf, brokenIn, newShop, notifyRefund, type Shop, shopWith } from '../harness/refunds.ts'
import { asSuperuser, MASTER_KEY, openService, RAIL_KEY, type TestService } from '../harness/service.ts'

let service: TestService
beforeAll(async () => {
  // Without the simulated bank, which would make refunds meanwhile.
  service = await openService({ background: false })
})
afterAll(() => service.close())

const quarantined = async (notice: object): Promise<{ noticeId: string; reason: string }> => {
  const response = await notifyDispute(service, notice)
  expect(response.status).toBe(202)
  return response.json.payload
}
const assignHere = (noticeId: string, ...options: string[]) =>
  runHere(['admin', 'notice', 'assign', noticeId, '--json', ...options], {
    DATABASE_URL: service.db.url,
    SVC_MASTER_KEY: MASTER_KEY,
  })
const disputeOf = async ({ client }: Shop, disputeId: string) =>
  payloadOf(await client.get(`/api/v0/disputes/${disputeId}`))
const advance = async ({ merchantId }: Shop, bySeconds: number) =>
  payloadOf(await service.client.post(`/sandbox/tenants/${merchantId}/clock/advance`, { bySeconds }))
const eventsOf = ({ merchantId }: Shop): Promise<string[]> =>
  asSuperuser(service.db.database, async (db) => {
    const { rows } = await db.query(
      `select type || ' ' || (payload ->> 'status') as event from outbox
       where tenant_id = $1 and payload ? 'disputeId' order by event_id`,
      [merchantId],
    )
    return rows.map(({ event }) => event)
  })

/** A dispute of which the bank reports nothing more, and that is lost because no evidence came in time. */
async function overdueDispute(shop: Shop, amount: number): Promise<string> {
  const respondBy = new Date(service.clock.now() + 60_000).toISOString()
  const disputeId = await newDispute(service, shop.paymentId, { amount, respondBy })
  await advance(shop, 61)
  expect((await disputeOf(shop, disputeId)).status).toBe('LOST')
  return disputeId
}

test('a dispute of more than the remaining amount is opened by its quarantined notice once the refund fails, and then lost by the second one', async () => {
  const shop = await shopWith(service, 10)
  const utr = await utrOf(service, shop.paymentId)
  const request = { amount: 4, referenceNumber: 'first' }
  const { refundId } = payloadOf(await shop.client.post(shop.path, request))
  const caseReference = newUtr()
  const first = await quarantined({ caseReference, utr, amount: 10 })
  const second = await quarantined({ caseReference, status: 'LOST' })
  expect([first.reason, second.reason]).toEqual(['dispute_over_payment', 'unknown_dispute'])
  const browser = await signedIn(service, 'operator')
  const path = `/rail-notices/${first.noticeId}`
  const early = await browser.post(`${path}/assign`, {})
  expect([early.status, early.error]).toEqual([409, 'notice_not_applied'])
  expect(early.text).toContain('dispute_over_payment')
  expect((await browser.get(path)).json.status).toBe('QUARANTINED')
  payloadOf(await notifyRefund(service, { refundId, amount: 4, status: 'FAILED', reason: 'closed' }))
  expect((await browser.post(`${path}/assign`, { utr, amount: 10 })).error).toBe('validation_failed')
  const opened = (await browser.post(`${path}/assign`, {})).json
  expect(opened).toMatchObject({ caseReference, status: 'OPEN', amount: 10, paymentId: shop.paymentId })
  expect((await browser.get(path)).json).toMatchObject({ status: 'ASSIGNED', paymentId: shop.paymentId })
  expect((await browser.post(`${path}/assign`, {})).error).toBe('notice_not_in_quarantine')
  const [entry] = (await browser.get(`/audit?target=${first.noticeId}`)).json.data
  expect(entry).toMatchObject({ action: 'rail_notice.assigned' })
  const { stdout, code } = await assignHere(second.noticeId)
  expect([code, JSON.parse(stdout)]).toMatchObject([0, { disputeId: opened.disputeId, status: 'LOST' }])
  expect(await balancesOf(service, shop.merchantId)).toEqual({})
  expect(await eventsOf(shop)).toEqual(expect.arrayContaining(['payment.disputed OPEN', 'dispute.lost LOST']))
  expect(await brokenIn(service)).toEqual([])
})

test('a dispute that is notified before its credit is opened once by its notice, also by two operators at once', async () => {
  const { client, merchantId } = await newShop(service)
  const { tr } = await newCode(service, client, { multipleUse: true })
  const credit = creditOf(tr, { amount: 10 })
  const { noticeId, reason } = await quarantined({ caseReference: newUtr(), utr: credit.utr, amount: 3 })
  expect(reason).toBe('unknown_payment')
  expect((await assignHere(noticeId)).code).toBe(1)
  const { paymentId } = payloadOf(await notifyCredit(service.client, credit))
  const browsers = [await signedIn(service, 'operator'), await signedIn(service, 'operator')]
  const both = await Promise.all(browsers.map((each) => each.post(`/rail-notices/${noticeId}/assign`, {})))
  expect(both.map(({ status }) => status).sort()).toEqual([200, 409])
  expect(both.map(({ error }) => error)).toContain('notice_not_in_quarantine')
  expect(payloadOf(await client.get('/api/v0/disputes')).data).toMatchObject([{ paymentId, amount: 3 }])
  expect(await balancesOf(service, merchantId)).toMatchObject({ payable: '700', disputes: '300' })
  expect(await brokenIn(service)).toEqual([])
})

test('assigning a payment still requires both a reference and an amount', async () => {
  const { client } = await newShop(service)
  const { tr } = await newCode(service, client)
  const credit = await service.client.notify('/rails/upi/credits', { words: tr }, RAIL_KEY)
  const { noticeId } = credit.json.payload
  const browser = await signedIn(service, 'operator')
  const path = `/rail-notices/${noticeId}/assign`
  expect((await browser.post(path, { utr: newUtr(), tr })).error).toBe('validation_failed')
  expect((await assignHere(noticeId, '--tr', tr)).code).toBe(1)
  const reading = { utr: newUtr(), amount: 10, tr }
  expect((await browser.post(path, reading)).json).toMatchObject({ status: 'ACCEPTED', utr: reading.utr })
})

test('a deadline that has passed before the bank reports the dispute counts as 24 hours from then', async () => {
  const shop = await shopWith(service, 10)
  const respondBy = new Date(service.clock.now() - 3_600_000).toISOString()
  const disputeId = await newDispute(service, shop.paymentId, { amount: 4, respondBy })
  const { createdOn, evidenceDueOn } = await disputeOf(shop, disputeId)
  expect(Date.parse(evidenceDueOn) - Date.parse(createdOn)).toBe(86_400_000)
  await expireDisputes(service.app.services)
  // Read in the database: the merchant's tokens end before its clock is a day ahead.
  const statusOf = async () =>
    asSuperuser(service.db.database, async (db) => {
      const { rows } = await db.query('select status from disputes where dispute_id = $1', [disputeId])
      return rows[0].status
    })
  await advance(shop, 86_300)
  expect(await statusOf()).toBe('OPEN')
  await advance(shop, 200)
  expect(await statusOf()).toBe('LOST')
})

test('a dispute that only our deadline ended is won when the network decides so: the money and the advance are returned', async () => {
  const shop = await shopWith(service, 100)
  const { client, merchantId } = shop
  await giveAccount(service, merchantId)
  const payOut = async () => {
    const args = { merchantId, businessDay: '2026-04-01', preparedBy: 'one', isEarly: true }
    const { commands } = service.app.services
    return (
      await operatorsOf(commands)
        .open(preparePayout)
        .run({ ...args, requiresSettlement: false })
    ).payout
  }
  await payOut()
  const advanced = await overdueDispute(shop, 60)
  const { tr } = await newCode(service, client, { multipleUse: true })
  payloadOf(await notifyCredit(service.client, creditOf(tr, { amount: 100 })))
  expect(await payOut()).toMatchObject({ refundPaise: 60_00n, amountPaise: 40_00n })
  const won = await closeAs(service, advanced, 'WON')
  expect(won.status).toBe('WON')
  expect(await closeAs(service, advanced, 'WON')).toEqual(won)
  const late = await quarantined({ caseReference: won.caseReference, status: 'LOST' })
  expect(late.reason).toBe('contradicts_earlier_notice')
  expect(await eventsOf(shop)).toEqual(['payment.disputed OPEN', 'dispute.lost LOST', 'dispute.won WON'])
  const payment = payloadOf(await client.get(`/api/v0/payments/${shop.paymentId}`))
  expect(payment).not.toHaveProperty('disputedAmount')
  payloadOf(await notifyCredit(service.client, creditOf(tr, { amount: 100 })))
  const last = await payOut()
  expect(last).toMatchObject({ refundPaise: -60_00n, amountPaise: 160_00n })
  expect((await balancesOf(service, merchantId))['disputes']).toBeUndefined()
  const step = { to: 'CANCELLED' as const, reason: 'test' }
  const { commands } = service.app.services
  await operatorsOf(commands)
    .open(changePayout)
    .run({ merchantId, payoutId: last?.payoutId ?? '', step })
  expect(await brokenIn(service)).toEqual([])
})

test('an operator, too, can record that a dispute which our deadline ended was won', async () => {
  const shop = await shopWith(service, 10)
  const disputeId = await overdueDispute(shop, 4)
  const browser = await signedIn(service, 'operator')
  const path = `/disputes/${disputeId}/close`
  expect((await browser.post(path, { outcome: 'WON' })).json).toMatchObject({ status: 'WON' })
  expect((await browser.post(path, { outcome: 'WON' })).json).toMatchObject({ status: 'WON' })
  expect(await balancesOf(service, shop.merchantId)).toEqual({ upi_clearing: '-1000', payable: '1000' })
  expect(await brokenIn(service)).toEqual([])
})

test('a dispute that the network reported lost, or that the merchant accepted, is never won afterwards', async () => {
  const shop = await shopWith(service, 10)
  const lost = await newDispute(service, shop.paymentId, { amount: 1 })
  await closeAs(service, lost, 'LOST')
  const accepted = await newDispute(service, shop.paymentId, { amount: 2 })
  payloadOf(await shop.client.post(`/api/v0/disputes/${accepted}/accept`, {}))
  const confirmed = await overdueDispute(shop, 4)
  const before = await disputeOf(shop, confirmed)
  for (const _ of [1, 2]) expect(await closeAs(service, confirmed, 'LOST')).toEqual(before)
  const browser = await signedIn(service, 'operator')
  for (const disputeId of [lost, accepted, confirmed]) {
    const { caseReference, status } = await disputeOf(shop, disputeId)
    const { reason } = await quarantined({ caseReference, status: 'WON' })
    expect(reason).toBe('contradicts_earlier_notice')
    expect((await browser.post(`/disputes/${disputeId}/close`, { outcome: 'WON' })).error).toBe(
      'dispute_closed',
    )
    expect((await disputeOf(shop, disputeId)).status).toBe(status)
  }
  expect(await balancesOf(service, shop.merchantId)).toEqual({ upi_clearing: '-300', payable: '300' })
  expect(await brokenIn(service)).toEqual([])
})
