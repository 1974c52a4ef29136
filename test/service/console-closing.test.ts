import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { lastDayOf } from '@svc/core/payments/fees/gst'
import { calendarDay } from '@svc/kernel/time'
import { request } from 'undici'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openApprovers, sqlOn } from '../harness/approvals.ts'
import { runHere } from '../harness/cli.ts'
import type { Json } from '../harness/client.ts'
import { type MonthToClose, makeMonthToClose } from '../harness/closed-month.ts'
import { API, type Browser, signedIn } from '../harness/console.ts'
import { readCsv } from '../harness/console-csv.ts'
import { SUPPLIER } from '../harness/invoices.ts'
import { newUtr } from '../harness/qr-codes.ts'
import { brokenIn } from '../harness/refunds.ts'
import { MASTER_KEY, type TestService } from '../harness/service.ts'
import { unzipped } from '../harness/unzipped.ts'

let service: TestService
let other: TestService
let asha: Browser
let ravi: Browser
let vera: Browser
let of: MonthToClose
let dir: string
beforeAll(async () => {
  ;({ service, other, asha, ravi } = await openApprovers(SUPPLIER))
  vera = await signedIn(service, 'viewer')
  of = await makeMonthToClose(service)
  dir = await mkdtemp(join(tmpdir(), 'svc-closing-'))
})
afterAll(async () => {
  expect(await brokenIn(service)).toEqual([])
  await other?.close()
  await service?.close()
  await rm(dir, { recursive: true, force: true })
})

const bytesOf = async (browser: Browser, path: string): Promise<Buffer> => {
  const url = `${service.client.baseUrl}${API}${path}`
  const response = await request(url, { headers: { cookie: browser.cookie! } })
  return Buffer.from(await response.body.arrayBuffer())
}
const runningMonth = () => calendarDay(new Date(), 'Asia/Kolkata').slice(0, 7)
const file = (text: string) => Buffer.from(text)
const statements = () => `/bank-accounts/${of.bankAccountId}/statements`
const rowsOf = (table: string) => sqlOn(service, `select from ${table}`)
const svc = async (...args: string[]): Promise<Json> => {
  const env = { ...SUPPLIER, DATABASE_URL: service.db.url, SVC_MASTER_KEY: MASTER_KEY }
  const { stdout } = await runHere(['admin', ...args, '--json'], env)
  return JSON.parse(stdout)
}
const lineOf = async (reference: string): Promise<Json> =>
  (await vera.get(`/statement-lines?reference=${reference}`)).json.data[0]

test('files of banks are read and posted by finance alone, and a viewer sees what came of them', async () => {
  for (const path of ['/settlements/read', '/settlements', statements(), `${statements()}/read`])
    expect([path, (await vera.post(path, of.settlementFile)).error]).toEqual([path, 'role_too_low'])
  for (const path of ['/settlements', '/open-settlement-lines', '/book-months', '/tax-documents'])
    expect([path, (await vera.get(path)).status]).toEqual([path, 200])
  const through = `/book-months/${of.through}`
  for (const [path, body] of [
    [`${through}/close`, {}],
    [`${through}/accrue`, undefined],
    ['/tax-documents', { month: of.month }],
  ] as const)
    expect([path, (await vera.post(path, body)).error]).toEqual([path, 'role_too_low'])
})

test('a settlement file that is read says what fits and what does not, and records nothing', async () => {
  const { status, json } = await asha.post('/settlements/read', of.settlementFile)
  expect([status, json]).toEqual([
    200,
    expect.objectContaining({
      lines: 4,
      matched: 2,
      matchedAmount: '1500.00',
      unknown: 1,
      differing: 0,
      conflicting: 0,
      unreadable: 0,
      batches: [
        expect.objectContaining({ batchUtr: of.transfers[0], netAmount: '1067.00', remainder: '0.00' }),
        expect.objectContaining({ batchUtr: of.transfers[1], netAmount: '500.00' }),
      ],
      unfittingLines: [
        {
          line: 2,
          batchUtr: of.transfers[0],
          kind: 'payment',
          reference: of.strayUtr,
          amount: '77.00',
          differs: false,
        },
      ],
    }),
  ])
  expect(await rowsOf('settlement_batches')).toEqual([])
})

test('a file is recognized, with the account of a statement, and what the bank owes is what has not come', async () => {
  const recognized = async (bytes: Buffer) => (await asha.post('/bank-files/recognize', bytes)).json
  expect(await recognized(of.settlementFile)).toEqual({ kind: 'settlement', rail: 'upi', format: 'svc' })
  const { bankAccountId } = of
  expect(await recognized(of.statementFile)).toEqual({ kind: 'statement', bankAccountId })
  expect((await asha.post('/bank-files/recognize', file('a,b\n'))).error).toBe('validation_failed')
  const { data } = (await vera.get('/bank-files/expected')).json
  expect(data).toContainEqual(
    expect.objectContaining({ kind: 'statement', id: bankAccountId, name: 'Escrow at HDFC' }),
  )
})

test('reading a settlement file names the payments of its days that are not in it, and the payment that differs', async () => {
  const [heading, first, , , second] = of.settlementFile.toString().split('\n')
  const without = (await asha.post('/settlements/read', file(`${heading}\n${second}\n`))).json
  expect(without.missing).toMatchObject({ count: 0 })
  const days = file(`${heading}\n${first!.replace('1000.00', '999.00')}\n`)
  const { missing, unfittingLines } = (await asha.post('/settlements/read', days)).json
  expect(missing.payments.map(({ amount }: Json) => amount)).not.toContain('1000.00')
  expect(unfittingLines).toMatchObject([
    { differs: true, booksAmount: '1000.00', merchantName: 'Corner Shop' },
  ])
})

test('a file that is no settlement file, or has lines that cannot be read, is refused in words and records nothing', async () => {
  const wrong = [
    ['%PDF-1.7', /PDF/],
    ['date,amount\n2026-01-01,1.00\n', /column/i],
    ['utr,amount,date\nAXIS0000000001,1.234,2026-01-01\n', /cannot be read/],
  ] as const
  for (const [text, says] of wrong) {
    const { error, json } = await asha.post('/settlements', file(text))
    expect([text, error]).toEqual([text, 'validation_failed'])
    expect(json.detail).toMatch(says)
  }
  const unreadable = await asha.post('/settlements/read', file(wrong[2][0]))
  expect(unreadable.json).toMatchObject({ unreadable: 1, problems: [{ line: 1, column: 'amount' }] })
  expect(await rowsOf('settlement_batches')).toEqual([])
})

test('a settlement file is posted once; its transfers and lines are what the command line lists', async () => {
  const posted = (await asha.post('/settlements', of.settlementFile)).json
  expect(posted).toMatchObject({ lines: 4, matched: 2, repeated: 0 })
  expect((await asha.post('/settlements', of.settlementFile)).json).toMatchObject({ repeated: 4 })
  const kept = (await vera.get('/bank-files')).json.data
  expect(kept).toMatchObject([
    { kind: 'settlement', name: 'settlement', lines: 4, unfitting: 1, amount: '1567.00' },
  ])
  const { bankFileId, sha256 } = kept[0]
  expect(sha256).toBe(createHash('sha256').update(of.settlementFile).digest('hex'))
  const content = `/bank-files/${bankFileId}/content`
  expect((await vera.get(content)).error).toBe('role_too_low')
  expect((await asha.get('/bank-files/bkf_none/content')).error).toBe('bank_file_not_found')
  expect(await bytesOf(asha, content)).toEqual(of.settlementFile)
  const { data } = (await vera.get('/settlements')).json
  expect(data).toHaveLength(2)
  expect(await svc('settlement', 'batches')).toEqual(data)
  const { batchId } = data.find(({ batchUtr }: Json) => batchUtr === of.transfers[0])
  const shown = (await vera.get(`/settlements/${batchId}`)).json
  expect(shown).toMatchObject({ valueDate: of.through, status: 'POSTED', lines: 3, unmatched: 1 })
  const lines = (await vera.get(`/settlements/${batchId}/lines?sort=created`)).json.data
  expect(lines.map(({ kind, status, amount }: Json) => [kind, status, amount]).sort()).toEqual([
    ['charge', 'POSTED', '-10.00'],
    ['payment', 'MATCHED', '1000.00'],
    ['payment', 'UNKNOWN', '77.00'],
  ])
  expect((await svc('settlement', 'batch', of.transfers[0])).lineItems).toEqual(lines)
  const open = (await vera.get('/open-settlement-lines')).json.data
  expect(open).toMatchObject([{ reference: of.strayUtr, batchUtr: of.transfers[0] }])
  expect((await vera.get('/settlements?valueDate=yesterday')).error).toBe('validation_failed')
  expect((await vera.get('/settlements/stb_none')).error).toBe('settlement_not_found')
  expect((await vera.get('/settlements/stb_none/lines')).error).toBe('settlement_not_found')
})

/** All rows of a list that is read one by one. */
async function oneByOne(path: string): Promise<Json[]> {
  const rows: Json[] = []
  for (let after = ''; ; ) {
    const { json } = await vera.get(`${path}?limit=1${after}`)
    rows.push(...json.data)
    if (json.next === undefined) return rows
    after = `&after=${encodeURIComponent(json.next)}`
  }
}

test('transfers and their lines come page by page as they come at once', async () => {
  const [{ batchId }] = (await vera.get(`/settlements?q=${of.transfers[0].toLowerCase()}`)).json.data
  for (const path of ['/settlements', `/settlements/${batchId}/lines`, '/open-settlement-lines']) {
    const { data } = (await vera.get(path)).json
    expect([path, await oneByOne(path)]).toEqual([path, data])
    const reversed = (await vera.get(`${path}?sort=created`)).json.data
    expect([path, reversed]).toEqual([path, data.toReversed()])
  }
})

test('a later file that states another net amount, or another amount of a line, is refused or shown as conflicting', async () => {
  const [, second] = of.transfers
  const heading = 'batchUtr,valueDate,netAmount,kind,reference,amount,date'
  const other = `${heading}\n${second},${of.through},600.00,payment,${newUtr()},600.00,${of.through}\n`
  expect((await asha.post('/settlements', file(other))).error).toBe('settlement_batch_differs')
  const line = of.settlementFile
    .toString()
    .split('\n')[4]!
    .replace(/500\.00(?=,[^,]*$)/, '450.00')
  const changed = (await asha.post('/settlements', file(`${heading}\n${line}\n`))).json
  expect(changed).toMatchObject({ conflicting: 1, conflictingLines: [{ line: 1, amount: '450.00' }] })
})

test('a statement is read without a trace, imported once, and one that does not follow is refused with its line', async () => {
  const counts = { lines: 2, new: 2, matched: 1, unmatched: 1, differs: 0, closingBalance: '1567.00' }
  expect((await asha.post(`${statements()}/read`, of.statementFile)).json).toMatchObject(counts)
  expect(await rowsOf('statement_lines')).toEqual([])
  expect((await asha.post(statements(), of.statementFile)).json).toMatchObject(counts)
  expect((await asha.post(statements(), of.statementFile)).json).toMatchObject({ new: 0 })
  const [account] = (await vera.get('/bank-accounts')).json.data
  expect(account).toMatchObject({ through: of.through, balance: '1567.00', accountEnds: '5678' })
  const gap = `date,amount,reference,narration,balance\n${of.through},1.00,X,,9.00\n`
  const refused = await asha.post(statements(), file(gap))
  expect([refused.error, refused.json.detail]).toEqual([
    'validation_failed',
    expect.stringMatching(/^Line 1: the statement opens with 8\.00, and the account had 1567\.00/),
  ])
  const [first] = (await vera.get(`/settlements?q=${of.transfers[0]}`)).json.data
  expect(first).toMatchObject({ status: 'CONFIRMED', statementDate: of.through, statementAmount: '1067.00' })
})

test('a line is matched with what has its amount, taken back and matched again; the transfer follows', async () => {
  const { lineId } = await lineOf('CHEQUE000077')
  const path = `/statement-lines/${lineId}`
  const { data } = (await vera.get(`${path}/candidates`)).json
  expect(data).toMatchObject([{ kind: 'settlement', name: of.transfers[1], date: of.through }])
  const match = { documentId: data[0].documentId, reason: 'by letter of the bank' }
  expect((await vera.post(`${path}/match`, match)).error).toBe('role_too_low')
  const statusOf = async () => (await vera.get(`/settlements/${match.documentId}`)).json.status
  expect((await asha.post(`${path}/match`, match)).json).toMatchObject({ status: 'MATCHED' })
  expect(await statusOf()).toBe('CONFIRMED')
  expect((await vera.get(`${path}/candidates`)).json.data).toEqual([])
  expect((await asha.post(`${path}/unmatch`, { reason: 'of another' })).json.status).toBe('UNMATCHED')
  expect(await statusOf()).toBe('POSTED')
  expect((await asha.post(`${path}/unmatch`, { reason: 'of another' })).error).toBe(
    'statement_line_not_matched',
  )
  expect((await asha.post(`${path}/match`, { ...match, documentId: 'stb_none' })).error).toBe(
    'movement_not_found',
  )
  expect((await asha.post(`${path}/owner`, { owner: 'operator ravi' })).json.owner).toBe('operator ravi')
  expect((await asha.post(`${path}/match`, match)).json.status).toBe('MATCHED')
  expect((await asha.get('/statement-lines/stl_none/candidates')).error).toBe('statement_line_not_found')
})

test('a line is resolved on its day; above the limit another person approves it', async () => {
  const lines = [-5_900, 250_000].map((paise) => ({ paise, reference: newUtr() }))
  let balance = 156_700
  const rows = lines.map(({ paise, reference }) => {
    balance += paise
    return `${of.through},${(paise / 100).toFixed(2)},${reference},,${(balance / 100).toFixed(2)}`
  })
  const text = `date,amount,reference,narration,balance\n${rows.join('\n')}\n`
  expect((await asha.post(statements(), file(text))).json).toMatchObject({ new: 2, unmatched: 2 })
  const [charge, interest] = (await Promise.all(lines.map(({ reference }) => lineOf(reference)))) as [
    Json,
    Json,
  ]
  const resolve = (line: Json, as: string) =>
    asha.post(`/statement-lines/${line.lineId}/resolve`, { as, reason: 'charges of the month' })
  expect((await resolve(charge, 'charge')).json).toMatchObject({ status: 'RESOLVED', date: of.through })
  const waits = await resolve(interest, 'interest')
  expect([waits.status, waits.json.amount]).toEqual([202, '2500.00'])
  const { approvalId } = waits.json
  expect((await asha.post(`/approvals/${approvalId}/approve`)).error).toBe('approval_same_person')
  expect((await ravi.post(`/approvals/${approvalId}/approve`)).json.status).toBe('POSTED')
  expect((await lineOf(interest.reference)).status).toBe('RESOLVED')
})

test('the proof of funds of a day is that of the command line, and its archive verifies without us', async () => {
  const shown = (await vera.get(`/funds-proofs/${of.through}`)).json
  const { accounts, coverage } = await svc('books', 'proof', '--date', of.through)
  expect(shown).toMatchObject({ date: of.through, provisional: false, whole: true })
  expect(shown.accounts).toEqual(accounts)
  expect(shown.coverage).toMatchObject(coverage)
  expect(shown.coverage[0].owed[0].title).toBe('Payable to merchant')
  expect((await vera.get('/funds-proofs/today')).error).toBe('validation_failed')
  const url = `${service.client.baseUrl}/console/api/v0/funds-proofs/${of.through}/proof.zip`
  const response = await request(url, { headers: { cookie: vera.cookie! } })
  const files = unzipped(Buffer.from(await response.body.arrayBuffer()))
  for (const [name, bytes] of files) await writeFile(join(dir, name), bytes)
  const { stdout } = await promisify(execFile)(process.execPath, [join(dir, 'verify.mjs')])
  expect(stdout.trim()).toBe(`The files agree with the proof of ${of.through}`)
})

const check = async (): Promise<Record<string, boolean>> => {
  const { data } = (await vera.get(`/book-months/${of.through}/check`)).json
  return Object.fromEntries(data.map(({ item, ok }: Json) => [item, ok]))
}

test('fees are entered and invoices issued once; the return has them; of a month that runs there are none', async () => {
  expect(await check()).toMatchObject({ accrued: false, invoices: true, statements: true, proof: true })
  expect((await asha.post(`/book-months/${of.through}/accrue`)).json).toEqual({ payments: 2 })
  expect(await check()).toMatchObject({ accrued: true, invoices: false })
  const { data: issued } = (await asha.post('/tax-documents', { month: of.month })).json
  expect(issued).toHaveLength(1)
  expect((await asha.post('/tax-documents', { month: of.month })).json).toEqual({ data: [] })
  const [document] = (await vera.get(`/tax-documents?period=${of.month}`)).json.data
  expect(document).toMatchObject({
    number: issued[0].number,
    merchantId: of.merchantId,
    count: 2,
  })
  const stated = (await svc('tax', 'list', of.month))[0]
  expect(document).toMatchObject({
    taxableValue: stated.taxableValue,
    total: stated.total,
    cgst: stated.cgst,
  })
  const pdf = await vera.get(`/tax-documents/${document.documentId}/document.pdf`)
  expect([pdf.status, pdf.text.slice(0, 5)]).toEqual([200, '%PDF-'])
  expect((await vera.get('/tax-documents/txd_none/document.pdf')).error).toBe('tax_document_not_found')
  const dated = document.issueDate.slice(0, 7)
  const [row] = readCsv((await vera.get(`/tax-returns/${dated}/b2cs`)).text)
  expect(row).toMatchObject({ 'Taxable Value': stated.taxableValue })
  expect((await vera.get(`/tax-returns/${dated}/cdnr`)).text).toBe('')
  const running = runningMonth()
  expect((await asha.post('/tax-documents', { month: running })).error).toBe('period_not_over')
  for (const month of ['2026-13', 'October'])
    expect((await asha.post('/tax-documents', { month })).error).toBe('validation_failed')
})

test('a month in which something is open is closed for a reason that two people give; it is signed and verifies', async () => {
  await sqlOn(service, `update settlement_lines set recorded_at = now() - interval '8 days' where utr = $1`, [
    of.strayUtr,
  ])
  const path = `/book-months/${of.through}`
  expect(await check()).toEqual({
    accrued: true,
    batches: true,
    invoices: true,
    old_lines: false,
    statements: true,
    proof: true,
    reconciled: true,
  })
  const running = lastDayOf(runningMonth())
  expect((await asha.post(`/book-months/${running}/close`, { despite: 'early' })).error).toBe(
    'period_not_over',
  )
  expect((await asha.post(`${path}/close`, {})).error).toBe('period_not_ready')
  const despite = 'the bank looks for it'
  const requested = (await asha.post(`${path}/close`, { despite })).json
  expect(requested).toMatchObject({ state: 'REQUESTED', despite })
  const months = async () => (await vera.get('/book-months')).json.data
  expect(await months()).toMatchObject([
    { state: 'RUNNING' },
    { through: of.through, state: 'REQUESTED', despite },
  ])
  expect((await vera.get(`${path}/prior-period`)).error).toBe('book_closing_not_found')
  expect((await ravi.post(`${path}/close`, { despite: 'another reason' })).error).toBe('period_not_ready')
  const closed = (await ravi.post(`${path}/close`, { despite })).json
  expect(closed).toMatchObject({ state: 'CLOSED', despite, requestedBy: requested.requestedBy })
  expect((await asha.post(`${path}/close`, {})).json).toEqual(closed)
  expect((await months())[1]).toEqual(closed)
  const signed = (await vera.get(`${path}/closing.json`)).json
  expect(JSON.parse(Buffer.from(signed.signed.split('.')[1], 'base64url').toString())).toMatchObject({
    through: of.through,
    effective: signed.effective,
  })
  expect((await vera.post('/book-months/verify')).error).toBe('role_too_low')
  expect((await asha.post('/book-months/verify')).json.data).toEqual([{ through: of.through }])
  expect((await vera.get('/book-months/2020-01-31/closing.json')).error).toBe('book_closing_not_found')
  expect((await vera.get('/book-months/soon/check')).error).toBe('validation_failed')
})

test('the trial balance comes as CSV and PDF, counted in the audit, and a month with all that it was closed with', async () => {
  const asked = `effectiveThrough=${of.through}&tenantId=${of.merchantId}`
  const shown = (await vera.get(`/ledger/trial-balance?${asked}`)).json
  const rows = readCsv((await vera.get(`/ledger/trial-balance.csv?${asked}`)).text)
  expect(rows.map(({ kind, unit, debit, credit }) => ({ kind, unit, debit, credit }))).toEqual([
    ...shown.lines.map(({ kind, unit, debit, credit }: Json) => ({ kind, unit, debit, credit })),
    ...shown.sums.map((sum: Json) => ({ kind: 'total', ...sum })),
  ])
  const pdf = await bytesOf(vera, `/ledger/trial-balance.pdf?${asked}`)
  expect(pdf.subarray(0, 5).toString()).toBe('%PDF-')
  const entries = await sqlOn(
    service,
    `select content::jsonb #>> '{details,filters}' as filters from audit_log
     where action = 'list.exported' and target = 'console.showTrialBalance'`,
  )
  const counted = { filters: 'effectiveThrough tenantId' }
  expect(entries).toEqual([counted, { ...counted }])

  const files = unzipped(await bytesOf(vera, `/book-months/${of.through}/month.zip`))
  expect([...files.keys()].sort()).toEqual([
    'bank-entries.csv',
    'checklist.csv',
    'closing.json',
    'differences.csv',
    'entered-later.csv',
    'proof.json',
    'statement-lines.csv',
    'tax-documents.csv',
    'trial-balance-effective.csv',
    'trial-balance.csv',
    'verify.mjs',
  ])
  const signed = (await vera.get(`/book-months/${of.through}/closing.json`)).json
  expect(JSON.parse(files.get('closing.json')!.toString())).toEqual(signed)
  expect(readCsv(files.get('tax-documents.csv')!.toString())).toMatchObject([{ kind: 'INVOICE' }])
})

test('what is entered in a closed month later is listed, as the command line lists it', async () => {
  const late = `batchUtr,valueDate,netAmount,kind,reference,amount,date\nHDFCNLATE01,${of.through},-1.00,charge,,-1.00,${of.through}\n`
  expect((await asha.post('/settlements', file(late))).json.batches).toHaveLength(1)
  const { data } = (await vera.get(`/book-months/${of.through}/prior-period`)).json
  expect(data[0]).toMatchObject({ unit: 'INR', amount: '1.00', effectiveDate: of.through })
  const listed = (await svc('books', 'prior-period', '--through', of.through)).reverse()
  expect(data).toEqual(listed.map((item: Json) => ({ ...item, unit: 'INR' })))
  expect((await asha.post('/book-months/verify')).json.data).toEqual([{ through: of.through }])
})
