import { expect, test } from 'vitest'
import { amountRange } from '../../../apps/console/src/amount-range.ts'

test.each([
  ['517.25', { amountFrom: '517.25', amountTo: '517.25' }],
  ['₹1,69,022.3', { amountFrom: '169022.30', amountTo: '169022.30' }],
  ['500-600', { amountFrom: '500.00', amountTo: '600.00' }],
  ['600 – 500', { amountFrom: '500.00', amountTo: '600.00' }],
  ['1,000 to ₹2,000', { amountFrom: '1000.00', amountTo: '2000.00' }],
  ['>5,000', { amountFrom: '5000.01' }],
  ['>= 5000', { amountFrom: '5000.00' }],
  ['≤100', { amountTo: '100.00' }],
  ['< 100', { amountTo: '99.99' }],
])('%s finds %j', (text, range) => {
  expect(amountRange(text)).toEqual(range)
})

test.each(['', 'five', '-5', '5-', '500-600-700', '> -1', '<0', '1e3', '10.005', '10 to ten', '$5'])(
  '%j finds no amount',
  (text) => {
    expect(amountRange(text)).toBeUndefined()
  },
)
