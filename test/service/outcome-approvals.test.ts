import { closeDispute } from '@svc/core/payments/disputes/close-dispute'
import { completeRefund } from '@svc/core/payments/refunds/complete-refund'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { approve, newReference, openApprovers, sqlOn } from '../harness/approvals.ts'
import { runHere } from '../harness/cli.ts'
import { payloadOf } from '../harness/client.ts'
import { type Browser, newOperator, PASSWORD } from '../harness/console.ts'
import { closeAs, newDispute, notifyDispute } from '../harness/disputes.ts'
import { newUtr } from '../harness/qr-codes.ts'
import { balancesOf, brokenIn, notifyRefund, type Shop, shopWith } from '../harness/refunds.ts'
import { MASTER_KEY, type TestService } from '../harness/service.ts'

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

const ALONE = 'needs the approval of a second person'
const sql = <T>(text: string, values: unknown[] = []) => sqlOn<T>(service, text, values)
const payable = async ({ merchantId }: Shop) => (await balancesOf(service, merchantId))['payable']
const newRefund = async (shop: Shop, amount: number): Promise<string> =>
  payloadOf(await shop.client.post(shop.path, { amount, referenceNumber: newReference() })).refundId
const failRefund = (by: Browser, refundId: string, more: object = {}) =>
  by.post(`/refunds/${refundId}/complete`, { status: 'FAILED', reason: 'account closed', ...more })
const win = (by: Browser, disputeId: string, more: object = {}) =>
  by.post(`/disputes/${disputeId}/close`, { outcome: 'WON', ...more })
const statusOf = async (table: 'merchant_refunds' | 'disputes', id: string): Promise<string> => {
  const key = table === 'disputes' ? 'dispute_id' : 'refund_id'
  return (await sql<{ status: string }>(`select status from ${table} where ${key} = $1`, [id]))[0]!.status
}
const caseOf = async (disputeId: string): Promise<string> =>
  (
    await sql<{ value: string }>('select case_reference as value from disputes where dispute_id = $1', [
      disputeId,
    ])
  )[0]!.value

test('a refund above the limit that an operator records as failed is payable again only when a second person approves', async () => {
  const shop = await shopWith(service, 5_000)
  const refundId = await newRefund(shop, 1_000.01)
  const waiting = await failRefund(asha, refundId, { utr: 'hdfcr-00000099' })
  expect(waiting).toMatchObject({
    status: 202,
    json: {
      kind: 'merchant_refund_failed',
      amount: '1000.01',
      reference: refundId,
      reason: 'account closed',
      request: { refundId, utr: 'HDFCR00000099' },
    },
  })
  expect([await statusOf('merchant_refunds', refundId), await payable(shop)]).toEqual(['PENDING', '399999'])
  const { approvalId } = waiting.json
  expect((await failRefund(ravi, refundId, { utr: 'HDFCR00000099' })).json.approvalId).toBe(approvalId)
  expect((await approve(asha, approvalId)).error).toBe('approval_same_person')
  const posted = await approve(ravi, approvalId)
  expect(posted.json).toMatchObject({ status: 'POSTED', journalId: `jrn_${refundId.slice(4)}f` })
  expect([await statusOf('merchant_refunds', refundId), await payable(shop)]).toEqual(['FAILED', '500000'])
  expect((await failRefund(asha, refundId, { utr: 'HDFCR00000099' })).json.status).toBe('FAILED')
  const small = await newRefund(shop, 1_000)
  expect((await failRefund(asha, small)).json).toMatchObject({ status: 'FAILED' })
})

test('a dispute above the limit that an operator records as won is payable again only when a second person approves', async () => {
  const shop = await shopWith(service, 5_000)
  const disputeId = await newDispute(service, shop.paymentId, { amount: 1_500 })
  const waiting = await win(asha, disputeId)
  const request = { disputeId, paymentId: shop.paymentId }
  expect(waiting).toMatchObject({
    status: 202,
    json: { kind: 'dispute_won', amount: '1500.00', reference: disputeId, request },
  })
  expect([await statusOf('disputes', disputeId), await payable(shop)]).toEqual(['OPEN', '350000'])
  expect((await approve(asha, waiting.json.approvalId)).error).toBe('approval_same_person')
  expect((await approve(ravi, waiting.json.approvalId)).json.status).toBe('POSTED')
  expect([await statusOf('disputes', disputeId), await payable(shop)]).toEqual(['WON', '500000'])
  const small = await newDispute(service, shop.paymentId, { amount: 1_000 })
  expect((await win(asha, small)).json.status).toBe('WON')
})

test('a dispute above the limit is lost or accepted on behalf of its merchant only when a second person approves', async () => {
  for (const [path, body, end] of [
    ['close', { outcome: 'LOST' }, 'LOST'],
    ['accept', {}, 'ACCEPTED'],
  ] as const) {
    const shop = await shopWith(service, 5_000)
    const disputeId = await newDispute(service, shop.paymentId, { amount: 1_500 })
    const waiting = await asha.post(`/disputes/${disputeId}/${path}`, body)
    expect(waiting).toMatchObject({ status: 202, json: { kind: 'dispute_lost', amount: '1500.00' } })
    expect(await statusOf('disputes', disputeId)).toBe('OPEN')
    expect((await approve(asha, waiting.json.approvalId)).error).toBe('approval_same_person')
    expect((await approve(ravi, waiting.json.approvalId)).json.status).toBe('POSTED')
    expect([await statusOf('disputes', disputeId), await payable(shop)]).toEqual([end, '350000'])
    // Winning it after all is an undo, whatever the amount.
    expect(await win(asha, disputeId)).toMatchObject({ status: 202, json: { kind: 'dispute_won' } })
  }
})

test('what an operator said was lost, the network still decides for the merchant; what the merchant accepted, it does not', async () => {
  const shop = await shopWith(service, 5_000)
  const [lost, accepted] = [
    await newDispute(service, shop.paymentId, { amount: 600 }),
    await newDispute(service, shop.paymentId, { amount: 700 }),
  ]
  expect((await asha.post(`/disputes/${lost}/close`, { outcome: 'LOST' })).json.status).toBe('LOST')
  payloadOf(await shop.client.post(`/api/v0/disputes/${accepted}/accept`, {}))
  for (const disputeId of [lost, accepted])
    await notifyDispute(service, { caseReference: await caseOf(disputeId), status: 'WON' })
  expect([await statusOf('disputes', lost), await statusOf('disputes', accepted)]).toEqual([
    'WON',
    'ACCEPTED',
  ])
  expect(await payable(shop)).toBe('430000')
})

test('one that was lost because no evidence arrived in time is won by two people, too', async () => {
  const shop = await shopWith(service, 5_000)
  const respondBy = new Date(service.clock.now() + 60_000).toISOString()
  const disputeId = await newDispute(service, shop.paymentId, { amount: 3_000, respondBy })
  const clock = `/sandbox/tenants/${shop.merchantId}/clock/advance`
  payloadOf(await service.client.post(clock, { bySeconds: 61 }))
  expect(await statusOf('disputes', disputeId)).toBe('LOST')
  const waiting = await win(asha, disputeId)
  expect(waiting).toMatchObject({ status: 202, json: { kind: 'dispute_won' } })
  expect((await approve(ravi, waiting.json.approvalId)).json.status).toBe('POSTED')
  expect([await statusOf('disputes', disputeId), await payable(shop)]).toEqual(['WON', '500000'])
})

test('the database rejects such an outcome by one person, whatever the program does', async () => {
  const shop = await shopWith(service, 5_000)
  const { commands } = service.app.services
  const refundId = await newRefund(shop, 1_200)
  const disputeId = await newDispute(service, shop.paymentId, { amount: 1_300 })
  const { merchantId, paymentId } = shop
  const outcome = { refundId, utr: null, amountPaise: undefined, failureReason: 'says one person' }
  const audit = { actor: 'operator asha', target: merchantId }
  // As the program would without the rule of its own, which asks who commands it.
  await expect(commands.open(completeRefund).run({ read: { outcome } })).rejects.toThrow(ALONE)
  const won = { merchantId, disputeId, paymentId, outcome: 'WON' } as const
  await expect(commands.open(closeDispute).run(won)).rejects.toThrow(ALONE)
  expect([await statusOf('merchant_refunds', refundId), await statusOf('disputes', disputeId)]).toEqual([
    'PENDING',
    'OPEN',
  ])
  // Nor is an approval of one used for the other.
  const { approvalId } = (await failRefund(asha, refundId)).json
  await sql(
    `update approvals set outcome = 'APPROVED', decided_by = 'operator ravi', decided_at = now() where approval_id = $1`,
    [approvalId],
  )
  const approved = commands.open(closeDispute).run({ ...won, approvalId }, audit)
  await expect(approved).rejects.toMatchObject({ code: 'approval_outdated' })
  expect(await payable(shop)).toBe('250000')
})

test('an outcome that the bank reports by a signed notice needs no second person, and the notice is stored with it', async () => {
  const shop = await shopWith(service, 5_000)
  const refundId = await newRefund(shop, 1_200)
  const disputeId = await newDispute(service, shop.paymentId, { amount: 1_300 })
  payloadOf(await notifyRefund(service, { refundId, status: 'FAILED', reason: 'account closed' }))
  expect((await closeAs(service, disputeId, 'WON')).status).toBe('WON')
  expect(await payable(shop)).toBe('500000')
  const kept = await sql<{ notice: string }>(
    `select convert_from(outcome_notice, 'utf8') as notice from merchant_refunds where refund_id = $1
     union all select convert_from(outcome_notice, 'utf8') from disputes where dispute_id = $2`,
    [refundId, disputeId],
  )
  expect(kept.map(({ notice }) => JSON.parse(notice).status)).toEqual(['FAILED', 'WON'])
})

test('a quarantined notice that states the outcome and the amount needs no second person; any other one does', async () => {
  const shop = await shopWith(service, 9_000)
  const taken = newUtr()
  payloadOf(
    await notifyRefund(service, { refundId: await newRefund(shop, 1), status: 'REFUNDED', utr: taken }),
  )
  // A reference that another refund has: the notice waits.
  const quarantined = async (notice: object) =>
    (await notifyRefund(service, { utr: taken, status: 'FAILED', ...notice })).json.payload.noticeId as string
  const [stated, other] = [await newRefund(shop, 1_100), await newRefund(shop, 1_200)]
  const silent = await quarantined({ refundId: stated })
  const of = await quarantined({ refundId: other, amount: 1_200 })
  const made = await quarantined({ refundId: stated, amount: 1_100, status: 'REFUNDED' })
  for (const noticeId of [silent, of, made]) {
    const waiting = await failRefund(asha, stated, { noticeId })
    expect(waiting).toMatchObject({ status: 202, json: { request: { noticeId } } })
    await asha.post(`/approvals/${waiting.json.approvalId}/reject`, {})
  }
  const noticeId = await quarantined({ refundId: stated, amount: 1_100 })
  expect((await failRefund(asha, stated, { noticeId })).json).toMatchObject({ status: 'FAILED' })
  const [notice] = await sql<{ status: string }>('select status from rail_notices where notice_id = $1', [
    noticeId,
  ])
  expect(notice!.status).toBe('ASSIGNED')

  const disputeId = await newDispute(service, shop.paymentId, { amount: 1_300 })
  const caseReference = await caseOf(disputeId)
  const decided = async (more: object) =>
    (await notifyDispute(service, { caseReference, utr: newUtr(), status: 'WON', ...more })).json.payload
      .noticeId as string
  expect((await win(asha, disputeId, { noticeId: await decided({}) })).status).toBe(202)
  const won = await win(ravi, disputeId, { noticeId: await decided({ amount: 1_300 }) })
  expect(won.json).toMatchObject({ status: 'WON' })
})

test('what the bank reports in the meantime ends the request: the same outcome posts nothing, another one is rejected', async () => {
  const shop = await shopWith(service, 5_000)
  const [same, differs] = [await newRefund(shop, 1_100), await newRefund(shop, 1_200)]
  const [first, second] = [await failRefund(asha, same), await failRefund(asha, differs)]
  payloadOf(await notifyRefund(service, { refundId: same, status: 'FAILED' }))
  payloadOf(await notifyRefund(service, { refundId: differs, status: 'REFUNDED' }))
  expect((await approve(ravi, first.json.approvalId)).json.status).toBe('REJECTED')
  expect((await approve(ravi, second.json.approvalId)).error).toBe('refund_closed')
  expect(await payable(shop)).toBe('380000')
})

test('two processes that approve one outcome at once record it once', async () => {
  for (let round = 0; round < 5; round++) {
    const shop = await shopWith(service, 5_000)
    const { approvalId } = (await failRefund(asha, await newRefund(shop, 1_500))).json
    const both = await Promise.all([approve(ravi, approvalId), approve(ravi, approvalId)])
    for (const { status } of both) expect(status).toBe(200)
    expect(await payable(shop)).toBe('500000')
  }
})

test('the same holds on the command line', async () => {
  const people = [await newOperator(service, 'finance'), await newOperator(service, 'finance')]
  const as = (person: number, ...args: string[]) =>
    runHere(['admin', ...args, '--json'], {
      DATABASE_URL: service.db.url,
      SVC_MASTER_KEY: MASTER_KEY,
      SVC_OPERATOR: people[person]!.name,
      SVC_OPERATOR_PASSWORD: PASSWORD,
      APPROVAL_ABOVE_RUPEES: '1000',
    })
  const shop = await shopWith(service, 5_000)
  const refundId = await newRefund(shop, 1_200)
  const disputeId = await newDispute(service, shop.paymentId, { amount: 1_300 })
  for (const [args, kind] of [
    [['refund', 'fail', refundId, '--reason', 'account closed'], 'merchant_refund_failed'],
    [['dispute', 'close', disputeId, '--outcome', 'WON'], 'dispute_won'],
  ] as const) {
    const waits = await as(0, ...args)
    expect(waits.code, waits.stderr).toBe(0)
    expect(waits.stderr).toContain('another operator approves it')
    const waiting = JSON.parse(waits.stdout)
    expect(waiting).toMatchObject({ kind, status: 'PENDING' })
    expect((await as(0, 'approval', 'approve', waiting.approvalId)).code).not.toBe(0)
    const approved = await as(1, 'approval', 'approve', waiting.approvalId)
    expect(JSON.parse(approved.stdout), approved.stderr).toMatchObject({ status: 'POSTED' })
  }
  expect(await payable(shop)).toBe('500000')
})
