import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { changePayout, type PayoutStep } from '@svc/core/payments/payouts/change-payout'
import { calendarDay } from '@svc/kernel/time'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { sqlOn } from '../harness/approvals.ts'
import { runHere } from '../harness/cli.ts'
import { payloadOf } from '../harness/client.ts'
import { Browser, newOperator } from '../harness/console.ts'
import { operatorsOf } from '../harness/operators.ts'
import { giveAccount, preparePayoutOf, sendPayoutOf } from '../harness/payouts.ts'
import { creditOf, newCode, newUtr, notifyCredit } from '../harness/qr-codes.ts'
import { balancesOf, brokenIn, type Shop, shopWith } from '../harness/refunds.ts'
import { MASTER_KEY, openService, type TestService } from '../harness/service.ts'
import { settle } from '../harness/settled-outside.ts'

let service: TestService
let other: TestService
let folder: string
beforeAll(async () => {
  service = await openService({ background: false })
  other = await openService({ background: false, db: service.db })
  folder = await mkdtemp(join(tmpdir(), 'svc-payouts-'))
})
afterAll(async () => {
  await other?.close()
  await service?.close()
  await rm(folder, { recursive: true, force: true })
})

const change = ({ merchantId }: Shop, payoutId: string, step: PayoutStep, on = service) =>
  operatorsOf(on.app.services.commands).open(changePayout).run({ merchantId, payoutId, step })

const sent = ({ merchantId }: Shop): Promise<string> => sendPayoutOf(service, merchantId)

/** A payout of 100 rupees that the bank has reported as failed. */
async function failed() {
  const of = await shopWith(service, 100)
  await giveAccount(service, of.merchantId)
  const payoutId = await sent(of)
  await change(of, payoutId, { to: 'FAILED', reason: 'account closed' })
  return { of, payoutId }
}

const refusal = async (refused: Promise<unknown>): Promise<string> =>
  refused.then(
    () => 'none',
    (error: Error) => error.message,
  )
const shown = async ({ client }: Shop, payoutId: string) =>
  payloadOf(await client.get(`/api/v0/payouts/${payoutId}`))
const nothingDue = ({ merchantId }: Shop) => refusal(preparePayoutOf(service, merchantId))

const env = () => ({ DATABASE_URL: service.db.url, SVC_MASTER_KEY: MASTER_KEY })
async function unexplained({ merchantId }: Shop): Promise<string> {
  const day = calendarDay(new Date(), 'Asia/Kolkata')
  const { stdout } = await runHere(
    ['admin', 'payout', 'statement', merchantId, '--date', day, '--json'],
    env(),
  )
  return JSON.parse(stdout).unexplained
}
async function importing(payoutId: string, utr: string) {
  const file = join(folder, 'response.csv')
  await writeFile(file, `payoutId,status,utr,reason\n${payoutId},PAID,${utr},\n`)
  const { code, stdout } = await runHere(['admin', 'payout', 'import', file, '--json'], env())
  return { code, result: JSON.parse(stdout)[0].result as string }
}

test('a failed payout that the bank has paid after all is paid, and its items are no longer due', async () => {
  const { of, payoutId } = await failed()
  const utr = newUtr()
  expect(await importing(payoutId, utr)).toEqual({ code: 0, result: 'PAID' })
  expect(await importing(payoutId, utr)).toEqual({ code: 0, result: 'PAID' })
  const payout = await shown(of, payoutId)
  expect(payout).toMatchObject({ status: 'PAID', utr })
  expect(payout).not.toHaveProperty('failureReason')
  expect(payloadOf(await of.client.get(`/api/v0/payouts/${payoutId}/lines`)).data).toHaveLength(1)
  expect(await nothingDue(of)).toContain('nothing_due')
  const balances = await balancesOf(service, of.merchantId)
  expect(balances['payable']).toBeUndefined()
  expect(balances['payouts_in_transit']).toBeUndefined()
  expect(balances['bank']).toBe('10000')
  const events = await sqlOn<{ id: string }>(
    service,
    `select object_id as id from outbox where tenant_id = $1 and type = 'payout.paid'`,
    [of.merchantId],
  )
  expect(events).toEqual([{ id: payoutId }])
  expect(await unexplained(of)).toBe('0.00')
  expect(await brokenIn(service)).toEqual([])
})

test('where a later payout has its money and was not sent, the bank’s report is rejected until that is cancelled', async () => {
  const { of, payoutId } = await failed()
  const later = await preparePayoutOf(service, of.merchantId)
  const utr = newUtr()
  const refused = await importing(payoutId, utr)
  expect(refused).toMatchObject({ code: 1, result: expect.stringContaining(`${later}, not sent yet`) })
  expect(await shown(of, payoutId)).toMatchObject({ status: 'FAILED' })
  await change(of, later, { to: 'CANCELLED', reason: 'the first was paid' })
  expect(await importing(payoutId, utr)).toEqual({ code: 0, result: 'PAID' })
  expect(await brokenIn(service)).toEqual([])
})

test('a merchant that was paid twice owes the late payment: an exception that operators see and settle', async () => {
  const { of, payoutId } = await failed()
  const later = await sent(of)
  await change(of, later, { to: 'PAID', utr: newUtr() })
  const utr = newUtr()
  const account = `payout_exceptions:${of.merchantId}`
  for (let i = 0; i < 2; i++)
    expect(await importing(payoutId, utr)).toEqual({ code: 1, result: expect.stringContaining(account) })
  expect(await shown(of, payoutId)).toMatchObject({ status: 'FAILED', utr })
  expect(await refusal(change(of, payoutId, { to: 'PAID', utr: newUtr() }))).toContain(utr)
  expect(await balancesOf(service, of.merchantId)).toMatchObject({
    payout_exceptions: '-10000',
    bank: '20000',
  })
  expect(await unexplained(of)).toBe('0.00')
  const browser = new Browser(service)
  await browser.signIn((await newOperator(service, 'operator')).name)
  const { json } = await browser.get(`/payouts/${payoutId}`)
  expect(json.history.map(({ what }: { what: string }) => what)).toContain('paid_late')
  expect((await settle(browser, account, { amount: '100.00' })).status).toBe(200)
  expect((await balancesOf(service, of.merchantId))['payout_exceptions']).toBeUndefined()
  expect(await brokenIn(service)).toEqual([])
})

test('where its money was refunded since, the late payment is an exception, and only the rest is due', async () => {
  const { of, payoutId } = await failed()
  const path = `/api/v0/payments/${of.paymentId}/refunds`
  payloadOf(await of.client.post(path, { amount: 30, referenceNumber: 'r-1' }))
  const { payout } = await change(of, payoutId, { to: 'PAID', utr: newUtr() })
  expect(payout).toMatchObject({ status: 'FAILED', paidLateAt: expect.any(Date) })
  expect(await balancesOf(service, of.merchantId)).toMatchObject({
    payable: '7000',
    payout_exceptions: '-10000',
  })
  expect(await brokenIn(service)).toEqual([])
})

test('with a late report and a new payout at once, in two processes, each paisa is paid once or is an exception', async () => {
  const cases = await Promise.all(Array.from({ length: 6 }, () => failed()))
  await Promise.all(
    cases.flatMap(({ of, payoutId }, i) => [
      refusal(change(of, payoutId, { to: 'PAID', utr: newUtr() }, i % 2 ? service : other)),
      refusal(preparePayoutOf(i % 2 ? other : service, of.merchantId)),
    ]),
  )
  for (const { of } of cases) {
    const { data } = payloadOf(await of.client.get('/api/v0/payouts'))
    const standing = data.filter(({ status }: { status: string }) => status !== 'FAILED')
    expect(standing).toHaveLength(1)
  }
  expect(await brokenIn(service)).toEqual([])
})

test('a bank’s reference of another payout is rejected for a failed one, too', async () => {
  const [{ of, payoutId }, paid] = [await failed(), await failed()]
  const utr = newUtr()
  await change(paid.of, paid.payoutId, { to: 'PAID', utr })
  expect(await importing(payoutId, utr)).toMatchObject({ code: 1 })
  expect(await shown(of, payoutId)).toMatchObject({ status: 'FAILED' })
  // A new payment and the old one are both in the next payout.
  const { tr } = await newCode(service, of.client)
  await notifyCredit(service.client, creditOf(tr, { amount: 5 }))
  const next = await shown(of, await preparePayoutOf(service, of.merchantId))
  expect(next.amount).toBe(105)
})
