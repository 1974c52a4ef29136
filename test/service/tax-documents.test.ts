import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { accrueDueFees } from '@svc/core/payments/fees/accrue-fees'
import { financialYear, lastDayOf } from '@svc/core/payments/fees/gst'
import { issueDateOf } from '@svc/core/payments/fees/issue-invoices'
import { changePayout, type PayoutStep } from '@svc/core/payments/payouts/change-payout'
import { calendarDay } from '@svc/kernel/time'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { runHere } from '../harness/cli.ts'
import { type Billed, issueMonth, newBilled, payAt, SUPPLIER, taxDocumentsOf } from '../harness/invoices.ts'
import { operatorsOf } from '../harness/operators.ts'
import { sendPayoutOf } from '../harness/payouts.ts'
import { newUtr } from '../harness/qr-codes.ts'
import { brokenIn } from '../harness/refunds.ts'
import { asSuperuser, MASTER_KEY, openService, type TestService } from '../harness/service.ts'

const ENV = { ...SUPPLIER, GST_RATES: '2017-07-01=18,2024-02-15=20' }
/** With a leap day, and a rate that changes within one of them. */
const MONTHS = Array.from({ length: 12 }, (_, i) =>
  new Date(Date.UTC(2023, 11 + i, 1)).toISOString().slice(0, 7),
)

let service: TestService
let other: TestService
let folder: string
beforeAll(async () => {
  service = await openService({ background: false, env: ENV })
  other = await openService({ background: false, db: service.db, env: ENV })
  folder = await mkdtemp(join(tmpdir(), 'svc-tax-'))
})
afterAll(async () => {
  await other?.close()
  await service?.close()
  await rm(folder, { recursive: true, force: true })
})

const sql = <Row extends object>(text: string, values: unknown[] = []): Promise<Row[]> =>
  asSuperuser(service.db.database, async (db) => (await db.query<Row>(text, values)).rows)

const shop = (gstState: string) => newBilled(service, gstState)
const pay = (of: Billed, amount: number, at: string) => payAt(service, of, amount, at)
const issue = (month: string, on = service, merchantId?: string) => issueMonth(on, month, merchantId)

/** Of a month, what the journals of fees credited to each account, and what the invoices say. */
async function totalsOf(month: string) {
  const [accounts] = await sql(
    `select ${['fee_income', 'output_cgst', 'output_sgst', 'output_igst']
      .map(
        (kind) =>
          `coalesce(sum(t.amount) filter (where t.credit_account_id like '${kind}:%'), 0)::text as ${kind}`,
      )
      .join(', ')}
     from journals j join ledger_transfers t using (tenant_id, journal_id)
     where j.kind = 'fee_accrual' and to_char(j.effective_date, 'YYYY-MM') = $1`,
    [month],
  )
  const documents = await taxDocumentsOf(service, month)
  const sum = (part: 'taxablePaise' | 'cgstPaise' | 'sgstPaise' | 'igstPaise') =>
    String(documents.reduce((total, document) => total + document[part], 0n))
  const invoices = {
    fee_income: sum('taxablePaise'),
    output_cgst: sum('cgstPaise'),
    output_sgst: sum('sgstPaise'),
    output_igst: sum('igstPaise'),
  }
  return { accounts, invoices, documents }
}

const change = ({ merchantId }: Billed, payoutId: string, step: PayoutStep) =>
  operatorsOf(service.app.services.commands).open(changePayout).run({ merchantId, payoutId, step })

test('a year’s invoices are the tax accounts of each month, over a change of rate, a leap day, failed payouts and late facts', async () => {
  const shops = [await shop('29'), await shop('07')]
  for (const of of shops)
    for (const [i, month] of MONTHS.entries()) {
      await pay(of, 100 + i, `${month}-01T00:30:00+05:30`)
      await pay(of, 57.77, `${lastDayOf(month)}T23:30:00+05:30`)
    }
  await accrueDueFees(service.app.services)
  // Several processes at once: each fee is in one invoice, and no number is missing.
  for (const month of MONTHS) await Promise.all([service, other, service].map((on) => issue(month, on)))
  const february = (await totalsOf('2024-02')).documents
  expect(february.map(({ taxBasisPoints }) => taxBasisPoints).sort()).toEqual([1_800, 1_800, 2_000, 2_000])
  const before = await Promise.all(MONTHS.map(totalsOf))
  for (const { accounts, invoices } of before) {
    expect(invoices).toEqual(accounts)
    expect(invoices.fee_income).not.toBe('0')
  }
  const [near] = shops as [Billed, Billed]
  const failed = await sendPayoutOf(service, near.merchantId)
  await change(near, failed, { to: 'FAILED', reason: 'closed' })
  const returned = await sendPayoutOf(service, near.merchantId)
  await change(near, returned, { to: 'PAID', utr: newUtr() })
  await change(near, returned, { to: 'FAILED', reason: 'closed', returnUtr: newUtr() })
  expect(await Promise.all(MONTHS.map(totalsOf))).toEqual(before)
  await pay(near, 1_000, '2024-02-29T12:00:00+05:30')
  await accrueDueFees(service.app.services)
  expect(await issue('2024-02')).toMatchObject([{ merchantId: near.merchantId, paymentCount: 1 }])
  const { accounts, invoices, documents } = await totalsOf('2024-02')
  expect(invoices).toEqual(accounts)
  expect(documents.filter(({ number }) => february.some((each) => each.number === number))).toEqual(february)
  const numbers = await sql<{ number: string }>('select number from tax_documents order by number')
  const year = financialYear(calendarDay(new Date(), 'Asia/Kolkata'))
  expect(numbers.map(({ number }) => number)).toEqual(
    numbers.map((_, i) => `S/${year}/${String(i + 1).padStart(7, '0')}`),
  )
  expect(await brokenIn(service)).toEqual([])
})

test('an invoice is dated the last day of its month until the 7th of the next, then the real day', () => {
  expect(issueDateOf('2024-02', '2024-03-01')).toBe('2024-02-29')
  expect(issueDateOf('2024-02', '2024-03-07')).toBe('2024-02-29')
  expect(issueDateOf('2024-02', '2024-03-08')).toBe('2024-03-08')
  expect(issueDateOf('2023-12', '2024-01-07')).toBe('2023-12-31')
  expect([financialYear('2027-03-31'), financialYear('2027-04-01')]).toEqual(['26-27', '27-28'])
})

test('on the command line a merchant is registered, invoiced by its GSTIN’s state, and in the return', async () => {
  const env = { DATABASE_URL: service.db.url, SVC_MASTER_KEY: MASTER_KEY, ...ENV }
  const tax = (...args: string[]) => runHere(['admin', 'tax', ...args], env)
  const of = await shop('29')
  const named = ['--legal-name', 'Corner Shop LLP', '--address', '2 Linking Road, Mumbai']
  const wrong = await tax('registration', of.merchantId, ...named, '--gstin', '27AAPFU0939F1ZW')
  expect(wrong).toMatchObject({ code: 1, stderr: expect.stringContaining('check digit') })
  const set = await tax('registration', of.merchantId, ...named, '--gstin', '27AAPFU0939F1ZV', '--json')
  expect(set.code, set.stderr).toBe(0)
  expect(JSON.parse(set.stdout)).toMatchObject({ gstin: '27AAPFU0939F1ZV', state: '27' })
  await pay(of, 100, '2025-01-31T12:00:00+05:30')
  const issued = await tax('issue', '--month', '2025-01', '--merchant', of.merchantId, '--json')
  expect(issued.code, issued.stderr).toBe(0)
  const [invoice, ...more] = JSON.parse(issued.stdout)
  expect(more).toEqual([])
  // 1.73 % and 31 paise, and 20 % of 2.04 in another state.
  expect(invoice).toMatchObject({
    documentId: expect.stringMatching(/^txd_/),
    kind: 'INVOICE',
    period: '2025-01',
    supplier: { gstin: SUPPLIER.SUPPLIER_GSTIN, state: '29' },
    recipient: { legalName: 'Corner Shop LLP', gstin: '27AAPFU0939F1ZV', state: '27' },
    placeOfSupply: '27-Maharashtra',
    sac: '997158',
    count: 1,
    taxableValue: '2.04',
    rate: '20.00',
    cgst: '0.00',
    sgst: '0.00',
    igst: '0.41',
    total: '2.45',
  })
  const [, body] = invoice.signed.split('.')
  const { signed: _signed, ...said } = invoice
  expect(JSON.parse(Buffer.from(body, 'base64url').toString('utf8'))).toMatchObject(said)
  const dated = invoice.issueDate.slice(0, 7)
  const b2b = await tax('gstr1', '--month', dated, '--section', 'b2b', '--csv')
  const lines = b2b.stdout.replaceAll('"', '').split('\r\n')
  expect(lines[0]).toBe(
    'GSTIN/UIN of Recipient,Receiver Name,Invoice Number,Invoice date,Invoice Value,Place Of Supply,Reverse Charge,Applicable % of Tax Rate,Invoice Type,E-Commerce GSTIN,Rate,Taxable Value,Cess Amount',
  )
  expect(lines[1]).toContain(`27AAPFU0939F1ZV,Corner Shop LLP,${invoice.number},`)
  for (const section of ['b2cs', 'hsn', 'docs'])
    expect((await tax('gstr1', '--month', dated, '--section', section, '--csv')).stdout).not.toBe('')
  const file = join(folder, 'invoice.pdf')
  expect(await tax('pdf', invoice.number, file)).toMatchObject({ code: 0 })
  expect((await readFile(file)).subarray(0, 5).toString()).toBe('%PDF-')
  const again = await tax('issue', '--month', '2025-01', '--merchant', of.merchantId, '--json')
  expect(JSON.parse(again.stdout)).toEqual([])
})
