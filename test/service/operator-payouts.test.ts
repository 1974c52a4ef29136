import { preparePayout } from '@svc/core/payments/payouts/prepare-payout'
import { calendarDay } from '@svc/kernel/time'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Json } from '../harness/client.ts'
import { type Browser, signedIn } from '../harness/console.ts'
import { operatorsOf } from '../harness/operators.ts'
import { giveAccount, giveFee } from '../harness/payouts.ts'
import { shopWith } from '../harness/refunds.ts'
import { asSuperuser, openService, type TestService } from '../harness/service.ts'

let service: TestService
let operator: Browser
let viewer: Browser
beforeAll(async () => {
  service = await openService({
    background: false,
    env: { PAYOUT_REQUIRES_SETTLEMENT: 'false', GST_STATE: '29' },
  })
  operator = await signedIn(service, 'operator')
  viewer = await signedIn(service, 'viewer')
})
afterAll(() => service.close())

const DAY_MS = 86_400_000
const dayBefore = (days: number): string => calendarDay(new Date(Date.now() - days * DAY_MS), 'Asia/Kolkata')

/** A merchant that was paid this much some days ago, charged 1 % and 50 paise. */
async function shop(amount: number, daysAgo: number, hasAccount = true): Promise<string> {
  const { merchantId, paymentId } = await shopWith(service, amount)
  if (hasAccount) await giveAccount(service, merchantId, '29')
  await giveFee(service, merchantId, { basisPoints: 100, fixedPaise: 50n })
  await asSuperuser(service.db.database, (db) =>
    db.query(`update payments set created_at = created_at - $2 * interval '1 day' where payment_id = $1`, [
      paymentId,
      daysAgo,
    ]),
  )
  return merchantId
}

const prepare = (merchantId: string, businessDay: string) =>
  operatorsOf(service.app.services.commands)
    .open(preparePayout)
    .run({ merchantId, businessDay, preparedBy: 'operator asha', isEarly: true })

test('totals add up the payouts of the filter only, as the list finds them', async () => {
  const merchantId = await shop(100, 2)
  const other = await shop(900, 2)
  const day = dayBefore(1)
  await prepare(merchantId, day)
  await prepare(other, day)
  const { payoutId } = (await prepare(await shop(5, 2), dayBefore(0))).payout!
  const totals = async (filters: string) => (await viewer.get(`/payouts/totals?${filters}`)).json
  // 1 % and 50 paise of 100, with GST of 18 %: 1.50 and 0.27; of 900: 9.50 and 1.71.
  expect(await totals(`merchantId=${merchantId}`)).toEqual({
    count: 1,
    amount: '98.22',
    fees: '1.50',
    tax: '0.28',
    exact: true,
    byStatus: [{ status: 'PREPARED', count: 1, amount: '98.22' }],
  })
  expect(await totals(`businessDay=${day}&status=PREPARED`)).toMatchObject({ count: 2, amount: '987.00' })
  expect(await totals(`q=${payoutId}`)).toMatchObject({ count: 1, amount: '4.35' })
  expect(await totals('status=PAID')).toMatchObject({ count: 0, amount: '0.00', byStatus: [] })
  for (const filters of [`merchantId=${merchantId}`, `businessDay=${day}`, `q=${payoutId}`, 'status=PAID'])
    expect((await viewer.get(`/payouts?${filters}`)).json.total.count).toBe((await totals(filters)).count)
  expect((await viewer.get('/payouts?businessDay=today')).error).toBe('validation_failed')
})

test('a payout is shown with its merchant, only the last digits of its account, its lines and its history', async () => {
  const merchantId = await shop(100, 2)
  const { payout, lines } = await prepare(merchantId, dayBefore(1))
  const { payoutId } = payout!
  const { json, text } = await viewer.get(`/payouts/${payoutId}`)
  expect(json).toMatchObject({
    merchantId,
    preparedBy: 'operator asha',
    payoutId,
    amount: 98.22,
    bankAccount: { holder: 'Corner Shop', ends: '5678', ifsc: 'HDFC0000001' },
  })
  expect(text).not.toContain('000012345678')
  expect(json.history).toMatchObject([
    { source: 'payout', what: 'prepared', actor: 'operator asha' },
    { source: 'journal', what: 'payout' },
  ])
  const { data } = (await viewer.get(`/payouts/${payoutId}/lines`)).json
  expect(data).toMatchObject([
    {
      kind: 'payment',
      paymentId: lines[0]!.objectId,
      amount: 100,
      fee: 1.5,
      tax: { cgst: 0.14, sgst: 0.14 },
    },
  ])
  const journalId = `jrn_${payoutId.slice(4)}`
  const journal = (await viewer.get(`/ledger/journals/${journalId}`)).json
  expect(journal).toMatchObject({ journalId, tenantId: merchantId, kind: 'payout', reference: payoutId })
  expect(journal.legs.map(({ amount }: Json) => amount)).toEqual(['1.78', '98.22'])
  const [moved] = (await viewer.get(`/ledger/accounts/payable:${merchantId}/transfers`)).json.data
  expect(moved).toMatchObject({ journalId, reference: payoutId, effectiveDate: journal.effectiveDate })
  expect((await viewer.get(`/search?q=${journalId}`)).json.results).toMatchObject([
    { kind: 'journal', id: journalId, title: 'payout' },
  ])
  expect((await viewer.get('/ledger/journals/jrn_none')).error).toBe('journal_not_found')
  expect((await viewer.get(`/search?q=${payoutId}`)).json.results).toMatchObject([
    { kind: 'payout', id: payoutId },
  ])
  const paid = (await viewer.get(`/payments/${lines[0]!.objectId}`)).json
  expect(paid.payoutId).toBe(payoutId)
  expect((await viewer.get('/payouts/pyo_none')).error).toBe('payout_not_found')
  expect((await viewer.get('/payouts/pyo_none/lines')).error).toBe('payout_not_found')
})

test('a run prepares the payouts of a day once, and reports who is paid nothing and why', async () => {
  const day = dayBefore(5)
  const paid = await shop(100, 8)
  const without = await shop(100, 8, false)
  const run = async () => {
    const outcomes = new Map<string, object>()
    for (let afterMerchantId: string | undefined; ; ) {
      const { json } = await operator.post('/payouts/run', { businessDay: day, afterMerchantId })
      for (const each of json.data) outcomes.set(each.merchantId, each)
      if (json.resumeAfter === undefined) return outcomes
      afterMerchantId = json.resumeAfter
    }
  }
  const first = await run()
  expect(first.get(paid)).toMatchObject({ amount: '98.22', payoutId: expect.stringMatching(/^pyo_/) })
  expect(first.get(without)).toEqual({ merchantId: without, reason: 'no_bank_account' })
  const second = await run()
  expect(second.get(paid)).toBeUndefined()
  expect([...second.values()].filter((each) => 'payoutId' in each)).toEqual([])
  expect((await operator.post('/payouts/run', { businessDay: dayBefore(-1) })).error).toBe(
    'business_day_not_over',
  )
  const { data } = (await viewer.get(`/payouts?merchantId=${paid}`)).json
  expect(data).toHaveLength(1)
  expect(data[0].preparedBy).toMatch(/^operator /)
})

test('a run of many merchants resumes where the previous call ended, and skips none', async () => {
  const merchants = await Promise.all(Array.from({ length: 55 }, () => service.newMerchant()))
  const ids = merchants.map(({ merchantId }) => merchantId)
  // Something is payable, and nothing due: each is asked for, and none is paid out.
  await asSuperuser(service.db.database, (db) =>
    db.query(`update ledger_accounts set balance = 100 where kind = 'payable' and tenant_id = any ($1)`, [
      ids,
    ]),
  )
  const seen: string[] = []
  let calls = 0
  for (let afterMerchantId: string | undefined; ; calls++) {
    const { json } = await operator.post('/payouts/run', { businessDay: '2020-01-01', afterMerchantId })
    seen.push(...json.data.map(({ merchantId }: Json) => merchantId))
    if (json.resumeAfter === undefined) break
    afterMerchantId = json.resumeAfter
  }
  expect(calls).toBeGreaterThan(0)
  expect(seen.filter((id) => ids.includes(id)).sort()).toEqual(ids.toSorted())
  expect(new Set(seen).size).toBe(seen.length)
})

test('the terms of a merchant show only the last digits of its account, and its fees with the latest first', async () => {
  const merchantId = await shop(1, 2)
  await giveFee(service, merchantId, { basisPoints: 180 }, '2090-04-01')
  const { json, text } = await viewer.get(`/merchants/${merchantId}/payout-terms`)
  expect(json).toMatchObject({
    bankAccount: { holder: 'Corner Shop', ends: '5678', ifsc: 'HDFC0000001', gstState: '29' },
    fees: [
      { validFrom: '2090-04-01', percent: '1.80', fixed: '0.00' },
      { validFrom: '2020-01-01', percent: '1.00', fixed: '0.50' },
    ],
  })
  expect(text).not.toContain('000012345678')
  const { merchantId: bare } = await service.newMerchant()
  expect((await viewer.get(`/merchants/${bare}/payout-terms`)).json).toEqual({ fees: [], schedules: [] })
  expect((await viewer.get('/merchants/mer_none/payout-terms')).error).toBe('merchant_not_found')
})
