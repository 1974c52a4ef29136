import { columnsOf } from '@svc/server/http/csv-columns'
import { expect, test } from 'vitest'

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
