import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { watchAlerts } from '@svc/console-api/alerts/watch-alerts'
import { changePayout, type PayoutStep } from '@svc/core/payments/payouts/change-payout'
import { calendarDay } from '@svc/kernel/time'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { sqlOn } from '../harness/approvals.ts'
import { runHere } from '../harness/cli.ts'
import { payloadOf } from '../harness/client.ts'
import { Browser, newOperator } from '../harness/console.ts'
import { operatorsOf } from '../harness/operators.ts'
import { giveAccount, sendPayoutOf } from '../harness/payouts.ts'
import { creditOf, newCode, newUtr, notifyCredit } from '../harness/qr-codes.ts'
import { balancesOf, brokenIn, type Shop, shopWith } from '../harness/refunds.ts'
import { MASTER_KEY, openService, type TestService } from '../harness/service.ts'
import { settle } from '../harness/settled-outside.ts'

let service: TestService
let folder: string
beforeAll(async () => {
  service = await openService({ background: false })
  folder = await mkdtemp(join(tmpdir(), 'svc-payouts-'))
})
afterAll(async () => {
  await service?.close()
  await rm(folder, { recursive: true, force: true })
})

const change = ({ merchantId }: Shop, payoutId: string, step: PayoutStep) =>
  operatorsOf(service.app.services.commands).open(changePayout).run({ merchantId, payoutId, step })
const shown = async ({ client }: Shop, payoutId: string) =>
  payloadOf(await client.get(`/api/v0/payouts/${payoutId}`))
const refusal = (refused: Promise<unknown>): Promise<string> =>
  refused.then(
    () => 'none',
    (error: Error) => error.message,
  )

/** Prepares what is due and brings it to the bank, which pays it. */
async function paidOf(of: Shop, utr = newUtr()): Promise<string> {
  const payoutId = await sendPayoutOf(service, of.merchantId)
  await change(of, payoutId, { to: 'PAID', utr })
  return payoutId
}

/** A payout of 100 rupees that the bank has paid. */
async function paid() {
  const of = await shopWith(service, 100)
  await giveAccount(service, of.merchantId)
  const utr = newUtr()
  return { of, utr, payoutId: await paidOf(of, utr) }
}

async function importing(payoutId: string, status: string, utr: string) {
  const file = join(folder, 'response.csv')
  await writeFile(file, `payoutId,status,utr,reason\n${payoutId},${status},${utr},account closed\n`)
  const env = { DATABASE_URL: service.db.url, SVC_MASTER_KEY: MASTER_KEY }
  const { code, stdout } = await runHere(['admin', 'payout', 'import', file, '--json'], env)
  return { code, result: JSON.parse(stdout)[0].result as string }
}

async function statementOf({ merchantId }: Shop) {
  const day = calendarDay(new Date(), 'Asia/Kolkata')
  const { stdout } = await runHere(['admin', 'payout', 'statement', merchantId, '--date', day, '--json'], {
    DATABASE_URL: service.db.url,
    SVC_MASTER_KEY: MASTER_KEY,
  })
  return JSON.parse(stdout)
}

const eventsOf = ({ merchantId }: Shop) =>
  sqlOn<{ type: string }>(
    service,
    `select type from outbox where tenant_id = $1 and type like 'payout.%' order by created_at`,
    [merchantId],
  )

test('a paid payout that the bank returned is failed, and its money is in the next payout', async () => {
  const { of, payoutId, utr } = await paid()
  const returnUtr = newUtr()
  for (let i = 0; i < 2; i++)
    expect(await importing(payoutId, 'RETURNED', returnUtr)).toEqual({ code: 0, result: 'FAILED' })
  expect(await shown(of, payoutId)).toMatchObject({
    status: 'FAILED',
    utr,
    failureReason: 'account closed',
    completedOn: expect.any(String),
    returnedOn: expect.any(String),
  })
  const balances = await balancesOf(service, of.merchantId)
  expect(balances).toMatchObject({ payable: '10000' })
  expect([balances['bank'], balances['payouts_in_transit']]).toEqual([undefined, undefined])
  expect((await eventsOf(of)).map(({ type }) => type)).toEqual(['payout.paid', 'payout.failed'])
  const next = await shown(of, await paidOf(of))
  expect(next).toMatchObject({ status: 'PAID', amount: 100, payments: { count: 1, amount: 100 } })
  expect(await balancesOf(service, of.merchantId)).toMatchObject({ bank: '10000' })
  expect(await statementOf(of)).toMatchObject({ unexplained: '0.00', closingPayable: '0.00' })
  expect(await brokenIn(service)).toEqual([])
})

test('an older report that it was paid does not pay the returned money, and another reference is rejected', async () => {
  const { of, payoutId, utr } = await paid()
  await importing(payoutId, 'RETURNED', newUtr())
  expect(await importing(payoutId, 'PAID', utr)).toEqual({ code: 0, result: 'FAILED' })
  const other = await importing(payoutId, 'PAID', newUtr())
  expect(other).toEqual({ code: 1, result: expect.stringContaining(`paid it under ${utr}`) })
  expect(await balancesOf(service, of.merchantId)).toMatchObject({ payable: '10000' })
  expect(await brokenIn(service)).toEqual([])
})

test('a paid payout fails only with the bank’s reference of the return, which no other payout has', async () => {
  const [one, two] = [await paid(), await paid()]
  expect(await refusal(change(one.of, one.payoutId, { to: 'FAILED', reason: 'closed' }))).toContain(
    'reference of the return',
  )
  expect(await importing(one.payoutId, 'REJECTED', newUtr())).toMatchObject({ code: 1 })
  const returnUtr = newUtr()
  await change(two.of, two.payoutId, { to: 'FAILED', reason: 'closed', returnUtr })
  for (const taken of [two.utr, returnUtr]) {
    const refused = change(one.of, one.payoutId, { to: 'FAILED', reason: 'closed', returnUtr: taken })
    expect(await refusal(refused)).toContain(`${taken} is that of another payout`)
  }
  expect(await shown(one.of, one.payoutId)).toMatchObject({ status: 'PAID' })
  // The bank may return a payment under the reference that it was made under.
  await change(one.of, one.payoutId, { to: 'FAILED', reason: 'closed', returnUtr: one.utr })
  expect(await shown(one.of, one.payoutId)).toMatchObject({ status: 'FAILED' })
  expect(await brokenIn(service)).toEqual([])
})

test('one that failed, was paid after all and was then returned is due again, with every paisa explained', async () => {
  const of = await shopWith(service, 100)
  await giveAccount(service, of.merchantId)
  const payoutId = await sendPayoutOf(service, of.merchantId)
  expect(await importing(payoutId, 'RETURNED', '')).toEqual({ code: 0, result: 'FAILED' })
  expect(await shown(of, payoutId)).not.toHaveProperty('returnedOn')
  await change(of, payoutId, { to: 'PAID', utr: newUtr() })
  await change(of, payoutId, { to: 'FAILED', reason: 'account closed', returnUtr: newUtr() })
  expect(await balancesOf(service, of.merchantId)).toMatchObject({ payable: '10000' })
  expect(await statementOf(of)).toMatchObject({ unexplained: '0.00', closingPayable: '100.00' })
  expect(await brokenIn(service)).toEqual([])
})

test('the returned money of a payout that was paid late settles its exception instead', async () => {
  const of = await shopWith(service, 100)
  await giveAccount(service, of.merchantId)
  const first = await sendPayoutOf(service, of.merchantId)
  await change(of, first, { to: 'FAILED', reason: 'account closed' })
  await paidOf(of)
  await change(of, first, { to: 'PAID', utr: newUtr() })
  const refused = await importing(first, 'RETURNED', newUtr())
  expect(refused).toEqual({ code: 1, result: expect.stringContaining(`payout_exceptions:${of.merchantId}`) })
  expect(await brokenIn(service)).toEqual([])
})

test('one bank transfer is a return or settles an exception, never both', async () => {
  const exception = async () => {
    const of = await shopWith(service, 100)
    await giveAccount(service, of.merchantId)
    const first = await sendPayoutOf(service, of.merchantId)
    await change(of, first, { to: 'FAILED', reason: 'account closed' })
    await paidOf(of)
    await change(of, first, { to: 'PAID', utr: newUtr() })
    return `payout_exceptions:${of.merchantId}`
  }
  const browser = new Browser(service)
  await browser.signIn((await newOperator(service, 'operator')).name)
  const [settled, returned] = [newUtr(), newUtr()]
  const one = await paid()
  const entered = await settle(browser, await exception(), { amount: '100.00', reference: settled })
  expect(entered.status).toBe(200)
  const failed = { to: 'FAILED', reason: 'account closed' } as const
  expect(await refusal(change(one.of, one.payoutId, { ...failed, returnUtr: settled }))).toContain(
    'other money that came in',
  )
  await change(one.of, one.payoutId, { ...failed, returnUtr: returned })
  const refused = await settle(browser, await exception(), { amount: '100.00', reference: returned })
  expect([refused.status, refused.json.error]).toEqual([409, 'settlement_reference_used'])
  expect(await brokenIn(service)).toEqual([])
})

test('in the console a return is recorded by its reference, found by it and shown in the history', async () => {
  const { payoutId } = await paid()
  const browser = new Browser(service)
  await browser.signIn((await newOperator(service, 'operator')).name)
  const path = `/payouts/${payoutId}/complete`
  const bare = await browser.post(path, { status: 'FAILED', reason: 'account closed' })
  expect(bare.status).toBe(409)
  const returnUtr = newUtr()
  const { json, status } = await browser.post(path, { status: 'FAILED', reason: 'account closed', returnUtr })
  expect([status, json.status]).toEqual([200, 'FAILED'])
  const { json: detail } = await browser.get(`/payouts/${payoutId}`)
  expect(detail.history.map(({ what }: { what: string }) => what)).toEqual(
    expect.arrayContaining(['paid', 'returned_by_the_bank']),
  )
  const { json: found } = await browser.get(`/payouts?q=${returnUtr}`)
  expect(found.data.map((each: { payoutId: string }) => each.payoutId)).toEqual([payoutId])
})

test('its alert is open until a payout prepared since is sent, whatever was sent before', async () => {
  const { of, payoutId } = await paid()
  const { tr } = await newCode(service, of.client)
  await notifyCredit(service.client, creditOf(tr, { amount: 5 }))
  await paidOf(of)
  await change(of, payoutId, { to: 'FAILED', reason: 'account closed', returnUtr: newUtr() })
  const browser = new Browser(service)
  await browser.signIn((await newOperator(service, 'operator')).name)
  const statusesOf = async () => {
    await sqlOn(service, `update alert_watch set until = '-infinity'`)
    await watchAlerts(service.app.services, `alp_${newUtr()}`)
    const { json } = await browser.get(`/alerts?kind=payout_failed&q=${payoutId}`)
    return json.data.map(({ status }: { status: string }) => status)
  }
  expect(await statusesOf()).toEqual(['open'])
  await sendPayoutOf(service, of.merchantId)
  expect(await statusesOf()).not.toContain('open')
})

test('the sandbox simulates a returned payout', async () => {
  const of = await shopWith(service, 100)
  await giveAccount(service, of.merchantId)
  const returned = payloadOf(await of.client.post('/sandbox/payouts', { outcome: 'RETURNED' }))
  expect(returned).toMatchObject({ status: 'FAILED', returnedOn: expect.any(String) })
  expect((await eventsOf(of)).map(({ type }) => type)).toEqual(['payout.paid', 'payout.failed'])
})
