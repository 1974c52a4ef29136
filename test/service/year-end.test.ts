import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { closePeriod } from '@svc/core/ledger/closing'
import { accrueDueFees } from '@svc/core/payments/fees/accrue-fees'
import { enterYearEnd } from '@svc/core/payments/own-funds/enter-year-end'
import { formatRupees } from '@svc/kernel/money'
import { calendarDay } from '@svc/kernel/time'
import type { ConnectionClass } from '@svc/platform/db/database'
import { statement } from '@svc/platform/db/statement'
import pg from 'pg'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { openApprovers, sqlOn } from '../harness/approvals.ts'
import { csvStatement } from '../harness/bank-statements.ts'
import { adminCli } from '../harness/cli.ts'
import { type Json, payloadOf } from '../harness/client.ts'
import type { Browser } from '../harness/console.ts'
import { type Billed, newBilled, payAt, SUPPLIER } from '../harness/invoices.ts'
import { operatorsOf } from '../harness/operators.ts'
import { newUtr } from '../harness/qr-codes.ts'
import { brokenIn } from '../harness/refunds.ts'
import { openService, RAIL_KEY, type TestService } from '../harness/service.ts'

const ZONE = 'Asia/Kolkata'
const today = calendarDay(new Date(), ZONE)
/** In which the financial year has ended before the last one that is over. */
const ended = Number(today.slice(0, 4)) - (today.slice(5, 7) < '04' ? 2 : 1)
const yearTo = (end: number) => `${end - 1}-${String(end).slice(2)}`
const year = yearTo(ended)
const through = `${ended}-03-31`

let service: TestService
let other: TestService
let ravi: Browser
let folder: string
let near: Billed
let far: Billed
beforeAll(async () => {
  ;({ service, other, ravi } = await openApprovers(SUPPLIER))
  folder = await mkdtemp(join(tmpdir(), 'svc-year-end-'))
  near = await newBilled(service, '29')
  far = await newBilled(service, '07')
})
afterAll(async () => {
  await other?.close()
  await service?.close()
  await rm(folder, { recursive: true, force: true })
})

const sql = <T>(text: string, values: unknown[] = []) => sqlOn<T>(service, text, values)
const { svc, done } = adminCli(() => service, { APPROVAL_ABOVE_RUPEES: '1000', ...SUPPLIER })
const end = (of = year, ...more: string[]) =>
  svc('books', 'year-end', '--year', of, '--reason', 'accounts', ...more)

/** A fee of the year, on a day that is over; in paise. */
async function earn(of: Billed, amount: number, day: string): Promise<bigint> {
  const before = await feesOf(of)
  await payAt(service, of, amount, `${day}T12:00:00+05:30`)
  await accrueDueFees(service.app.services)
  return (await feesOf(of)) - before
}
async function feesOf({ merchantId }: Billed): Promise<bigint> {
  const text = 'select coalesce(sum(fee_paise), 0)::text as fee from fee_accruals where merchant_id = $1'
  return BigInt((await sql<{ fee: string }>(text, [merchantId]))[0]!.fee)
}
async function charge(amount: string, day: string): Promise<void> {
  const lines = [{ kind: 'charge', amount: `-${amount}` }]
  const batch = { batchUtr: newUtr(), valueDate: day, netAmount: `-${amount}`, lines }
  payloadOf(await service.client.notify('/rails/upi/settlements', batch, RAIL_KEY))
}
/** Interest on our current account. */
async function interest(paise: number, day: string): Promise<void> {
  const of = ['--purpose', 'own_funds', '--name', 'current', '--number', '50100012345678', '--ifsc']
  const opened = [...of, 'HDFC0000123', '--opening', '0.00', '--from', day]
  const { bankAccountId } = await done('bank-account', 'create', ...opened)
  const file = join(folder, 'interest.csv')
  await writeFile(file, csvStatement(0, [{ date: day, paise, narration: 'interest' }]))
  await done('statement', 'import', file, '--account', bankAccountId)
  const [{ lineId }] = await done('statement', 'lines', '--bank-account-id', bankAccountId)
  await done('statement', 'resolve', lineId, '--as', 'interest', '--reason', 'of the bank')
}

/** What accounts of income, expenses and the owner have by effective date, on the side of credits. */
async function resultsThrough(day: string, ...tenant: string[]): Promise<Record<string, string>> {
  const of = tenant.flatMap((each) => ['--tenant', each])
  const rows: Json[] = await done('books', 'trial-balance', '--effective-through', day, ...of)
  const kinds =
    'fee_income rail_charges network_charges interchange_income other_income write_offs owner_equity'
  return Object.fromEntries(
    rows
      .filter(({ kind }) => kinds.split(' ').includes(kind))
      .map(({ kind, debit, credit }) => [kind, (Number(credit) - Number(debit)).toFixed(2)])
      .filter(([, amount]) => Number(amount) !== 0),
  )
}
const journalsOf = (reference: string) =>
  sql<{ kind: string; tenant: string; day: string }>(
    `select kind, tenant_id as tenant, effective_date::text as day from journals
     where kind like 'year\\_end%' and reference = $1 order by kind, tenant_id`,
    [reference],
  )

test('a year end empties income and expenses of every tenant on 31 March: the profit is the owner’s', async () => {
  await payAt(service, near, 1_000, `${ended - 1}-05-15T12:00:00+05:30`)
  const early = await end()
  expect(early).toMatchObject({ code: 1, stderr: expect.stringContaining('year_not_ready') })
  expect(early.stderr).toContain('accrued: 1 payment has no fee entered')
  await accrueDueFees(service.app.services)
  const ofNear = await feesOf(near)
  const ofFar = await earn(far, 500, through)
  // Of the next year.
  const later = await earn(far, 300, `${ended}-04-01`)
  await charge('1.00', `${ended - 1}-06-01`)
  await interest(5_000, `${ended - 1}-07-01`)
  const before = await resultsThrough(through)
  const profit = formatRupees(ofNear + ofFar + 4_900n)
  const figures = {
    year,
    through,
    income: [
      { kind: 'fee_income', amount: formatRupees(ofNear + ofFar) },
      { kind: 'other_income', amount: '50.00' },
    ],
    expenses: [{ kind: 'rail_charges', amount: '1.00' }],
    profit,
  }
  expect((await end(year, '--dry-run')).out).toEqual({ ...figures, journals: 0, isRepeat: false })
  expect(await resultsThrough(through)).toEqual(before)
  const { code, out, stderr } = await end()
  expect(code, stderr).toBe(0)
  expect(out).toEqual({ ...figures, journals: 4, isRepeat: false })
  expect(await resultsThrough(through)).toEqual({ owner_equity: profit })
  expect(await resultsThrough(through, near.merchantId)).toEqual({ owner_equity: formatRupees(ofNear) })
  expect(await resultsThrough(through, far.merchantId)).toEqual({ owner_equity: formatRupees(ofFar) })
  expect(await resultsThrough(through, 'house')).toEqual({ owner_equity: '49.00' })
  expect(await resultsThrough(today)).toEqual({ owner_equity: profit, fee_income: formatRupees(later) })
  const shared = [near.merchantId, far.merchantId].map((tenant) => ({
    kind: 'year_end_shared',
    tenant,
    day: through,
  }))
  expect(new Set(await journalsOf(year))).toEqual(
    new Set([
      ...shared,
      { kind: 'year_end', tenant: 'house', day: through },
      { kind: 'year_end_shared', tenant: 'house', day: through },
    ]),
  )
  const repeat = await end()
  expect(repeat.out).toEqual({ ...figures, journals: 0, isRepeat: true })
  expect(await resultsThrough(through)).toEqual({ owner_equity: profit })
  expect(await brokenIn(service)).toEqual([])
})

test('what is found later of the year is entered by another one, also once its last day is closed; the closing verifies', async () => {
  // What was entered a while ago is known to a closing.
  await sql(`update ledger_transfers set created_at = created_at - interval '1 hour'`)
  const { database, keyring } = service.app.services
  await database.operate((tx) => closePeriod(tx, keyring, { through, by: 'asha', timeZone: ZONE }))
  const found = await earn(near, 700, `${ended}-01-20`)
  const { out } = await end()
  expect(out).toMatchObject({
    income: [{ kind: 'fee_income', amount: formatRupees(found) }],
    expenses: [],
    profit: formatRupees(found),
    journals: 3,
    isRepeat: false,
  })
  expect(Object.keys(await resultsThrough(through))).toEqual(['owner_equity'])
  expect(await journalsOf(`${year}~2`)).toHaveLength(3)
  const items: Json[] = await done('books', 'prior-period', '--through', through)
  expect(items.filter(({ reference }) => reference === `${year}~2`)).toHaveLength(3)
  expect(await done('books', 'verify')).toEqual([{ through }])
  const repeat = await end()
  expect(repeat.out).toMatchObject({ journals: 0, isRepeat: true, expenses: [{ amount: '1.00' }] })
  expect(await brokenIn(service)).toEqual([])
})

test('a year before is closed first; a loss is taken from the owner', async () => {
  await charge('500.00', `${ended - 1}-03-31`)
  const fee = await earn(far, 200, `${ended - 2}-04-01`)
  const owned = (await resultsThrough(through))['owner_equity']
  const next = await end()
  expect(next.stderr).toContain('year_before_open')
  expect(next.stderr).toContain(`--year ${yearTo(ended - 1)}`)
  const { out } = await end(yearTo(ended - 1))
  const loss = formatRupees(fee - 50_000n)
  expect(out).toMatchObject({
    through: `${ended - 1}-03-31`,
    income: [{ kind: 'fee_income', amount: formatRupees(fee) }],
    expenses: [{ kind: 'rail_charges', amount: '500.00' }],
    profit: loss,
    isRepeat: false,
  })
  expect(await resultsThrough(`${ended - 1}-03-31`)).toEqual({ owner_equity: loss })
  expect((await resultsThrough(through))['owner_equity']).toBe((Number(owned) + Number(loss)).toFixed(2))
  expect((await end()).out).toMatchObject({ isRepeat: true })
  expect(await brokenIn(service)).toEqual([])
})

test('fees that went from one merchant to another are closed, though the year has no other profit by them', async () => {
  const fee = await earn(near, 100, `${ended}-02-02`)
  // As a correction of the past would: the same fee less at another merchant.
  const given = await earn(far, 100, `${ended}-02-02`)
  expect(given).toBe(fee)
  await sql(
    `with t as (update ledger_transfers set debit_account_id = credit_account_id, credit_account_id = debit_account_id
       where tenant_id = $1 and kind = 'fee_accrual' and credit_account_id like 'fee_income:%' and amount = $2
       returning amount, tenant_id)
     update ledger_accounts a set balance = a.balance + case a.kind when 'fee_income' then - 2 else 2 end * t.amount
     from t where a.tenant_id = t.tenant_id and a.kind in ('fee_income', 'accrued_fees')`,
    [far.merchantId, String(fee)],
  )
  const { out } = await end()
  expect(out).toMatchObject({ income: [], profit: '0.00', isRepeat: false, journals: 3 })
  expect(Object.keys(await resultsThrough(through))).toEqual(['owner_equity'])
  expect(Object.keys(await resultsThrough(through, far.merchantId))).toEqual(['owner_equity'])
})

test('one of several at once is entered; a year that is not over, or is none, is refused', async () => {
  await earn(near, 90, `${ended}-02-03`)
  const run = (on: TestService) =>
    operatorsOf(on.app.services.commands).open(enterYearEnd).run({ year, reason: 'accounts' })
  const outcomes = await Promise.allSettled([service, other, service, other].map(run))
  const entered = outcomes.filter(
    (each) => each.status === 'fulfilled' && 'journals' in each.value && each.value.journals.length > 0,
  )
  expect(entered).toHaveLength(1)
  for (const each of outcomes)
    if (each.status === 'rejected') expect(each.reason).toMatchObject({ code: 'year_end_entered' })
  expect((await end(yearTo(ended + 2))).stderr).toContain('year_not_over')
  expect((await end(`${ended - 1}-27x`)).stderr).toContain('must be a financial year such as 2026-27')
  expect((await end(`${ended - 1}-${String(ended + 1).slice(2)}`)).stderr).toContain('--year')
})

test('one that is entered while another reads what is open is not entered twice', async () => {
  await earn(near, 95, `${ended}-02-04`)
  let meanwhile: (() => Promise<unknown>) | undefined
  const Waiting = class extends pg.Client {
    // oxlint-disable-next-line typescript/no-explicit-any -- the driver's own overloads are all served by passing on what came
    override query(...args: any[]): any {
      // oxlint-disable-next-line typescript/no-explicit-any -- as above
      const result: any = super.query(...(args as [string]))
      if (args[0]?.name !== 'year_open' || !meanwhile) return result
      const run = meanwhile
      meanwhile = undefined
      return (result as Promise<unknown>).then(async (rows) => (await run(), rows))
    }
  } as unknown as ConnectionClass
  const env = { APPROVAL_ABOVE_RUPEES: '1000', ...SUPPLIER }
  const slow = await openService({ db: service.db, env, Client: Waiting, background: false })
  onTestFinished(() => slow.close())
  meanwhile = () => end()
  const late = operatorsOf(slow.app.services.commands).open(enterYearEnd).run({ year, reason: 'accounts' })
  await expect(late).rejects.toMatchObject({ code: 'year_end_entered' })
  expect(meanwhile).toBeUndefined()
  expect(Object.keys(await resultsThrough(through))).toEqual(['owner_equity'])
})

test('above the limit a second person approves a year end, and the database takes none without its row', async () => {
  const fee = await earn(near, 90_000, `${ended}-02-05`)
  const { out } = await end()
  expect(out).toMatchObject({
    kind: 'year_end',
    status: 'PENDING',
    amount: formatRupees(fee),
    reference: year,
  })
  expect(Object.keys(await resultsThrough(through))).toEqual(['fee_income', 'owner_equity'])
  expect((await ravi.post(`/approvals/${out.approvalId}/approve`, {})).status).toBe(200)
  expect(Object.keys(await resultsThrough(through))).toEqual(['owner_equity'])
  expect((await end()).out).toMatchObject({ isRepeat: true })
  const forged = `with j as (
      insert into svc.journals (tenant_id, journal_id, kind, effective_date, reference, legs, at)
      values ('house', 'jrn_forged', 'year_end_shared', current_date, 'FORGED0001', 1, clock_timestamp()) returning 1)
    insert into svc.ledger_transfers select 'trf_forged', 'house', 'jrn_forged', 1, 'year_end_shared', 'owner_equity:house',
      'fee_income:house', 100, 'INR', 'yre_forged', clock_timestamp() from j`
  await expect(
    service.app.services.database.operate((tx) => tx.query(statement('forged_year_end', forged))),
  ).rejects.toMatchObject({ constraint: 'year_ends_are_proven' })
})
