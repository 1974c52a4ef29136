import { readFormat } from '@svc/core/bank-files/file-format'
import { SETTLEMENT_FIELDS, SettlementReader } from '@svc/core/bank-files/settlement-rows'
import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { csvOf, FILE_KINDS, type FileKind, saidBy } from '../harness/bank-files.ts'

const KIND = FILE_KINDS[1]!
const HEAD = Object.keys(KIND.row)

/** windows-1252 for the characters that these tests use. */
const latin = (text: string) => Buffer.from(text, 'latin1')
const utf16be = (text: string) => Buffer.from(`\ufeff${text}`, 'utf16le').swap16()
const ENCODE: Readonly<Record<string, (text: string) => Buffer>> = {
  'utf-8': (text) => Buffer.from(text),
  'utf-8 with a mark': (text) => Buffer.from(`\ufeff${text}`),
  'utf-16le with a mark': (text) => Buffer.from(`\ufeff${text}`, 'utf16le'),
  'utf-16le': (text) => Buffer.from(text, 'utf16le'),
  'utf-16be with a mark': utf16be,
  'windows-1252': latin,
}

const dialect = fc.record({
  separator: fc.constantFrom(',', ';', '\t', '|'),
  encoding: fc.constantFrom(...Object.keys(ENCODE)),
  lineEnd: fc.constantFrom('\n', '\r\n', '\r'),
  // Programs put headings of their own above the lines of others.
  lineEndAbove: fc.constantFrom('\n', '\r\n', undefined),
  quoted: fc.boolean(),
  above: fc.subarray(['HDFC Bank Ltd.', 'Settlement report of 27-11-2026', 'sep=;', '']),
  below: fc.subarray(['', 'TOTAL', 'Grand Total', 'End of report', 'Number of records']),
  order: fc.shuffledSubarray(HEAD, { minLength: HEAD.length }),
  upper: fc.boolean(),
  extra: fc.boolean(),
})

test('a settlement says the same in every dialect: separators, encodings, headings above, totals below, order of columns', async () => {
  const note = 'Café £5'
  const row: Readonly<Record<string, string>> = { ...KIND.row, note }
  const asStated = await saidBy(
    KIND,
    Buffer.from(`${HEAD.join(',')}\n${HEAD.map((name) => row[name]).join(',')}\n`),
  )
  expect(asStated).toMatch(/^\[/)
  await fc.assert(
    fc.asyncProperty(
      dialect,
      async ({ separator, encoding, lineEnd, lineEndAbove, quoted, above, below, order, upper, extra }) => {
        const cell = (text: string) => (quoted ? `"${text}"` : text)
        const line = (cells: readonly string[]) =>
          [...cells, ...(extra ? ['x'] : [])].map(cell).join(separator)
        const total = (word: string) =>
          word === '' ? '' : [word, ...Array(order.length - 1).fill('')].join(separator)
        const text = [
          [...above, line(order.map((name) => (upper ? name.toUpperCase() : name))), ''].join(
            lineEndAbove ?? lineEnd,
          ) + line(order.map((name) => row[name]!)),
          separator.repeat(order.length - 1),
          ...below.map(total),
          '',
        ].join(lineEnd)
        expect(await saidBy(KIND, ENCODE[encoding]!(text))).toBe(asStated)
      },
    ),
    { numRuns: 300 },
  )
})

test.each([
  ['a spreadsheet', Buffer.from('504b030414000600', 'hex'), 'a spreadsheet (XLSX)'],
  ['a PDF document', Buffer.from('%PDF-1.7\n'), 'a PDF document'],
  ['an empty file', Buffer.alloc(0), 'is empty'],
  ['an open quotation mark', Buffer.from(`${HEAD.join(',')}\n"432198765009,1`), 'is no CSV file'],
  ['two columns of one name', Buffer.from(`${HEAD.join(',')},AMOUNT\n`), 'has the column amount twice'],
])('%s is refused as a whole, and the message says what it is', async (_, bytes, words) => {
  expect(await saidBy(KIND, bytes)).toMatch(/^rejected: /)
  expect(await saidBy(KIND, bytes)).toContain(words)
})

test('a value with the separator in it, outside quotation marks, makes its line unreadable', async () => {
  const said = await saidBy(FILE_KINDS[0]!, 'utr,amount,date\n432198765009,1,249.50,2026-11-26\n')
  expect(said).toContain('line 1: the line has 4 values and the heading 3: a value with "," in it')
})

const kindOf = (name: string): FileKind => FILE_KINDS.find((kind) => kind.name === name)!

test.each([
  ['cashfree', 'payment_service_charge'],
  ['paytm', 'commission'],
  ['phonepe', 'Fee'],
  ['razorpay', 'debit'],
])('%s: the column %s that the format names must be there, once', async (name, column) => {
  const kind = kindOf(name)
  const { [column]: cell, ...others } = kind.row
  const renamed = { ...others, [`${column} amount`]: cell! }
  expect(await saidBy(kind, csvOf(renamed))).toContain(`rejected: The file has no column ${column}`)
  const [heading, line] = csvOf(kind.row).split('\n')
  expect(await saidBy(kind, `${heading},${column}\n${line},1\n`)).toContain(`has the column ${column} twice`)
})

test('a tax that a state does not have may be missing, and a charge that a payment gives back is a problem', async () => {
  const phonepe = kindOf('phonepe')
  const { IGST: _, ...within } = phonepe.row
  expect(await saidBy(phonepe, csvOf(within))).toMatch(/^\[/)
  expect(await saidBy(phonepe, csvOf({ ...phonepe.row, Fee: '4.99' }))).toContain('line 1: Fee is a charge')
  const refund = { ...phonepe.row, PaymentType: 'REFUND', Fee: '4.99' }
  expect(await saidBy(phonepe, csvOf(refund))).toContain('"amountPaise":"499n"')
  const cashfree = kindOf('cashfree')
  const given = csvOf({ ...cashfree.row, payment_service_charge: '-4.99' })
  expect(await saidBy(cashfree, given)).toContain('line 1: payment_service_charge is a charge')
})

/** A bank of no list: the format is a file of the operator's. */
const own = (json: object): FileKind => {
  const format = readFormat(json, SETTLEMENT_FIELDS)
  const reader = new SettlementReader(format)
  return { ...KIND, format, read: (line) => reader.read(line) }
}

test('a format of one’s own has debits and credits, lines to skip, days, totals and conditions', async () => {
  const kind = own({
    columns: { reference: 'RRN', date: 'Txn Dt', debit: 'Withdrawal', credit: 'Deposit', kind: 'Code' },
    sign: 'debit-credit',
    separator: '~',
    skipLines: 1,
    totals: ['T'],
    dates: { pattern: 'ddMMyyyy' },
    kinds: { payment: ['UPI-CR'], refund: ['UPI-RV'], ignored: ['INFO'] },
    where: { Flag: ['Y'] },
  })
  const file = (...lines: string[]) =>
    Buffer.from(
      ['RRN~Txn Dt~Withdrawal~Deposit~Code~Flag', 'RRN~Txn Dt~Withdrawal~Deposit~Code~Flag', ...lines].join(
        '\n',
      ),
    )
  const said = await saidBy(
    kind,
    file(
      '432198765009~26112026~~249.50~upi cr~Y',
      '432198765010~26112026~10.00~~UPI-RV~Y',
      'x~~~~INFO~Y',
      'T~~10~249.50~~',
    ),
  )
  expect(JSON.parse(said)).toMatchObject([
    { kind: 'payment', reference: '432198765009', amountPaise: '24950n', settledOn: '2026-11-26' },
    { kind: 'refund', reference: '432198765010', amountPaise: '-1000n' },
  ])
  for (const [line, words] of [
    ['432198765009~26112026~~249.50~UPI-CR~N', 'Flag must be Y'],
    ['432198765009~26112026~5~249.50~UPI-CR~Y', 'Withdrawal is stated beside a credit'],
    ['432198765009~26112026~~~UPI-CR~Y', 'Deposit must be rupees above 0'],
    ['432198765009~26112026~~249.50~ATM~Y', 'Code is not a word that the format names'],
    ['432198765009~26112026~249.50~~UPI-CR~Y', 'is below zero, and the line is a payment'],
  ] as const)
    expect(await saidBy(kind, file(line)), line).toContain(words)
})

test.each([
  [{ columns: { reference: 'a', amount: 'b' } }, 'columns has no date'],
  [{ columns: { reference: 'a', amount: 'b', date: 'c' }, unit: 'cents' }, 'unit'],
  [
    { columns: { reference: 'a', amount: 'b', date: 'c', payer: 'd' } },
    'columns has payer, which no line has',
  ],
  [{ columns: { reference: 'a', amount: 'b', date: 'c' }, sign: 'by-kind' }, 'columns has no kind'],
  [{ columns: { reference: 'a', amount: 'b', date: 'c' }, kinds: { gift: ['x'] } }, 'kinds has gift'],
  [{ columns: { reference: 'a', amount: 'b', date: 'c' }, dates: { pattern: 'whenever' } }, 'dates.pattern'],
  [{ columns: { reference: 'a', amount: 'b', date: 'c' }, check: { payment: 'a plus b' } }, 'is no equation'],
  [{ columns: { reference: 'a', amount: 'b', date: 'c' }, colums: {} }, 'additional properties'],
  ['not an object', 'object'],
])('the format %j is refused: %s', (json, words) => {
  expect(() => readFormat(json, SETTLEMENT_FIELDS)).toThrow(words)
})
