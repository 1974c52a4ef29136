import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { moveOwnFunds } from '@svc/core/payments/own-funds/move-own-funds'
import type { PayoutStep } from '@svc/core/payments/payouts/change-payout'
import { formatRupees } from '@svc/kernel/money'
import { calendarDay } from '@svc/kernel/time'
import { statement } from '@svc/platform/db/statement'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { byTwo, newReference, openApprovers, sqlOn } from '../harness/approvals.ts'
import { rupees, type StatedLine } from '../harness/bank-statements.ts'
import { adminCli } from '../harness/cli.ts'
import { type Json, payloadOf } from '../harness/client.ts'
import { type Browser } from '../harness/console.ts'
import { type Billed, issueMonth, newBilled, SUPPLIER } from '../harness/invoices.ts'
import { operatorsOf } from '../harness/operators.ts'
import { chargedBy, earnedBy, stateLines, stepPayout } from '../harness/own-funds.ts'
import { sendPayoutOf } from '../harness/payouts.ts'
import { creditOf, newUtr, notifyCredit } from '../harness/qr-codes.ts'
import { brokenIn } from '../harness/refunds.ts'
import { type TestService } from '../harness/service.ts'

const ZONE = 'Asia/Kolkata'
const today = calendarDay(new Date(), ZONE)
/** The month before, on whose invoices GST is due now. */
const month = calendarDay(
  new Date(Date.parse(`${today.slice(0, 7)}-01T00:00:00Z`) - 86_400_000),
  'UTC',
).slice(0, 7)

let service: TestService
let other: TestService
let ravi: Browser
let folder: string
beforeAll(async () => {
  ;({ service, other, ravi } = await openApprovers(SUPPLIER))
  folder = await mkdtemp(join(tmpdir(), 'svc-own-funds-'))
})
afterAll(async () => {
  await other?.close()
  await service?.close()
  await rm(folder, { recursive: true, force: true })
})

const sql = <T>(text: string, values: unknown[] = []) => sqlOn<T>(service, text, values)
const { svc, done } = adminCli(() => service, { APPROVAL_ABOVE_RUPEES: '1000', ...SUPPLIER })
const why = ['--reason', 'by letter']
const sweep = (reference: string, through = today) =>
  svc('books', 'sweep', '--through', through, '--reference', reference, ...why)

/** Balances on the side of debits, of all tenants together or of one. */
async function debits(...tenants: string[]): Promise<Record<string, string>> {
  const rows = await sql<{ kind: string; balance: string }>(
    `select kind, (- sum(balance))::text as balance from ledger_accounts
     where kind in ('bank', 'own_funds', 'output_cgst', 'output_sgst', 'output_igst', 'gst_input', 'owner_equity')
       and (cardinality($1::text[]) = 0 or tenant_id = any ($1)) group by kind having sum(balance) <> 0`,
    [tenants],
  )
  return Object.fromEntries(rows.map(({ kind, balance }) => [kind, balance]))
}

const earned = (of: Billed, amount: number) => earnedBy(service, of, amount, month, today)
const change = (of: Billed, payoutId: string, step: PayoutStep) => stepPayout(service, of, payoutId, step)
const charged = () => chargedBy(service, today)
const statementOf = (purpose: string, lines: readonly StatedLine[]) =>
  stateLines(done, folder, { purpose, from: today, lines })

let near: Billed
let far: Billed
let first: Awaited<ReturnType<typeof earned>>

test('a sweep moves fees and GST of paid payouts less charges, by tenant, and both statements show it', async () => {
  near = await newBilled(service, '29')
  far = await newBilled(service, '07')
  first = await earned(near, 1_000)
  const second = await earned(far, 500)
  await charged()
  const unpaid = await newBilled(service, '29')
  payloadOf(await notifyCredit(service.client, creditOf(unpaid.tr, { amount: 100 })))
  await sendPayoutOf(service, unpaid.merchantId)
  const before = await debits()
  const reference = newReference()
  const { code, out, stderr } = await sweep(reference)
  expect(code, stderr).toBe(0)
  const swept = first.all + second.all - 118n
  expect(out).toMatchObject({
    movementId: expect.stringMatching(/^ofm_/),
    kind: 'SWEEP',
    reference,
    through: today,
    ownFunds: formatRupees(swept),
    escrow: formatRupees(-swept),
    isRepeat: false,
  })
  const shares = [
    { tenantId: near.merchantId, account: 'bank', amount: formatRupees(first.all) },
    { tenantId: far.merchantId, account: 'bank', amount: formatRupees(second.all) },
  ]
  expect(new Set(out.shares)).toEqual(new Set(shares))
  // What was paid out is gone, and what was earned is ours: nothing is left in the escrow.
  expect(before['bank']).toBe(String(swept))
  const { bank: _, ...rest } = before
  expect(await debits()).toEqual({ ...rest, own_funds: String(swept) })
  expect(await debits(near.merchantId)).toMatchObject({ own_funds: String(first.all) })
  expect((await debits(near.merchantId))['bank']).toBeUndefined()
  expect((await debits('house'))['own_funds']).toBe('-118')
  const line = { date: today, reference }
  expect(await statementOf('merchant_escrow', [{ ...line, paise: -Number(swept) }])).toMatchObject({
    matched: 1,
  })
  expect(await statementOf('own_funds', [{ ...line, paise: Number(swept) }])).toMatchObject({ matched: 1 })
  const { out: proof } = await svc('books', 'proof', '--date', today)
  const own = proof.accounts.find(({ purpose }: Json) => purpose === 'own_funds')
  expect(own).toMatchObject({ unexplained: '0.00', differences: [], statementBalance: rupees(Number(swept)) })
  expect(await brokenIn(service)).toEqual([])
})

test('a sweep under its reference is entered once, from several processes; another one finds nothing, or what came since', async () => {
  expect((await sweep(newReference())).stderr).toContain('nothing_to_sweep')
  const more = await earned(near, 700)
  const reference = newReference()
  const run = (on: TestService) =>
    operatorsOf(on.app.services.commands)
      .open(moveOwnFunds)
      .run({ kind: 'SWEEP', reference, through: today, reason: 'by letter' })
  const outcomes = await Promise.allSettled([service, other, service, other].map(run))
  const entered = outcomes.flatMap((each) => (each.status === 'fulfilled' ? [each.value] : []))
  const journals = (each: (typeof entered)[number]) => ('journals' in each ? each.journals : [])
  expect(entered.filter((each) => journals(each).length > 0)).toHaveLength(1)
  for (const each of outcomes)
    if (each.status === 'rejected') expect(each.reason).toMatchObject({ code: 'own_funds_moved' })
  const rows = await sql<{ paise: string }>(
    'select own_funds_paise as paise from own_funds_movements where reference = $1',
    [reference],
  )
  expect(rows).toEqual([{ paise: String(more.all) }])
  expect((await sweep(reference)).out).toMatchObject({ isRepeat: true, ownFunds: formatRupees(more.all) })
  expect((await sweep(reference, '2026-01-01')).stderr).toContain('own_funds_reference_used')
  expect((await sweep(newReference(), '2099-01-01')).stderr).toContain('--through must be another day')
  expect(await brokenIn(service)).toEqual([])
})

test('fees of a payout that came back after its sweep are taken off the next one', async () => {
  const returned = { to: 'FAILED', reason: 'closed', returnUtr: newUtr() } as const
  await byTwo(service, await change(near, first.payoutId, returned))
  expect((await sweep(newReference())).stderr).toContain('nothing_to_sweep')
  const more = await earned(far, 2_000)
  const { out } = await sweep(newReference())
  expect(out.ownFunds).toBe(formatRupees(more.all - first.all))
  expect(out.shares).toContainEqual({
    tenantId: near.merchantId,
    account: 'bank',
    amount: formatRupees(-first.all),
  })
  // Paid out again, it is ours again.
  await change(near, await sendPayoutOf(service, near.merchantId), { to: 'PAID', utr: newUtr() })
  expect((await sweep(newReference())).out.ownFunds).toBe(formatRupees(first.all))
  expect(await brokenIn(service)).toEqual([])
})

test('what is in the escrow is not swept beyond it', async () => {
  const on = await newBilled(service, '29')
  payloadOf(await notifyCredit(service.client, creditOf(on.tr, { amount: 90_000 })))
  await change(on, await sendPayoutOf(service, on.merchantId), { to: 'PAID', utr: newUtr() })
  expect((await sweep(newReference())).stderr).toContain('escrow_too_low')
  const capital = await svc(
    'books',
    'pay',
    'owner',
    '--capital',
    '--amount',
    '200.00',
    '--reference',
    newReference(),
    ...why,
  )
  expect(capital.out).toMatchObject({ kind: 'CAPITAL', ownFunds: '200.00' })
  const before = await debits()
  const reference = newReference()
  const paid = await done('books', 'pay', 'escrow', '--amount', '50.00', '--reference', reference, ...why)
  expect(paid).toMatchObject({ kind: 'ESCROW', ownFunds: '-50.00', escrow: '50.00', isRepeat: false })
  const again = await svc('books', 'pay', 'escrow', '--amount', '50.01', '--reference', reference, ...why)
  expect(again.stderr).toContain('own_funds_reference_used')
  expect(await debits()).toEqual({
    ...before,
    bank: String(BigInt(before['bank']!) + 5_000n),
    own_funds: String(BigInt(before['own_funds']!) - 5_000n),
  })
  expect(await brokenIn(service)).toEqual([])
})

const payGst = (of: Record<'cgst' | 'sgst' | 'igst', string>, reference = newReference()) =>
  svc(
    'books',
    'pay',
    'gst',
    '--month',
    month,
    '--reference',
    reference,
    ...why,
    ...Object.entries(of).flatMap(([name, parts]) => [`--${name}`, parts]),
  )

test('GST of a month is paid whole, in cash and input credit: the tax accounts of every merchant are empty then', async () => {
  const none = await payGst({ cgst: '1.00+0', sgst: '0+0', igst: '0+0' })
  expect(none.stderr).toContain('gst_not_due')
  await issueMonth(service, month, undefined, new Date())
  const [due] = await sql<Record<'cgst' | 'sgst' | 'igst', string>>(
    'select sum(cgst_paise) as cgst, sum(sgst_paise) as sgst, sum(igst_paise) as igst from tax_documents',
  )
  const text = (amount: bigint | string) => formatRupees(BigInt(amount))
  const { cgst, sgst, igst } = due!
  const wrong = await payGst({ cgst: `${text(cgst)}+0.01`, sgst: `${text(sgst)}+0`, igst: `${text(igst)}+0` })
  expect(wrong.stderr).toContain(`CGST ${text(cgst)}, SGST ${text(sgst)}, IGST ${text(igst)}`)
  const tooMuch = await payGst({ cgst: `0+${text(cgst)}`, sgst: `${text(sgst)}+0`, igst: `${text(igst)}+0` })
  expect(tooMuch.stderr).toContain('The input credit is 0.18')
  const before = await debits()
  const parts = { cgst: `${text(BigInt(cgst) - 18n)}+0.18`, sgst: `${text(sgst)}+0`, igst: `${text(igst)}+0` }
  const { code, out, stderr } = await payGst(parts, 'CPIN26110042')
  expect(code, stderr).toBe(0)
  const tax = BigInt(cgst) + BigInt(sgst) + BigInt(igst)
  expect(out).toMatchObject({ kind: 'GST', month, ownFunds: text(18n - tax), tax: text(tax), escrow: '0.00' })
  const { gst_input: _, output_cgst: _c, output_sgst: _s, output_igst: _i, ...rest } = before
  // Fees of this month are not declared yet.
  const [later] = await sql<Record<'cgst' | 'sgst', string>>(
    `select sum(cgst_paise) as cgst, sum(sgst_paise) as sgst from fee_accruals where business_day > $1::date`,
    [`${month}-28`],
  )
  expect(await debits()).toEqual({
    ...rest,
    own_funds: String(BigInt(before['own_funds']!) + 18n - tax),
    output_cgst: String(-BigInt(later!.cgst)),
    output_sgst: String(-BigInt(later!.sgst)),
  })
  expect(await debits(far.merchantId)).not.toHaveProperty('output_igst')
  expect((await payGst(parts, 'CPIN26110042')).out).toMatchObject({ isRepeat: true })
  expect((await payGst(parts)).stderr).toContain('gst_not_due')
  const line = { date: today, reference: 'CPIN 26110042', paise: Number(18n - tax) }
  expect(await statementOf('own_funds', [line])).toMatchObject({ matched: 1 })
  expect(await brokenIn(service)).toEqual([])
})

test('above the limit a second person approves a movement of our funds, and the database asks for it', async () => {
  const reference = newReference()
  const args = ['books', 'pay', 'owner', '--capital', '--amount', '5000.00', '--reference', reference, ...why]
  const { out } = await svc(...args)
  expect(out).toMatchObject({ kind: 'owner_paid', status: 'PENDING', amount: '5000.00', reference })
  expect(await sql('select from own_funds_movements where reference = $1', [reference])).toEqual([])
  expect((await ravi.post(`/approvals/${out.approvalId}/approve`, {})).status).toBe(200)
  expect((await svc(...args)).out).toMatchObject({ kind: 'CAPITAL', ownFunds: '5000.00', isRepeat: true })
  const forged = `with j as (
      insert into svc.journals (tenant_id, journal_id, kind, effective_date, reference, legs, at)
      values ('house', 'jrn_forged', 'escrow_paid', current_date, 'FORGED0001', 1, clock_timestamp()) returning 1)
    insert into svc.ledger_transfers select 'trf_forged', 'house', 'jrn_forged', 1, 'escrow_paid', 'bank:house', 'own_funds:house',
      100, 'INR', 'ofm_forged', clock_timestamp() from j`
  await expect(
    service.app.services.database.operate((tx) => tx.query(statement('forged_movement', forged))),
  ).rejects.toMatchObject({ constraint: expect.stringMatching(/postings_are_counted|own_funds_are_proven/) })
  expect(await brokenIn(service)).toEqual([])
})
