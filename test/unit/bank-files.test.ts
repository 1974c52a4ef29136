import { expect, test } from 'vitest'
import { csvOf, FILE_KINDS, type FileKind, saidBy } from '../harness/bank-files.ts'

/** What no column means, by what is wrong with it. */
const BAD = {
  zero: ['0', '0.00', '-0'],
  'wrong type': ['true', '{"value":249.50}', '[1]', 'abc', '-'],
  'foreign word': ['FAILED', 'PENDING', 'N/A', 'NONREF', 'undefined', 'REVERSED'],
  'other unit': ['249.50 USD', '$ 249.50', 'USD', '249,50', '24950 paise'],
  'spreadsheet damage': [
    '4.32199E+11',
    '4.32198765009E11',
    '#REF!',
    '#N/A',
    '########',
    '46353',
    '432198765009.0',
  ],
} as const

const cases = FILE_KINDS.flatMap((kind) =>
  Object.keys(kind.row)
    .filter((column) => !kind.free.includes(column))
    .map((column): [string, string, FileKind] => [kind.name, column, kind]),
)
/** A charge of nothing is no charge, and the other side of a credit is nothing. */
const mayBeNothing = ({ format }: FileKind, column: string): boolean =>
  column === 'debit' || (format.expand ?? []).some((each) => each.column === column || each.less === column)

test.each(cases)(
  '%s, %s: whatever it states is read, or refused by its name; never as if it were not stated',
  async (_, column, kind) => {
    const asStated = await saidBy(kind, csvOf(kind.row))
    expect(asStated).toMatch(/^\[/)
    const asEmpty = await saidBy(kind, csvOf({ ...kind.row, [column]: '' }))
    const { [column]: _cell, ...others } = kind.row
    const asAbsent = await saidBy(kind, csvOf(others))
    for (const [what, values] of Object.entries(BAD))
      for (const value of values) {
        if (mayBeNothing(kind, column) && (what === 'zero' || value === kind.row[column])) continue
        const said = await saidBy(kind, csvOf({ ...kind.row, [column]: value }))
        if (said.startsWith('problem: ') || said.startsWith('rejected: '))
          expect(said, value).toContain(column)
        else {
          expect(said, `${what}: ${value}`).not.toBe(asStated)
          expect(said, `${what}: ${value}`).not.toBe(asEmpty)
          expect(said, `${what}: ${value}`).not.toBe(asAbsent)
        }
      }
  },
)

test('a column that a line needs is missed by its name, where it is empty and where the file has none', async () => {
  for (const kind of FILE_KINDS) {
    const { columns, optional = [] } = kind.format
    for (const [field, names] of Object.entries(columns)) {
      if (optional.includes(field)) continue
      const column = [names].flat().find((name) => name in kind.row)!
      const { [column]: _cell, ...others } = kind.row
      expect(await saidBy(kind, csvOf(others)), `${kind.name} ${column}`).toMatch(
        /^rejected: The file has no column/,
      )
      const empty = await saidBy(kind, csvOf({ ...kind.row, [column]: ' ' }))
      if (kind.name === 'settlement of a transfer' && column === 'date') continue
      if (kind.name === 'response' && column === 'status') expect(empty).toContain('"word":""')
      else if (kind.format.sign !== undefined && field === 'batchUtr') expect(empty).not.toContain('batchUtr')
      else expect(empty, `${kind.name} ${column}`).toContain(`${column} must not be empty`)
    }
  }
})

const [THREE] = FILE_KINDS as readonly [FileKind]

test.each([
  ['utr', ["'432198765009", '="432198765009"', '4321-9876-5009', ' 432198765009 ', '\u200b432198765009']],
  ['amount', ['249.500', '249.5', '₹249.50', '₹ 249.50', 'INR 249.50', 'Rs. 249.50', '+249.50', '0249.50']],
  [
    'date',
    [
      '26-11-2026',
      '26/11/2026',
      '26/11/26',
      '26-Nov-2026',
      '26 November 2026',
      '20261126',
      '2026-11-26 16:23:36',
    ].concat([
      '2026-11-26T16:23:36+0530',
      '26-Nov-2026 04:23 PM',
      '1795689000',
      '1795689000000',
      '2026/11/26',
    ]),
  ],
  ['status', ['success', 'Settled', 'TXN_SUCCESS', '']],
  ['currency', ['inr', '356', '']],
])('%s in other spellings is the same', async (column, spellings) => {
  const asStated = await saidBy(THREE, csvOf(THREE.row))
  for (const spelling of spellings)
    expect(await saidBy(THREE, csvOf({ ...THREE.row, [column]: spelling })), spelling).toBe(asStated)
})

test('amounts in Indian and western groups, and in brackets or with Dr as debits, are exact', async () => {
  const amountOf = async (amount: string) =>
    /"amountPaise":"(-?\d+)n"/.exec(await saidBy(THREE, csvOf({ ...THREE.row, amount })))?.[1]
  expect(await amountOf('1,24,950.00')).toBe('12495000')
  expect(await amountOf('124,950.00')).toBe('12495000')
  for (const debit of ['(12.00)', '12.00 Dr', '-12.00', '12.00-']) expect(await amountOf(debit)).toBe('-1200')
  for (const no of ['12,34', '1,2,3', '249,50', '1.249,50', '12.345', '1e3'])
    expect(await amountOf(no)).toBeUndefined()
})

test('a dispute or refund has a reference of its network, a payment a UTR', async () => {
  const of = (kind: string, reference: string, amount: string) =>
    saidBy(FILE_KINDS[1]!, csvOf({ ...FILE_KINDS[1]!.row, kind, reference, amount }))
  expect(await of('dispute', '98765432', '-249.50')).toContain('"reference":"98765432"')
  expect(await of('refund', 'R0042', '-249.50')).toContain('"reference":"R0042"')
  expect(await of('payment', '43219876500', '249.50')).toMatch(/^rejected: A spreadsheet changed/)
  expect(await of('payment', 'TO BE UPDATED', '249.50')).toContain('reference is a placeholder')
})

test('what a line repeats of the one above is read, or refused, in each of them', async () => {
  const file = (...rows: readonly string[][]) =>
    [Object.keys(THREE.row).join(','), ...rows.map((row) => row.join(',')), ''].join('\n')
  const row = (utr: string, amount: string, day: string) => [utr, amount, day, 'SUCCESS', 'INR']
  const good = row('AXIS0000001', '1.00', '2026-11-26')
  const said = await saidBy(THREE, file(good, good, row('AXIS0000002', '2.00', '2026-11-25'), good))
  const read = JSON.parse(said) as { reference: string; amountPaise: string; settledOn: string }[]
  expect(read.map(({ reference, amountPaise, settledOn }) => [reference, amountPaise, settledOn])).toEqual([
    ['AXIS0000001', '100n', '2026-11-26'],
    ['AXIS0000001', '100n', '2026-11-26'],
    ['AXIS0000002', '200n', '2026-11-25'],
    ['AXIS0000001', '100n', '2026-11-26'],
  ])
  for (const bad of [
    row('UNKNOWN', '1.00', '2026-11-26'),
    row('AXIS0000001', '1.001', '2026-11-26'),
    row('AXIS0000001', '1.00', '2026-02-30'),
    row('AXIS0000001', '1.00', '2036-11-26'),
  ])
    expect((await saidBy(THREE, file(bad, bad, good))).match(/line \d/g)).toEqual(['line 1', 'line 2'])
})

test.each(['2016-11-26', '2036-11-27', '1970-01-01', '26-11-2062', '2026-11-29'])(
  'a day outside the last ten years and tomorrow, %s, is refused in every file alike',
  async (day) => {
    for (const kind of FILE_KINDS) {
      const field = ['date', 'effectiveDate'].find((name) => name in kind.format.columns)
      if (field === undefined) continue
      const column = [kind.format.columns[field]!].flat().find((name) => name in kind.row)!
      expect(await saidBy(kind, csvOf({ ...kind.row, [column]: day })), kind.name).toContain(
        `${column} is refused`,
      )
    }
  },
)

test('a column that a spreadsheet changed refuses the whole file and says how to export it', async () => {
  const good = Object.values(THREE.row).join(',')
  const file = (...lines: string[]) => [Object.keys(THREE.row).join(','), good, ...lines, ''].join('\n')
  for (const line of [
    '4.32199E+11,1.00,2026-11-26,SUCCESS,INR',
    '4321987650091230000,1.00,2026-11-26,SUCCESS,INR',
    '32198765009,1.00,2026-11-26,SUCCESS,INR',
    'AXIS0000001,2.495E+02,2026-11-26,SUCCESS,INR',
    'AXIS0000001,1.00,11/26/2026,SUCCESS,INR',
    'AXIS0000001,1.00,46352,SUCCESS,INR',
  ]) {
    const said = await saidBy(THREE, file(line))
    expect(said).toMatch(
      /^rejected: A spreadsheet changed the column (?:utr|amount|date) of file\.csv: line 2/,
    )
    expect(said).toContain('Export the file from the bank again')
  }
  const rounded = [1, 2, 3].map((n) => `432198765009${n}230,1.00,2026-11-26,SUCCESS,INR`)
  const [, ...below] = file(...rounded)
    .split('\n')
    .filter(Boolean)
  const only = [Object.keys(THREE.row).join(','), ...below.slice(1)].join('\n')
  expect(await saidBy(THREE, only)).toContain('more than 15 digits that all end in zero')
})
