import { changePayout, type PayoutStep } from '@svc/core/payments/payouts/change-payout'
import { type PreparedPayout, preparePayout } from '@svc/core/payments/payouts/prepare-payout'
import { paise } from '@svc/kernel/money'
import { calendarDay } from '@svc/kernel/time'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Client, payloadOf } from '../harness/client.ts'
import { operatorsOf } from '../harness/operators.ts'
import { giveAccount, giveFee } from '../harness/payouts.ts'
import { creditOf, newCode, newUtr, notifyCredit } from '../harness/qr-codes.ts'
import { balancesOf, brokenIn, newShop, notifyRefund } from '../harness/refunds.ts'
import { asSuperuser, openService, type TestService } from '../harness/service.ts'
import { recordSettlement } from '../harness/settlements.ts'

let service: TestService
let other: TestService
beforeAll(async () => {
  const env = { REFUNDS_BEYOND_BALANCE: 'allow', GST_STATE: '29' }
  service = await openService({ background: false, env })
  other = await openService({ background: false, db: service.db, env })
})
afterAll(async () => {
  await other?.close()
  await service?.close()
})

const today = (): string => calendarDay(new Date(), 'Asia/Kolkata')

interface Shop {
  readonly merchantId: string
  readonly client: Client
  readonly tr: string
}

/** A merchant with a bank account, charged 1 % and 50 paise for each payment. */
async function shop(gstState: string | null = '29', hasAccount = true): Promise<Shop> {
  const { merchantId, client } = await newShop(service)
  const { tr } = await newCode(service, client, { multipleUse: true })
  if (hasAccount) await giveAccount(service, merchantId, gstState)
  await giveFee(service, merchantId, { basisPoints: 100, fixedPaise: 50n })
  return { merchantId, client, tr }
}

async function pay({ tr }: Shop, amount: number, isSettled = true) {
  const utr = newUtr()
  const { paymentId } = payloadOf(await notifyCredit(service.client, creditOf(tr, { utr, amount })))
  const lines = [{ utr, line: 1, amountPaise: paise(BigInt(Math.round(amount * 100))), settledOn: today() }]
  if (isSettled) await recordSettlement(service.app.services.commands, `stf_${utr.toLowerCase()}`, lines)
  return { paymentId, utr }
}

async function refund({ client }: Shop, paymentId: string, amount: number, referenceNumber: string) {
  const path = `/api/v0/payments/${paymentId}/refunds`
  return payloadOf(await client.post(path, { amount, referenceNumber })).refundId as string
}

/** Up to now: the day of these tests is not over. */
const prepare = ({ merchantId }: Shop, on: TestService = service): Promise<PreparedPayout> =>
  operatorsOf(on.app.services.commands)
    .open(preparePayout)
    .run({ merchantId, businessDay: today(), preparedBy: 'operator asha', isEarly: true })

const change = ({ merchantId }: Shop, payoutId: string, step: PayoutStep, on: TestService = service) =>
  operatorsOf(on.app.services.commands).open(changePayout).run({ merchantId, payoutId, step })

async function sent(of: Shop): Promise<string> {
  const { payout } = await prepare(of)
  const { payoutId } = payout!
  await change(of, payoutId, { to: 'APPROVED', by: 'operator ravi' })
  await change(of, payoutId, { to: 'SENT', runId: 'pyr_1' })
  return payoutId
}

const refusal = async (refused: Promise<unknown>): Promise<string> =>
  refused.then(
    () => 'none',
    (error: { code?: string; message: string }) => error.code ?? error.message,
  )

test('a merchant gets payments less refunds, fees and GST, exact to the paisa; the books follow each step', async () => {
  const of = await shop()
  const first = await pay(of, 100)
  await pay(of, 49.5)
  await refund(of, first.paymentId, 30, 'r-1')
  const payoutId = await sent(of)
  // 1 % and 50 paise: 1.50 and, of 49.50, 0.495 rounded up and 0.50. CGST and SGST of 9 % each: 0.135 and 0.09.
  const record = {
    payoutId,
    businessDay: today(),
    payments: { count: 2, amount: 149.5 },
    refunds: { count: 1, amount: 30 },
    fees: 2.5,
    tax: { cgst: 0.23, sgst: 0.23, igst: 0 },
    amount: 116.54,
    account: '5678',
  }
  expect(payloadOf(await of.client.get(`/api/v0/payouts/${payoutId}`))).toMatchObject({
    ...record,
    status: 'SENT',
  })
  expect(await balancesOf(service, of.merchantId)).toEqual({
    bank: '-14950',
    fee_income: '250',
    output_cgst: '23',
    output_sgst: '23',
    payouts_in_transit: '11654',
    upi_refunds: '3000',
  })
  const { payout } = await change(of, payoutId, { to: 'PAID', utr: newUtr() })
  expect(payloadOf(await of.client.get('/api/v0/payouts?status=PAID')).data).toMatchObject([
    { ...record, status: 'PAID', utr: payout.utr },
  ])
  expect((await balancesOf(service, of.merchantId))['bank']).toBe('-3296')
  const { data } = payloadOf(await of.client.get(`/api/v0/payouts/${payoutId}/lines?limit=3`))
  expect(data).toMatchObject([
    {
      kind: 'payment',
      paymentId: first.paymentId,
      amount: 100,
      isDeducted: false,
      fee: 1.5,
      tax: { cgst: 0.14, sgst: 0.14, igst: 0 },
    },
    { kind: 'payment', amount: 49.5, fee: 1, tax: { cgst: 0.09, sgst: 0.09, igst: 0 } },
    { kind: 'refund', amount: 30, isDeducted: true, fee: 0 },
  ])
  expect(await brokenIn(service)).toEqual([])
})

test('a payment is paid out once, only after the bank has paid it, also by four concurrent runs in two processes', async () => {
  const of = await shop()
  await pay(of, 10)
  const late = await pay(of, 20, false)
  const runs = await Promise.all([prepare(of), prepare(of, other), prepare(of, other), prepare(of)])
  expect(runs.filter(({ payout }) => payout).map(({ payout }) => payout!.paymentPaise)).toEqual([10_00n])
  expect(runs.filter(({ reason }) => reason === 'nothing_due')).toHaveLength(3)
  await pay(of, 30)
  await recordSettlement(service.app.services.commands, 'stf_late', [
    { utr: late.utr, line: 1, amountPaise: paise(20_00n), settledOn: today() },
  ])
  expect((await prepare(of)).payout).toMatchObject({ paymentCount: 2, paymentPaise: 50_00n })
  expect(await brokenIn(service)).toEqual([])
})

test('a failed or cancelled payout is payable again, and in the next one', async () => {
  const of = await shop()
  const { paymentId } = await pay(of, 100)
  await refund(of, paymentId, 10, 'r-1')
  const failed = await sent(of)
  const before = await change(of, failed, { to: 'FAILED', reason: 'account closed' })
  expect(before.payout).toMatchObject({ status: 'FAILED', failureReason: 'account closed' })
  expect(await balancesOf(service, of.merchantId)).toEqual({
    bank: '-10000',
    payable: '9000',
    upi_refunds: '1000',
    // Fees and their GST stay in the books of their day.
    accrued_fees: '-178',
    fee_income: '150',
    output_cgst: '14',
    output_sgst: '14',
  })
  const { payout: second } = await prepare(of)
  await change(of, second!.payoutId, { to: 'CANCELLED', reason: 'wrong account' })
  const { payout: third } = await prepare(of)
  expect(third).toMatchObject({ paymentPaise: 100_00n, refundPaise: 10_00n })
  const events = await asSuperuser(service.db.database, async (db) => {
    const { rows } = await db.query(
      `select type, payload ->> 'payoutId' as "payoutId" from outbox where tenant_id = $1 and type like 'payout.%'`,
      [of.merchantId],
    )
    return rows
  })
  expect(events).toEqual([{ type: 'payout.failed', payoutId: failed }])
  expect(await brokenIn(service)).toEqual([])
})

test('of payouts of one merchant that fail at the same instant, in any order, every payment is due again', async () => {
  const blocking = await shop()
  await pay(blocking, 1)
  const failing: [Shop, string][] = [[blocking, await sent(blocking)]]
  const shops = [await shop(), await shop()]
  for (const [n, of] of shops.entries()) {
    await pay(of, 10)
    const earlier = await sent(of)
    await pay(of, 20)
    const both = [earlier, await sent(of)]
    failing.push(...(n === 0 ? both : both.reverse()).map((id): [Shop, string] => [of, id]))
  }
  await asSuperuser(service.db.database, (db) =>
    db.query(`update payout_positions set due_from = now() + interval '1 hour'`),
  )
  // The first goes alone, the others together.
  await Promise.all(failing.map(([of, id]) => change(of, id, { to: 'FAILED', reason: 'bank closed' })))
  for (const of of shops)
    expect((await prepare(of)).payout).toMatchObject({ paymentCount: 2, paymentPaise: 30_00n })
  expect(await brokenIn(service)).toEqual([])
})

test('the operator who prepared a payout cannot approve it, by the rules and by the database', async () => {
  const of = await shop()
  await pay(of, 10)
  const { payoutId } = (await prepare(of)).payout!
  expect(await refusal(change(of, payoutId, { to: 'APPROVED', by: 'operator asha' }))).toBe(
    'payout_same_person',
  )
  expect(await refusal(change(of, payoutId, { to: 'SENT', runId: 'pyr_1' }))).toBe('payout_state')
  const forced = asSuperuser(service.db.database, (db) =>
    db.query(`update payouts set status = 'APPROVED', approved_by = prepared_by where payout_id = $1`, [
      payoutId,
    ]),
  )
  await expect(forced).rejects.toThrow('approved_by_another_person')
  const skipped = asSuperuser(service.db.database, (db) =>
    db.query(`update payouts set status = 'SENT' where payout_id = $1`, [payoutId]),
  )
  await expect(skipped).rejects.toThrow(/sent_when_approved|does not come to SENT/)
})

test('of paid and failed at once, paid wins, whichever is first; a repeat changes nothing; the bank’s reference names one payout', async () => {
  const of = await shop()
  await pay(of, 10)
  const payoutId = await sent(of)
  const utr = newUtr()
  const outcomes = await Promise.all([
    refusal(change(of, payoutId, { to: 'PAID', utr })),
    refusal(change(of, payoutId, { to: 'FAILED', reason: 'closed' }, other)),
    refusal(change(of, payoutId, { to: 'PAID', utr }, other)),
  ])
  const { status } = payloadOf(await of.client.get(`/api/v0/payouts/${payoutId}`))
  expect(status).toBe('PAID')
  // A failure that comes first is taken back; one that comes later is refused.
  expect(outcomes).toEqual(['none', expect.stringMatching(/^(?:none|payout_state)$/), 'none'])
  const another = await shop()
  await pay(another, 10)
  const [paid, next] = [await shop(), await sent(another)]
  await pay(paid, 10)
  const taken = newUtr()
  await change(paid, await sent(paid), { to: 'PAID', utr: taken })
  expect(await refusal(change(another, next, { to: 'PAID', utr: taken }))).toBe('utr_conflict')
  expect(await brokenIn(service)).toEqual([])
})

test('refunds that exceed payments are carried forward, with what was advanced; a failed refund is credited again', async () => {
  const of = await shop()
  const first = await pay(of, 100)
  await prepare(of)
  // Nothing is payable any more, so the whole refund is an advance.
  const refundId = await refund(of, first.paymentId, 60, 'r-1')
  expect(await prepare(of)).toMatchObject({ payout: undefined, reason: 'carried_forward', netPaise: -60_00n })
  await pay(of, 100)
  const { payout } = await prepare(of)
  expect(payout).toMatchObject({ paymentPaise: 100_00n, refundPaise: 60_00n, advancePaise: 60_00n })
  payloadOf(await notifyRefund(service, { refundId, status: 'FAILED', reason: 'closed' }))
  await pay(of, 1)
  expect((await prepare(of)).payout).toMatchObject({ refundPaise: -60_00n, advancePaise: -60_00n })
  expect((await balancesOf(service, of.merchantId))['payable']).toBeUndefined()
  expect((await balancesOf(service, of.merchantId))['merchant_advances']).toBeUndefined()
  expect(await brokenIn(service)).toEqual([])
})

test('a refund concurrent with a run of payouts is never lost nor paid twice', async () => {
  const of = await shop()
  const payments = await Promise.all(Array.from({ length: 10 }, () => pay(of, 10)))
  await Promise.all([
    prepare(of, other),
    ...payments.map(({ paymentId }, i) => refund(of, paymentId, 5, `r-${i}`)),
    prepare(of),
  ])
  await pay(of, 100)
  await prepare(of)
  const [{ payments: paid, refunds }] = await asSuperuser(service.db.database, async (db) => {
    const { rows } = await db.query(
      `select sum(payment_paise)::text as payments, sum(refund_paise)::text as refunds from payouts where merchant_id = $1`,
      [of.merchantId],
    )
    return rows
  })
  expect([paid, refunds]).toEqual(['20000', '5000'])
  expect((await balancesOf(service, of.merchantId))['payable']).toBeUndefined()
  expect(await brokenIn(service)).toEqual([])
})

test('a merchant in another state is charged IGST; one without a bank account waits; a day must be over', async () => {
  const abroad = await shop('07')
  await pay(abroad, 100)
  expect((await prepare(abroad)).payout).toMatchObject({ cgstPaise: 0n, sgstPaise: 0n, igstPaise: 27n })
  const without = await shop('29', false)
  await pay(without, 100)
  expect(await prepare(without)).toMatchObject({ payout: undefined, reason: 'no_bank_account' })
  const early = operatorsOf(service.app.services.commands)
    .open(preparePayout)
    .run({ merchantId: without.merchantId, businessDay: today(), preparedBy: 'operator asha' })
  expect(await refusal(early)).toBe('business_day_not_over')
})
