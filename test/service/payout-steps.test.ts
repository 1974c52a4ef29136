import { changePayout, type PayoutStep } from '@svc/core/payments/payouts/change-payout'
import { preparePayout } from '@svc/core/payments/payouts/prepare-payout'
import { calendarDay } from '@svc/kernel/time'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { payloadOf } from '../harness/client.ts'
import { onceAwaited } from '../harness/lock-wait.ts'
import { operatorsOf } from '../harness/operators.ts'
import { giveAccount, preparePayoutOf, sendPayoutOf } from '../harness/payouts.ts'
import { creditOf, newCode, newUtr, notifyCredit } from '../harness/qr-codes.ts'
import { balancesOf, brokenIn, type Shop, shopWith } from '../harness/refunds.ts'
import { asSuperuser, openService, type TestService } from '../harness/service.ts'

let service: TestService
beforeAll(async () => {
  service = await openService({ background: false, env: { PAYOUT_REQUIRES_SETTLEMENT: 'false' } })
})
afterAll(() => service?.close())

/** A merchant with a bank account and a payment of 100 rupees. */
async function shop(): Promise<Shop> {
  const of = await shopWith(service, 100)
  await giveAccount(service, of.merchantId)
  return of
}
const change = ({ merchantId }: Shop, payoutId: string, step: PayoutStep) =>
  operatorsOf(service.app.services.commands).open(changePayout).run({ merchantId, payoutId, step })
const statusOf = async ({ client }: Shop, payoutId: string): Promise<string> =>
  payloadOf(await client.get(`/api/v0/payouts/${payoutId}`)).status

/** Commands that wait behind one of another merchant, whose rows are held: where they may share a batch, they do. */
const together = async (ahead: () => Promise<unknown>, requests: () => Promise<unknown>[]) =>
  asSuperuser(service.db.database, async (holder) => {
    await holder.query('begin')
    await holder.query(`select from ledger_accounts where kind = 'payable' for update`)
    const first = ahead()
    await onceAwaited(holder)
    const rest = requests()
    await holder.query('rollback')
    await Promise.allSettled([first, ...rest])
  })

test('steps of one payout that wait together are decided one after the other, each on the result of the previous one', async () => {
  const [of, another] = [await shop(), await shop()]
  const ahead = await preparePayoutOf(service, another.merchantId)
  const cancelled = await preparePayoutOf(service, of.merchantId)
  await together(
    () => change(another, ahead, { to: 'APPROVED', by: 'operator ravi' }),
    () => [
      change(of, cancelled, { to: 'APPROVED', by: 'operator ravi' }),
      change(of, cancelled, { to: 'CANCELLED', reason: 'wrong account' }),
    ],
  )
  expect(await statusOf(of, cancelled)).toBe('CANCELLED')
  const paid = await sendPayoutOf(service, of.merchantId)
  await together(
    () => change(another, ahead, { to: 'SENT', runId: 'pyr_1' }),
    () => [
      change(of, paid, { to: 'FAILED', reason: 'account closed' }),
      change(of, paid, { to: 'PAID', utr: newUtr() }),
    ],
  )
  expect(await statusOf(of, paid)).toBe('PAID')
  const balances = await balancesOf(service, of.merchantId)
  expect([balances['payable'], balances['payout_exceptions']]).toEqual([undefined, undefined])
  expect(await brokenIn(service)).toEqual([])
})

interface Prepared {
  readonly businessDay: string
  readonly payments: { readonly amount: number }
}

test('of two payouts of one merchant that are prepared together, the later one contains what the earlier one left', async () => {
  const [of, another] = [await shop(), await shop()]
  await asSuperuser(service.db.database, (db) =>
    db.query(`update payments set created_at = now() - interval '2 days' where merchant_id = $1`, [
      of.merchantId,
    ]),
  )
  const { tr } = await newCode(service, of.client)
  await notifyCredit(service.client, creditOf(tr, { amount: 50 }))
  const twoDaysAgo = calendarDay(new Date(Date.now() - 2 * 86_400_000), 'Asia/Kolkata')
  const requested = { merchantId: of.merchantId, businessDay: twoDaysAgo, preparedBy: 'operator asha' }
  await together(
    () => preparePayoutOf(service, another.merchantId),
    () => [
      operatorsOf(service.app.services.commands).open(preparePayout).run(requested),
      preparePayoutOf(service, of.merchantId),
    ],
  )
  const { data } = payloadOf(await of.client.get('/api/v0/payouts'))
  const amountOf = (isEarlier: boolean) =>
    data
      .filter(({ businessDay }: Prepared) => (businessDay === twoDaysAgo) === isEarlier)
      .map(({ payments }: Prepared) => payments.amount)
  expect([amountOf(true), amountOf(false)]).toEqual([[100], [50]])
  expect(await brokenIn(service)).toEqual([])
})
