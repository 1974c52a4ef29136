import { acceptPayment } from '@svc/core/payments/accept-payment'
import { assignmentOf } from '@svc/core/payments/suspense/assign-notice'
import { findNotice } from '@svc/core/rails/find-notice'
import { required } from '@svc/kernel/invariant'
import { paise } from '@svc/kernel/money'
import { tenantSet } from '@svc/platform/db/database'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { approve, openApprovers, sqlOn } from '../harness/approvals.ts'
import { runHere } from '../harness/cli.ts'
import { type Json, payloadOf } from '../harness/client.ts'
import type { Browser } from '../harness/console.ts'
import { newCode, newUtr } from '../harness/qr-codes.ts'
import { brokenIn, newShop, shopWith } from '../harness/refunds.ts'
import { asSuperuser, MASTER_KEY, RAIL_KEY, type TestService } from '../harness/service.ts'

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

/** A notice in quarantine; returns its id. */
const quarantined = async (): Promise<string> => {
  const notice = { words: newUtr() }
  const { json } = await service.client.notify('/rails/upi/credits', notice, RAIL_KEY)
  return json.payload.noticeId
}
/** A notice in quarantine, and what an operator reads in it: a credit of a code. */
async function unread(amount: number) {
  const shop = await newShop(service)
  const { tr } = await newCode(service, shop.client, { multipleUse: true })
  const noticeId = await quarantined()
  return { ...shop, noticeId, reading: { utr: newUtr(), amount, tr } }
}
const assign = (by: Browser, noticeId: string, reading: object) =>
  by.post(`/rail-notices/${noticeId}/assign`, reading)
const statusOf = async (noticeId: string): Promise<string> =>
  (await asha.get(`/rail-notices/${noticeId}`)).json.status
const paymentsOf = async ({ client }: Awaited<ReturnType<typeof newShop>>): Promise<Json[]> =>
  payloadOf(await client.get('/api/v0/payments')).data

test('a quarantined notice above the limit is credited only by two people, and once', async () => {
  const small = await unread(1_000)
  expect((await assign(asha, small.noticeId, small.reading)).json).toMatchObject({ status: 'ACCEPTED' })
  const { noticeId, reading, ...shop } = await unread(1_000.01)
  const waiting = await assign(asha, noticeId, reading)
  expect(waiting).toMatchObject({
    status: 202,
    json: {
      kind: 'notice_assigned',
      status: 'PENDING',
      tenantId: shop.merchantId,
      amount: '1000.01',
      reference: noticeId,
      request: { utr: reading.utr, tr: reading.tr, payeeVpa: null },
    },
  })
  expect([await statusOf(noticeId), await paymentsOf(shop)]).toEqual(['QUARANTINED', []])
  const { approvalId } = waiting.json
  expect((await assign(ravi, noticeId, reading)).json.approvalId).toBe(approvalId)
  expect((await assign(ravi, noticeId, { ...reading, amount: 9_000 })).error).toBe('approval_open')
  expect((await approve(asha, approvalId)).error).toBe('approval_same_person')
  const approved = await Promise.all([1, 2, 3].map(() => approve(ravi, approvalId)))
  for (const { status, json } of approved) expect([status, json.status]).toEqual([200, 'POSTED'])
  expect((await approve(ravi, approvalId)).json.status).toBe('POSTED')
  expect(await paymentsOf(shop)).toMatchObject([{ status: 'ACCEPTED', amount: 1_000.01, utr: reading.utr }])
  const { requestedBy } = waiting.json
  expect((await asha.get(`/rail-notices/${noticeId}`)).json).toMatchObject({
    status: 'ASSIGNED',
    assignedBy: requestedBy,
  })
})

test('on the command line, too, a notice above the limit waits for a second person', async () => {
  const { noticeId, reading, ...shop } = await unread(2_500)
  const env = { DATABASE_URL: service.db.url, SVC_MASTER_KEY: MASTER_KEY, APPROVAL_ABOVE_RUPEES: '1000' }
  const args = ['--utr', reading.utr, '--amount', '2500', '--tr', reading.tr, '--json']
  const { code, stdout, stderr } = await runHere(['admin', 'notice', 'assign', noticeId, ...args], env)
  const waiting = JSON.parse(stdout)
  expect([code, waiting.status, waiting.kind]).toEqual([0, 'PENDING', 'notice_assigned'])
  expect(stderr).toContain(`svc admin approval approve ${waiting.approvalId}`)
  expect([await statusOf(noticeId), await paymentsOf(shop)]).toEqual(['QUARANTINED', []])
  expect((await approve(ravi, waiting.approvalId)).json.status).toBe('POSTED')
  expect(await paymentsOf(shop)).toMatchObject([{ status: 'ACCEPTED', amount: 2_500 }])
})

test('the database rejects an assignment above the limit without the approval of that notice', async () => {
  const { noticeId, reading, ...shop } = await unread(1_000.01)
  const { database, commands } = service.app.services
  const notice = required(await database.operate((tx) => findNotice(tx, noticeId)), 'it is in quarantine')
  const read = { ...reading, amountPaise: paise(100_001n) }
  const alone = commands.open(acceptPayment).run(assignmentOf(notice, read, 'operator asha'))
  await expect(alone).rejects.toThrow()
  expect([await statusOf(noticeId), await paymentsOf(shop)]).toEqual(['QUARANTINED', []])
  const [large, small] = [await shopWith(service, 1_000.01), await shopWith(service, 1_000)]
  const mark = (paymentId: string) =>
    sqlOn(
      service,
      `begin; set local role svc_service; set local svc.tenants = '${tenantSet(['house'])}';
       update rail_notices set status = 'ASSIGNED', payment_id = '${paymentId}', assigned_at = now(),
         assigned_by = 'operator asha' where notice_id = '${noticeId}'; rollback`,
    ).then(
      () => 'taken',
      (error: { constraint?: string; message: string }) => error.constraint ?? error.message,
    )
  expect(await mark(small.paymentId)).toBe('taken')
  for (const paymentId of [large.paymentId, 'pay_none'])
    expect(await mark(paymentId)).toBe('assignments_are_approved')
})

test('an assignment approved for one merchant is not credited to another', async () => {
  const shop = await newShop(service)
  const noticeId = await quarantined()
  const reading = { utr: newUtr(), amount: 3_000, payeeVpa: shop.vpa }
  const { approvalId, tenantId } = (await assign(asha, noticeId, reading)).json
  expect(tenantId).toBe(shop.merchantId)
  await asSuperuser(service.db.database, async (db) => {
    // As after the days that a new address waits.
    await db.query('set session_replication_role = replica')
    await db.query(`update merchants set vpa = 'moved.' || vpa where merchant_id = $1`, [shop.merchantId])
  })
  expect((await approve(ravi, approvalId)).error).toBe('approval_outdated')
  expect((await ravi.post(`/approvals/${approvalId}/reject`, {})).json.status).toBe('REJECTED')
  expect((await assign(asha, noticeId, reading)).json).toMatchObject({ status: 'PENDING', tenantId: 'house' })
})
