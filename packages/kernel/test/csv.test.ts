import { csvLine, csvText } from '@svc/kernel/csv'
import { expect, test } from 'vitest'

test.each([
  ['plain', 'plain'],
  ['2026-11-21T10:30:00.000+05:30', '2026-11-21T10:30:00.000+05:30'],
  ['-12.50', '-12.50'],
  ['a,b', '"a,b"'],
  ['a;b', '"a;b"'],
  ['say "so"', '"say ""so"""'],
  ['two\nlines', '"two lines"'],
  ['two\r\nlines\r', '"two lines "'],
  ['two\u2028lines', '"two lines"'],
  ['a\u0000b', '"a b"'],
  ['=1+1', `"'=1+1"`],
  ['+919876543210', '+919876543210'],
  ['+91 98765', `"'+91 98765"`],
  ['-1+cmd', `"'-1+cmd"`],
  ['@sum(1)', `"'@sum(1)"`],
  [' =1', `"' =1"`],
  ['\t=1', `"' =1"`],
  ['\r=1', `"' =1"`],
  ['\n=1', `"' =1"`],
  ['＝1', `"'＝1"`],
  ['', ''],
])('%j is written as the field %s, on one line, and no spreadsheet runs it', (text, field) => {
  expect(csvLine([text])).toBe(`${field}\r\n`)
})

test('a row has values of every kind, and nothing for what is absent', () => {
  const at = new Date('2026-11-27T10:00:00.000Z')
  expect(csvLine(['a', 1, 2n, true, at, null, undefined])).toBe('a,1,2,true,2026-11-27T10:00:00.000Z,,\r\n')
})

test('a text that needs no change has none', () => {
  for (const text of ['AXISR0000000042', 'payer@bank', '1250.50', 'A & B']) expect(csvText(text)).toBe(text)
})
