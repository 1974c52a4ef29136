import { closeDispute } from '@svc/core/payments/disputes/close-dispute'
import { readDisputeNotice } from '@svc/core/payments/disputes/dispute-notice'
import { receiveDispute } from '@svc/core/payments/disputes/receive-dispute'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { sqlOn } from '../harness/approvals.ts'
import { newDispute, utrOf } from '../harness/disputes.ts'
import { operatorsOf } from '../harness/operators.ts'
import { newUtr } from '../harness/qr-codes.ts'
import { balancesOf, brokenIn, shopWith } from '../harness/refunds.ts'
import { asSuperuser, openService, type TestService } from '../harness/service.ts'

let service: TestService
beforeAll(async () => {
  service = await openService({ background: false })
})
afterAll(() => service.close())

const eventsOf = async (merchantId: string): Promise<string[]> =>
  (
    await sqlOn<{ type: string }>(
      service,
      `select o.type from unnumbered_events u
         join outbox o on o.tenant_id = u.tenant_id and o.event_id = u.event_id
       where u.tenant_id = $1 and o.payload ? 'disputeId' order by u.position`,
      [merchantId],
    )
  ).map(({ type }) => type)

/**
 * Carries out commands of one kind in one batch: they wait for the first one, which waits for a row that is held until
 * they have arrived.
 */
async function inOneBatch<T>(
  name: string,
  held: string,
  first: () => Promise<unknown>,
  then: () => readonly Promise<T>[],
): Promise<T[]> {
  return asSuperuser(service.db.database, async (db) => {
    await db.query(`begin; ${held} for update`)
    const before = first()
    const waiting = then()
    let isOver = false
    void Promise.allSettled(waiting).then(() => (isOver = true))
    const queued = () => [...service.app.services.queues.open].find((open) => open.name === name)?.queued ?? 0
    // On a machine so busy that the first one was put back meanwhile, the others are over alone.
    await expect.poll(() => isOver || queued() >= waiting.length, { interval: 1 }).toBe(true)
    await db.query('commit')
    await before
    return Promise.all(waiting)
  })
}

test('a dispute that its deadline ends and the network wins in the same batch is lost, then won', async () => {
  const [busy, shop] = [await shopWith(service, 10), await shopWith(service, 10)]
  const heldId = await newDispute(service, busy.paymentId)
  const respondBy = new Date(service.clock.now() + 60_000).toISOString()
  const disputeId = await newDispute(service, shop.paymentId, { amount: 4, respondBy })
  service.clock.advance(61_000)
  const { run } = operatorsOf(service.app.services.commands).open(closeDispute)
  const of = { merchantId: shop.merchantId, disputeId }
  const ended = await inOneBatch(
    'closeDispute',
    `select from disputes where dispute_id = '${heldId}'`,
    () => run({ merchantId: busy.merchantId, disputeId: heldId, outcome: 'LOST' }),
    () => [
      run({ ...of, outcome: 'OVERDUE' }),
      run({ ...of, paymentId: shop.paymentId, outcome: 'WON' }),
      run({ ...of, paymentId: shop.paymentId, outcome: 'WON' }),
    ],
  )
  expect(ended.map(({ dispute, isNew }) => [dispute.status, isNew])).toEqual([
    ['LOST', true],
    ['WON', true],
    ['WON', false],
  ])
  expect(await eventsOf(shop.merchantId)).toEqual(['payment.disputed', 'dispute.lost', 'dispute.won'])
  expect(await balancesOf(service, shop.merchantId)).toEqual({ upi_clearing: '-1000', payable: '1000' })
  expect(await brokenIn(service)).toEqual([])
})

test('a dispute that is opened and won in the same batch keeps the notice by which it was won', async () => {
  const [busy, shop] = [await shopWith(service, 10), await shopWith(service, 10)]
  const { run } = service.app.services.commands.open(receiveDispute)
  const report = async (paymentId: string, fields: object) => ({
    caseReference: newUtr(),
    utr: await utrOf(service, paymentId),
    amount: 4,
    reason: 'Goods not received',
    ...fields,
  })
  const notify = (fields: object) => {
    const notice = Buffer.from(JSON.stringify(fields))
    return run({ notice, read: readDisputeNotice(notice) })
  }
  const [other, opening] = [await report(busy.paymentId, {}), await report(shop.paymentId, {})]
  const winning = { ...opening, status: 'WON' }
  const [opened, won] = await inOneBatch(
    'receiveDispute',
    `select from payments where payment_id = '${busy.paymentId}'`,
    () => notify(other),
    () => [notify(opening), notify(winning)],
  )
  expect([opened?.changed, won?.changed]).toEqual(['opened', 'closed'])
  const [stored] = await sqlOn<{ status: string; notice: string }>(
    service,
    `select status, convert_from(outcome_notice, 'UTF8') as notice from disputes where dispute_id = $1`,
    [opened?.dispute?.disputeId],
  )
  expect(stored).toEqual({ status: 'WON', notice: JSON.stringify(winning) })
  expect(await brokenIn(service)).toEqual([])
})
