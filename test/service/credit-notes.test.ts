import { gstr1 } from '@svc/core/payments/fees/gstr1'
import { issueCreditNote } from '@svc/core/payments/fees/issue-credit-note'
import { issueDebitNote } from '@svc/core/payments/fees/issue-debit-note'
import type { TaxDocument } from '@svc/core/payments/fees/tax-document'
import { changePayout } from '@svc/core/payments/payouts/change-payout'
import { formatRupees, paise } from '@svc/kernel/money'
import { calendarDay } from '@svc/kernel/time'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openApprovers, sqlOn } from '../harness/approvals.ts'
import { runHere } from '../harness/cli.ts'
import { type Json, payloadOf } from '../harness/client.ts'
import type { Browser } from '../harness/console.ts'
import { type Billed, newTaxDocument, SUPPLIER, taxDocumentsOf } from '../harness/invoices.ts'
import { operatorsOf } from '../harness/operators.ts'
import { giveAccount, giveFee, sendPayoutOf } from '../harness/payouts.ts'
import { creditOf, newCode, newUtr, notifyCredit } from '../harness/qr-codes.ts'
import { brokenIn, newShop } from '../harness/refunds.ts'
import { MASTER_KEY, type TestService } from '../harness/service.ts'

let service: TestService
let other: TestService
let ravi: Browser
beforeAll(async () => {
  ;({ service, other, ravi } = await openApprovers(SUPPLIER))
})
afterAll(async () => {
  await other?.close()
  await service?.close()
})

const sql = <T>(text: string, values: unknown[] = []) => sqlOn<T>(service, text, values)
const note = (number: string, amount: string, reason = 'by letter') =>
  tax('credit-note', number, '--amount', amount, '--reason', reason)
const debit = (number: string) => tax('debit-note', number, '--reason', 'of another merchant')

async function tax(...given: string[]) {
  const env = {
    DATABASE_URL: service.db.url,
    SVC_MASTER_KEY: MASTER_KEY,
    APPROVAL_ABOVE_RUPEES: '1000',
    ...SUPPLIER,
  }
  const { stdout, stderr } = await runHere(['admin', 'tax', ...given, '--json'], env)
  return { out: (stdout === '' ? undefined : JSON.parse(stdout)) as Json, stderr }
}

/** A merchant with an invoice of a fee, in rupees, and 18 % of GST. */
async function invoiced(fee: bigint, gstState = '29', amount = 249.5) {
  const shop = await newShop(service)
  await giveAccount(service, shop.merchantId, gstState)
  await giveFee(
    service,
    shop.merchantId,
    fee > 1_000n ? { basisPoints: Number((fee * 10_000n) / BigInt(amount)) } : { fixedPaise: fee * 100n },
  )
  const { tr } = await newCode(service, shop.client, { multipleUse: true })
  const of: Billed = { merchantId: shop.merchantId, tr }
  return { ...shop, of, invoice: await newTaxDocument(service, of, amount) }
}
const balancesOf = async (merchantId: string): Promise<Record<string, string>> =>
  Object.fromEntries(
    (
      await sql<{ kind: string; balance: string }>(
        `select kind, balance::text from ledger_accounts
         where tenant_id = $1 and kind in ('payable', 'fee_income', 'output_cgst', 'output_sgst', 'output_igst')`,
        [merchantId],
      )
    ).map(({ kind, balance }) => [kind, balance]),
  )

test('a credit note makes fee and tax payable, is in the next payout and in the return, and its merchant reads it', async () => {
  const { client, invoice, merchantId } = await invoiced(50n)
  expect(invoice).toMatchObject({ taxablePaise: 50_00n, cgstPaise: 4_50n, sgstPaise: 4_50n })
  const first = await sendPayoutOf(service, merchantId)
  const before = await balancesOf(merchantId)
  const { out, stderr } = await note(invoice.number, '20.00')
  expect(stderr).toBe('')
  const [document] = out
  expect(document).toMatchObject({
    number: expect.stringMatching(/^C\/\d\d-\d\d\/0000001$/),
    kind: 'CREDIT_NOTE',
    issueDate: calendarDay(new Date(), 'Asia/Kolkata'),
    period: invoice.month.slice(0, 7),
    recipient: { legalName: invoice.recipient.legalName, state: invoice.recipient.state },
    taxableValue: '20.00',
    cgst: '1.80',
    sgst: '1.80',
    igst: '0.00',
    total: '23.60',
    originalNumber: invoice.number,
  })
  const after = await balancesOf(merchantId)
  const changed = Object.keys(after).map((kind) => [kind, BigInt(after[kind]!) - BigInt(before[kind]!)])
  expect(Object.fromEntries(changed)).toEqual({
    payable: 23_60n,
    fee_income: -20_00n,
    output_cgst: -1_80n,
    output_sgst: -1_80n,
    output_igst: 0n,
  })
  const payoutId = await sendPayoutOf(service, merchantId)
  expect(payoutId).not.toBe(first)
  const payout = payloadOf(await client.get(`/api/v0/payouts/${payoutId}`))
  expect(payout).toMatchObject({ amount: 23.6, adjustments: { count: 1, amount: 23.6 } })
  const { data: lines } = payloadOf(await client.get(`/api/v0/payouts/${payoutId}/lines`))
  expect(lines).toMatchObject([{ kind: 'credit_note', documentId: document.documentId, amount: 23.6 }])
  const run = operatorsOf(service.app.services.commands).open(changePayout).run
  await run({ merchantId, payoutId, step: { to: 'PAID', utr: newUtr() } })
  expect((await balancesOf(merchantId))['payable']).toBe('0')
  const { data } = payloadOf(await client.get('/api/v0/tax-documents'))
  expect(data.map(({ number }: Json) => number)).toEqual([document.number, invoice.number])
  expect(payloadOf(await client.get(`/api/v0/tax-documents/${document.documentId}`))).toEqual(data[0])
  const pdf = await client.get(`/api/v0/tax-documents/${document.documentId}/pdf`)
  expect([pdf.status, pdf.headers['content-type']]).toEqual([200, 'application/pdf'])
  expect(pdf.text.startsWith('%PDF-')).toBe(true)
  const events = await sql<{ id: string; data: Json }>(
    `select object_id as id, payload as data from outbox where type = 'tax_document.issued' and tenant_id = $1 order by event_id`,
    [merchantId],
  )
  expect(events.map(({ data }) => data)).toEqual(data.toReversed())
  expect(await brokenIn(service)).toEqual([])
})

test('notes give back at most the invoice, and all of its tax; the same again is issued once, from several processes', async () => {
  const { invoice, merchantId } = await invoiced(10n, '07')
  expect(invoice).toMatchObject({ taxablePaise: 10_00n, igstPaise: 1_80n })
  expect((await note(invoice.number, '3.33')).out).toMatchObject([
    { taxableValue: '3.33', igst: '0.60', cgst: '0.00' },
  ])
  const run = (on: TestService) =>
    operatorsOf(on.app.services.commands)
      .open(issueCreditNote)
      .run({ number: invoice.number, feePaise: paise(3_33n), reason: 'again' })
  await Promise.all([service, other, service, other].map(run))
  expect((await note(invoice.number, '3.35')).stderr).toContain('3.34 of the fees')
  expect((await note(invoice.number, '3.34')).out).toMatchObject([{ taxableValue: '3.34', igst: '0.60' }])
  expect((await note(invoice.number, '0.01')).stderr).toContain('credit_note_over_invoice')
  expect((await note(invoice.number, '3.34')).out).toMatchObject([{ taxableValue: '3.34', igst: '0.60' }])
  expect((await note('C/26-27/0000001', '1.00')).stderr).toContain('tax_document_not_found')
  const notes = await sql<{ number: string; fee: string; tax: string }>(
    `select number, taxable_paise as fee, igst_paise as tax from tax_documents where original_number = $1 order by number`,
    [invoice.number],
  )
  expect(notes.map(({ fee, tax }) => [fee, tax])).toEqual([
    ['333', '60'],
    ['333', '60'],
    ['334', '60'],
  ])
  const numbers = await sql<{ n: string }>(
    `select right(number, 7) as n from tax_documents where kind = 'CREDIT_NOTE' order by 1`,
  )
  expect(numbers.map(({ n }) => Number(n))).toEqual(numbers.map((_, i) => i + 1))
  // What was declared and paid before may be given back: the accounts go below zero until a later month.
  expect(await balancesOf(merchantId)).toMatchObject({ fee_income: '0', output_igst: '0' })
  expect(await brokenIn(service)).toEqual([])
})

test('a credit note is taken back by a debit note, whole and once: fee and tax are owed to us again, by the next payout', async () => {
  const { client, invoice, merchantId, of } = await invoiced(50n)
  await sendPayoutOf(service, merchantId)
  const before = await balancesOf(merchantId)
  // Before a payout has the credit note it is still payable.
  const [open] = (await note(invoice.number, '5.00')).out
  const [taken] = (await debit(open.number)).out
  expect(taken).toMatchObject({
    number: expect.stringMatching(/^D\/\d\d-\d\d\/0000001$/),
    kind: 'DEBIT_NOTE',
    taxableValue: '5.00',
    total: '5.90',
    originalNumber: invoice.number,
    creditNoteNumber: open.number,
  })
  expect(await balancesOf(merchantId)).toEqual(before)
  // What the merchant was paid already is an advance.
  const [paid] = (await note(invoice.number, '20.00')).out
  const credited = await sendPayoutOf(service, merchantId)
  const run = operatorsOf(service.app.services.commands).open(changePayout).run
  await run({ merchantId, payoutId: credited, step: { to: 'PAID', utr: newUtr() } })
  const repeated = (on: TestService) =>
    operatorsOf(on.app.services.commands)
      .open(issueDebitNote)
      .run({ number: paid.number, reason: 'of another merchant' })
  const all = await Promise.all([service, other, service, other].map(repeated))
  expect(new Set(all.map(({ document }) => document.number)).size).toBe(1)
  expect(await balancesOf(merchantId)).toEqual(before)
  const advances = `select balance::text from ledger_accounts where account_id = $1`
  expect(await sql(advances, [`merchant_advances:${merchantId}`])).toEqual([{ balance: '-2360' }])
  expect((await debit(invoice.number)).stderr).toContain('tax_document_not_found')
  expect((await debit(taken.number)).stderr).toContain('tax_document_not_found')
  // All of the invoice can be given back again.
  expect((await note(invoice.number, '20.00')).out).toMatchObject([{ taxableValue: '20.00', cgst: '1.80' }])
  expect((await note(invoice.number, '30.01')).stderr).toContain('30.00 of the fees')
  const { data } = payloadOf(await client.get('/api/v0/tax-documents?kind=DEBIT_NOTE'))
  expect(data.map(({ creditNoteNumber }: Json) => creditNoteNumber)).toEqual([paid.number, open.number])
  const events = await sql<{ data: Json }>(
    `select payload as data from outbox where type = 'tax_document.issued' and tenant_id = $1 order by event_id desc`,
    [merchantId],
  )
  expect(events.map(({ data }) => data)).toEqual(expect.arrayContaining(data))
  const pdf = await client.get(`/api/v0/tax-documents/${data[0].documentId}/pdf`)
  expect([pdf.status, pdf.text.startsWith('%PDF-')]).toEqual([200, true])
  expect(await brokenIn(service)).toEqual([])
  payloadOf(await notifyCredit(service.client, creditOf(of.tr, { amount: 500, utr: newUtr() })))
  const payoutId = await sendPayoutOf(service, merchantId)
  const { data: lines } = payloadOf(await client.get(`/api/v0/payouts/${payoutId}/lines`))
  expect(
    lines.filter(({ documentId }: Json) => documentId).map(({ kind, amount }: Json) => [kind, amount]),
  ).toEqual([
    ['debit_note', 23.6],
    ['credit_note', 23.6],
  ])
  expect(await sql(advances, [`merchant_advances:${merchantId}`])).toEqual([{ balance: '0' }])
  expect(await brokenIn(service)).toEqual([])
})

test('the return of the month has the notes of registered merchants', async () => {
  const documents = await taxDocumentsOf(service)
  const registered = documents.map(
    (each): TaxDocument => ({ ...each, recipient: { ...each.recipient, gstin: '27AAPFU0939F1ZV' } }),
  )
  const notes = documents.filter(({ kind }) => kind !== 'INVOICE')
  expect(
    gstr1('cdnr', registered).map((row) => [row['Note Number'], row['Note Type'], row['Note Value']]),
  ).toEqual(
    notes.map((each) => [
      each.number,
      each.kind === 'CREDIT_NOTE' ? 'C' : 'D',
      formatRupees(each.taxablePaise + each.cgstPaise + each.sgstPaise + each.igstPaise),
    ]),
  )
  const taxable = (kind: string) =>
    documents.filter((each) => each.kind === kind).reduce((sum, each) => sum + each.taxablePaise, 0n)
  const [sums] = gstr1('hsn', documents)
  expect(sums!['Taxable Value']).toBe(
    formatRupees(taxable('INVOICE') - taxable('CREDIT_NOTE') + taxable('DEBIT_NOTE')),
  )
  expect(gstr1('docs', documents)).toContainEqual(
    expect.objectContaining({ 'Nature of Document': 'Debit Note', 'Total Number': 2 }),
  )
})

test('above the limit a second person approves a credit note, and a debit note; its number is taken then', async () => {
  const { invoice } = await invoiced(2_000n, '29', 10_000)
  const { out } = await note(invoice.number, '1500.00')
  expect(out).toMatchObject({ kind: 'credit_note', status: 'PENDING', amount: '1770.00' })
  const before = await sql<{ last: string }>(`select last_number as last from tax_series where series = 'C'`)
  expect((await ravi.post(`/approvals/${out.approvalId}/approve`, {})).status).toBe(200)
  const after = await sql<{ last: string }>(`select last_number as last from tax_series where series = 'C'`)
  expect(Number(after[0]!.last)).toBe(Number(before[0]!.last) + 1)
  expect((await note(invoice.number, '1500.00')).out).toMatchObject([
    { taxableValue: '1500.00', cgst: '135.00' },
  ])
  const [issued] = (await note(invoice.number, '1500.00')).out
  const waiting = (await debit(issued.number)).out
  expect(waiting).toMatchObject({ kind: 'debit_note', status: 'PENDING', amount: '1770.00' })
  expect((await ravi.post(`/approvals/${waiting.approvalId}/approve`, {})).status).toBe(200)
  expect((await debit(issued.number)).out).toMatchObject([{ creditNoteNumber: issued.number }])
  expect(await brokenIn(service)).toEqual([])
})
