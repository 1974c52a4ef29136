import { accrueDueFees, accrueFees } from '@svc/core/payments/fees/accrue-fees'
import { changePayout, type PayoutStep } from '@svc/core/payments/payouts/change-payout'
import { businessDay, businessDayOf } from '@svc/core/payments/payouts/payout-statement'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { runHere } from '../harness/cli.ts'
import { payloadOf } from '../harness/client.ts'
import { operatorsOf } from '../harness/operators.ts'
import { giveAccount, giveFee, preparePayoutOf } from '../harness/payouts.ts'
import { creditOf, newCode, newUtr, notifyCredit } from '../harness/qr-codes.ts'
import { balancesOf, brokenIn } from '../harness/refunds.ts'
import { asSuperuser, MASTER_KEY, openService, type TestService } from '../harness/service.ts'

const DAY_S = 86_400
const ZONE = 'Asia/Kolkata'

let service: TestService
let other: TestService
beforeAll(async () => {
  const env = { GST_STATE: '29' }
  service = await openService({ background: false, env })
  other = await openService({ background: false, db: service.db, env })
})
afterAll(async () => {
  await other?.close()
  await service?.close()
})

interface Shop {
  readonly merchantId: string
  readonly tr: string
}

/** A merchant that is charged 1 % for each payment, in another state than the platform or in the same. */
async function shop(gstState = '29'): Promise<Shop> {
  const merchant = await service.newMerchant()
  const { tr } = await newCode(service, await service.as(merchant), { multipleUse: true })
  await giveAccount(service, merchant.merchantId, gstState)
  await giveFee(service, merchant.merchantId, { basisPoints: 100 })
  return { merchantId: merchant.merchantId, tr }
}

const pay = async ({ tr }: Shop, amount: number): Promise<string> =>
  payloadOf(await notifyCredit(service.client, creditOf(tr, { amount }))).paymentId

const advance = async ({ merchantId }: Shop, days: number) =>
  payloadOf(
    await service.client.post(`/sandbox/tenants/${merchantId}/clock/advance`, { bySeconds: days * DAY_S }),
  )

const change = ({ merchantId }: Shop, payoutId: string, step: PayoutStep) =>
  operatorsOf(service.app.services.commands).open(changePayout).run({ merchantId, payoutId, step })

async function sent(of: Shop): Promise<string> {
  const payoutId = await preparePayoutOf(service, of.merchantId)
  await change(of, payoutId, { to: 'APPROVED', by: 'operator ravi' })
  await change(of, payoutId, { to: 'SENT', runId: 'pyr_1' })
  return payoutId
}

const sql = <Row extends object>(text: string, values: unknown[] = []): Promise<Row[]> =>
  asSuperuser(service.db.database, async (db) => (await db.query<Row>(text, values)).rows)

/** By effective date and reference, what each journal of fees entered. */
const journalsOf = ({ merchantId }: Shop) =>
  sql<{ day: string; reference: string; at: Date; amount: string }>(
    `select j.effective_date::text as day, j.reference, sum(t.amount)::text as amount
     from journals j join ledger_transfers t using (tenant_id, journal_id)
     where j.tenant_id = $1 and j.kind = 'fee_accrual' group by 1, 2 order by 1, 2`,
    [merchantId],
  )

const dayOf = async (paymentId: string): Promise<string> => {
  const [row] = await sql<{ created_at: Date }>('select created_at from payments where payment_id = $1', [
    paymentId,
  ])
  return businessDayOf(row!.created_at, service.app.services.config.BUSINESS_DAY_CUTOFF, ZONE)
}

test('a day that is over has one journal of its fees and GST, effective on it, whichever processes enter it', async () => {
  const [near, far] = [await shop(), await shop('07')]
  const first = await dayOf(await pay(near, 100))
  await pay(near, 50)
  await pay(far, 100)
  await accrueDueFees(service.app.services)
  expect(await journalsOf(near)).toEqual([])
  for (const of of [near, far]) await advance(of, 1)
  const second = await dayOf(await pay(near, 200))
  await Promise.all([service, other, service].map((on) => accrueDueFees(on.app.services)))
  // 1 % of 150.00 and, of each fee, 9 % and 9 % GST: 0.09 of 1.00, 0.045 of 0.50 rounded up.
  expect(await journalsOf(near)).toEqual([{ day: first, reference: first, amount: '178' }])
  expect(await journalsOf(far)).toEqual([{ day: first, reference: first, amount: '118' }])
  expect(await balancesOf(service, near.merchantId)).toMatchObject({
    accrued_fees: '-178',
    fee_income: '150',
    output_cgst: '14',
    output_sgst: '14',
    payable: '35000',
  })
  expect(await balancesOf(service, far.merchantId)).toMatchObject({ fee_income: '100', output_igst: '18' })
  await advance(near, 1)
  expect((await journalsOf(near)).map(({ day }) => day)).toEqual([first, second])
  expect(await brokenIn(service)).toEqual([])
})

test('a payout enters fees of its own payments, deducts what was entered, and takes back that alone', async () => {
  const of = await shop()
  await pay(of, 100)
  await advance(of, 1)
  await pay(of, 100)
  const failed = await sent(of)
  const deducted = await balancesOf(service, of.merchantId)
  expect(deducted).toMatchObject({ fee_income: '200', output_cgst: '18', output_sgst: '18' })
  expect(deducted).not.toHaveProperty('accrued_fees')
  expect(await journalsOf(of)).toHaveLength(2)
  await change(of, failed, { to: 'FAILED', reason: 'closed' })
  const released = { fee_income: '200', output_cgst: '18', output_sgst: '18', accrued_fees: '-236' }
  expect(await balancesOf(service, of.merchantId)).toMatchObject({ ...released, payable: '20000' })
  const cancelled = await preparePayoutOf(service, of.merchantId)
  await change(of, cancelled, { to: 'CANCELLED', reason: 'wrong account' })
  expect(await balancesOf(service, of.merchantId)).toMatchObject({ ...released, payable: '20000' })
  const utr = newUtr()
  await change(of, failed, { to: 'PAID', utr })
  await change(of, failed, { to: 'FAILED', reason: 'closed', returnUtr: newUtr() })
  await change(of, await sent(of), { to: 'PAID', utr: newUtr() })
  expect(await journalsOf(of)).toHaveLength(2)
  expect(await balancesOf(service, of.merchantId)).not.toHaveProperty('accrued_fees')
  expect(await brokenIn(service)).toEqual([])
})

test('a payment that is found late has another journal of its day; a fee without its payments is refused', async () => {
  const of = await shop()
  const day = await dayOf(await pay(of, 100))
  await advance(of, 1)
  const late = await pay(of, 100)
  // As when it is assigned out of suspense.
  await sql(
    `with late as (
       update payments p set created_at = f.created_at from payments f
       where p.payment_id = $1 and f.merchant_id = p.merchant_id and f.payment_id <> p.payment_id
       returning p.merchant_id, p.created_at)
     update payout_positions o set accrued_to = l.created_at from late l where o.merchant_id = l.merchant_id`,
    [late],
  )
  await accrueDueFees(service.app.services)
  expect(await journalsOf(of)).toEqual([
    { day, reference: day, amount: '118' },
    { day, reference: `${day}~2`, amount: '118' },
  ])
  const forged = sql(
    `with entered as (
       insert into journals (tenant_id, journal_id, kind, effective_date, reference, legs, at)
       values ($1, 'jrn_forged', 'fee_accrual', now(), 'forged', 1, now()))
     insert into ledger_transfers (transfer_id, tenant_id, journal_id, leg, kind, debit_account_id, credit_account_id,
       amount, unit, object_id, created_at)
     values ('trf_forged', $1, 'jrn_forged', 1, 'fee_accrual', 'accrued_fees:' || $1, 'fee_income:' || $1, 1, 'INR',
       'forged', now())`,
    [of.merchantId],
  )
  await expect(forged).rejects.toThrow('not that of its payments')
})

test('an operator enters the fees of a day that is over, once, by the merchants’ clocks', async () => {
  const of = await shop()
  const day = await dayOf(await pay(of, 100))
  const env = { DATABASE_URL: service.db.url, SVC_MASTER_KEY: MASTER_KEY, GST_STATE: '29' }
  const accrue = (through: string) =>
    runHere(['admin', 'books', 'accrue', '--through', through, '--json'], env)
  const far = businessDayOf(new Date(Date.now() + 400 * DAY_S * 1_000), 1_440, ZONE)
  expect(await accrue(far)).toMatchObject({ code: 1, stderr: expect.stringContaining('not over') })
  const until = businessDay(day, service.app.services.config.BUSINESS_DAY_CUTOFF, ZONE).to
  const early = service.app.services.commands.open(accrueFees).run({ merchantId: of.merchantId, until })
  await expect(early).rejects.toMatchObject({ code: 'business_day_not_over' })
  await advance(of, 1)
  expect(JSON.parse((await accrue(day)).stdout)).toEqual({ payments: 0 })
  expect(await journalsOf(of)).toHaveLength(1)
})
