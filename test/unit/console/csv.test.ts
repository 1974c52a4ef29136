import { columnsOf, csvText } from '@svc/console-api/csv'
import { expect, test } from 'vitest'

test.each([
  ['plain', 'plain'],
  ['2026-11-21T10:30:00.000+05:30', '2026-11-21T10:30:00.000+05:30'],
  ['-12.50', '-12.50'],
  ['a,b', '"a,b"'],
  ['a;b', '"a;b"'],
  ['say "so"', '"say ""so"""'],
  ['two\nlines', '"two\nlines"'],
  ['=1+1', `"'=1+1"`],
  ['+919876543210', '+919876543210'],
  ['+91 98765', `"'+91 98765"`],
  ['-1+cmd', `"'-1+cmd"`],
  ['@sum(1)', `"'@sum(1)"`],
  ['\t=1', `"'\t=1"`],
  ['\r=1', `"'\r=1"`],
  ['\n=1', `"'\n=1"`],
  ['＝1', `"'＝1"`],
  ['', ''],
])('%j is written as the field %s, which no spreadsheet runs', (text, field) => {
  expect(csvText(text)).toBe(field)
})

test('columns are the fields of an item; one that occurs twice has the name of its object', () => {
  const text = { type: 'string' }
  const item = {
    type: 'object',
    properties: {
      payment: { type: 'object', properties: { id: text, amount: { type: 'number' }, qrCodeBase64: text } },
      merchant: { type: 'object', properties: { id: text, tags: { type: 'array', items: text } } },
      note: text,
    },
  }
  expect(columnsOf(item).map(({ name }) => name)).toEqual([
    'payment.id',
    'amount',
    'merchant.id',
    'tags',
    'note',
  ])
})
