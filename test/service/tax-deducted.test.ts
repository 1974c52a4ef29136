import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { financialYear } from '@svc/core/payments/fees/gst'
import { changePayout } from '@svc/core/payments/payouts/change-payout'
import { enterTdsCertificate } from '@svc/core/payments/tds/enter-certificate'
import { paise } from '@svc/kernel/money'
import { calendarDay } from '@svc/kernel/time'
import { statement } from '@svc/platform/db/statement'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { newReference, openApprovers, sqlOn } from '../harness/approvals.ts'
import { csvStatement } from '../harness/bank-statements.ts'
import { adminCli } from '../harness/cli.ts'
import { type Client, type Json, payloadOf } from '../harness/client.ts'
import type { Browser } from '../harness/console.ts'
import { newTaxDocument, SUPPLIER } from '../harness/invoices.ts'
import { operatorsOf } from '../harness/operators.ts'
import { giveAccount, giveFee, sendPayoutOf } from '../harness/payouts.ts'
import { newCode, newUtr } from '../harness/qr-codes.ts'
import { brokenIn, newShop } from '../harness/refunds.ts'
import { type TestService } from '../harness/service.ts'
import { recordSettlement } from '../harness/settlements.ts'

const today = calendarDay(new Date(), 'Asia/Kolkata')

let service: TestService
let other: TestService
let ravi: Browser
let folder: string
beforeAll(async () => {
  ;({ service, other, ravi } = await openApprovers(SUPPLIER))
  folder = await mkdtemp(join(tmpdir(), 'svc-tds-'))
})
afterAll(async () => {
  await other?.close()
  await service?.close()
  await rm(folder, { recursive: true, force: true })
})

const sql = <T>(text: string, values: unknown[] = []) => sqlOn<T>(service, text, values)
const { svc } = adminCli(() => service, { APPROVAL_ABOVE_RUPEES: '1000', ...SUPPLIER })
const why = ['--reason', 'Form 16A']

interface Charged {
  readonly client: Client
  readonly merchantId: string
  readonly quarter: string
}

/** A merchant that was charged so many rupees, by an invoice and the payout of a payment that the bank has settled. */
async function charged(fee: number): Promise<Charged> {
  const { client, merchantId } = await newShop(service)
  await giveAccount(service, merchantId, '29')
  await giveFee(service, merchantId, { basisPoints: 1_000 })
  const { tr } = await newCode(service, client, { multipleUse: true })
  const amount = fee * 10
  const { month } = await newTaxDocument(service, { merchantId, tr }, amount)
  const [payment] = await sql<{ utr: string }>('select utr from payments where merchant_id = $1', [
    merchantId,
  ])
  const utr = payment!.utr
  const line = { utr, line: 1, amountPaise: paise(BigInt(amount * 100)), settledOn: today }
  await recordSettlement(service.app.services.commands, `stf_${utr}`, [line])
  await payOut(merchantId)
  return { client, merchantId, quarter: `20${financialYear(month)}-Q1` }
}
async function payOut(merchantId: string): Promise<string> {
  const payoutId = await sendPayoutOf(service, merchantId)
  const { run } = operatorsOf(service.app.services.commands).open(changePayout)
  await run({ merchantId, payoutId, step: { to: 'PAID', utr: newUtr() } })
  return payoutId
}
const certify = ({ merchantId, quarter }: Charged, number: string, amount: string, date = today) =>
  svc(
    'tax',
    'tds',
    merchantId,
    '--certificate',
    number,
    '--quarter',
    quarter,
    '--amount',
    amount,
    '--date',
    date,
    ...why,
  )
const balance = async (kind: string, tenant: string): Promise<string> =>
  (
    await sql<{ balance: string }>('select balance::text from ledger_accounts where account_id = $1', [
      `${kind}:${tenant}`,
    ])
  )[0]?.balance ?? '0'

let near: Charged

test('a certificate of deducted tax is payable to its merchant: the next payout has it, and a sweep leaves it', async () => {
  near = await charged(50)
  const { code, out, stderr } = await certify(near, 'QWERTYA', '5.00')
  expect(code, stderr).toBe(0)
  expect(out).toMatchObject({
    certificateId: expect.stringMatching(/^tdc_/),
    merchantId: near.merchantId,
    number: 'QWERTYA',
    quarter: near.quarter,
    amount: '5.00',
    date: today,
    isRepeat: false,
  })
  expect(await balance('payable', near.merchantId)).toBe('500')
  expect(await balance('tds_receivable', near.merchantId)).toBe('-500')
  // 50.00 and 9.00 of GST, less the tax.
  const sweep = await svc('books', 'sweep', '--through', today, '--reference', newReference(), ...why)
  expect(sweep.out).toMatchObject({ ownFunds: '54.00' })
  const payoutId = await payOut(near.merchantId)
  const payout = payloadOf(await near.client.get(`/api/v0/payouts/${payoutId}`))
  expect(payout).toMatchObject({ amount: 5, adjustments: { count: 1, amount: 5 } })
  const { data: lines } = payloadOf(await near.client.get(`/api/v0/payouts/${payoutId}/lines`))
  expect(lines).toMatchObject([{ kind: 'tds_certificate', certificateId: out.certificateId, amount: 5 }])
  expect(await balance('payable', near.merchantId)).toBe('0')
  expect(await balance('bank', near.merchantId)).toBe('0')
  expect(await brokenIn(service)).toEqual([])
})

test('a number is entered once for a merchant, from several processes, and all of a year are at most its fees', async () => {
  expect((await certify(near, 'qwertya', '5.00')).out).toMatchObject({ isRepeat: true, amount: '5.00' })
  const differs = await certify(near, 'QWERTYA', '6.00')
  expect(differs.stderr).toContain('tds_certificate_differs')
  expect(differs.stderr).toContain('over 5.00')
  const tooMuch = await certify(near, 'QWERTYB', '45.01')
  expect(tooMuch.stderr).toContain('tds_over_fees')
  expect(tooMuch.stderr).toContain('Fees of 50.00 are invoiced')
  expect((await certify(near, 'QWERTYC', '1.00', '2099-01-01')).stderr).toContain(
    '--date must be another day',
  )
  const wrong = { ...near, quarter: '2026-27' }
  expect((await certify(wrong, 'QWERTYC', '1.00')).stderr).toContain('such as 2026-27-Q1')
  const run = (on: TestService) =>
    operatorsOf(on.app.services.commands)
      .open(enterTdsCertificate)
      .run({ ...near, number: 'QWERTYD', amountPaise: paise(1_00n), datedOn: today, reason: 'Form 16A' })
  const entered = await Promise.all([service, other, service, other].map(run))
  expect(entered.filter((each) => 'journal' in each && each.journal !== undefined)).toHaveLength(1)
  const { out } = await svc('tax', 'tds-certificates', near.merchantId)
  expect(out.map(({ number }: Json) => number)).toEqual(['QWERTYD', 'QWERTYA'])
  expect(await brokenIn(service)).toEqual([])
})

test('a refund of the tax office is set against certificates, first ones first, and the statement shows it', async () => {
  const far = await charged(40)
  const { out: certified } = await certify(far, 'QWERTYA', '4.00')
  const refund = (amount: string, reference: string) =>
    svc('tax', 'tds-refund', '--amount', amount, '--reference', reference, ...why)
  const tooMuch = await refund('10.01', newReference())
  expect(tooMuch.stderr).toContain('tds_not_due')
  expect(tooMuch.stderr).toContain('10.00')
  const reference = newReference()
  const { code, out, stderr } = await refund('7.00', reference)
  expect(code, stderr).toBe(0)
  expect(out).toMatchObject({ kind: 'TDS', reference, ownFunds: '7.00', escrow: '0.00', isRepeat: false })
  expect(out.shares).toEqual(
    expect.arrayContaining([
      { tenantId: near.merchantId, account: 'tds_receivable', amount: '6.00' },
      { tenantId: far.merchantId, account: 'tds_receivable', amount: '1.00' },
    ]),
  )
  expect(await balance('tds_receivable', near.merchantId)).toBe('0')
  expect(await balance('tds_receivable', far.merchantId)).toBe('-300')
  expect(await balance('tds_receivable', 'house')).toBe('0')
  expect((await refund('7.00', reference)).out).toMatchObject({ isRepeat: true })
  const refunded = await svc('journal', 'reverse', certified.journalId, '--reason', 'too late')
  expect(refunded.stderr).toContain('has 3.00, and the reversal takes 4.00 out of it')
  expect((await refund('6.00', reference)).stderr).toContain('own_funds_reference_used')
  const of = ['--purpose', 'own_funds', '--name', 'current', '--number', '50100012345678', '--ifsc']
  const opened = [...of, 'HDFC0000123', '--opening', '0.00', '--from', today]
  const { out: created } = await svc('bank-account', 'create', ...opened)
  const file = join(folder, 'refund.csv')
  await writeFile(file, csvStatement(0, [{ date: today, paise: 700, reference }]))
  const imported = await svc('statement', 'import', file, '--account', created.bankAccountId)
  expect(imported.out).toMatchObject({ matched: 1 })
  expect(await brokenIn(service)).toEqual([])
})

test('above the limit a second person approves a certificate, and the database takes none without its row', async () => {
  const rich = await charged(3_000)
  const { out } = await certify(rich, 'QWERTYZ', '2000.00')
  expect(out).toMatchObject({
    kind: 'tds_certified',
    status: 'PENDING',
    amount: '2000.00',
    reference: 'QWERTYZ',
  })
  expect(await balance('tds_receivable', rich.merchantId)).toBe('0')
  expect((await ravi.post(`/approvals/${out.approvalId}/approve`, {})).status).toBe(200)
  expect(await balance('tds_receivable', rich.merchantId)).toBe('-200000')
  const forged = `with j as (
      insert into svc.journals (tenant_id, journal_id, kind, effective_date, reference, legs, at)
      values ('${rich.merchantId}', 'jrn_forged', 'tds_certified', current_date, 'FORGED0001', 1, clock_timestamp()) returning 1)
    insert into svc.ledger_transfers select 'trf_forged', '${rich.merchantId}', 'jrn_forged', 1, 'tds_certified',
      'tds_receivable:${rich.merchantId}', 'payable:${rich.merchantId}', 100, 'INR', 'tdc_forged', clock_timestamp() from j`
  await expect(
    service.app.services.database.operate((tx) => tx.query(statement('forged_certificate', forged))),
  ).rejects.toMatchObject({ constraint: expect.stringMatching(/postings_are_counted|tds_is_certified/) })
  expect(await brokenIn(service)).toEqual([])
})

test('a certificate entered by mistake is taken back with its journal until a payout has it, and its number is entered again', async () => {
  const wrong = await charged(30)
  const { out } = await certify(wrong, 'QWERTYW', '3.00')
  const back = ['journal', 'reverse', out.journalId, '--reason', 'of another merchant']
  const { journalId: reversal } = (await svc(...back)).out
  expect((await svc(...back)).out.journalId).toBe(reversal)
  expect(await balance('payable', wrong.merchantId)).toBe('0')
  expect(await balance('tds_receivable', wrong.merchantId)).toBe('0')
  expect((await certify(wrong, 'QWERTYW', '2.00')).out).toMatchObject({ isRepeat: false, amount: '2.00' })
  // What was taken back counts for nothing.
  expect((await certify(wrong, 'QWERTYX', '28.01')).stderr).toContain('2.00 is certified of it')
  const list = (await svc('tax', 'tds-certificates', wrong.merchantId)).out
  expect(list.map(({ amount, reversedBy }: Json) => [amount, reversedBy])).toEqual([
    ['2.00', ''],
    ['3.00', reversal],
  ])
  const payoutId = await payOut(wrong.merchantId)
  const held = await svc('journal', 'reverse', list[0].journalId, '--reason', 'too late')
  expect(held.stderr).toContain(`in the payout ${payoutId}`)
  expect(await brokenIn(service)).toEqual([])
})

test('what the tax office refunds of one merchant, or never refunds, ends on its account', async () => {
  const of = await charged(50)
  await certify(of, 'QWERTYS', '3.00')
  const own = Number(await balance('own_funds', of.merchantId))
  const settle = (amount: string, ...more: string[]) =>
    svc(
      'books',
      'settle',
      `tds_receivable:${of.merchantId}`,
      '--amount',
      amount,
      '--reference',
      newReference(),
      ...why,
      ...more,
    )
  expect((await settle('1.00')).out).toMatchObject({ outcome: 'SETTLED', open: '2.00' })
  expect(Number(await balance('own_funds', of.merchantId))).toBe(own - 100)
  expect((await settle('2.01', '--write-off')).stderr).toContain('balance_not_open')
  expect((await settle('2.00', '--write-off')).out).toMatchObject({ outcome: 'WRITTEN_OFF', open: '0.00' })
  expect(await balance('write_offs', of.merchantId)).toBe('-200')
  expect(await brokenIn(service)).toEqual([])
})
