import fc from 'fast-check'
import { expect, test } from 'vitest'
import { formatRupees, toPaise, toRupees } from '../../../packages/sdk/src/money.ts'

test('paise convert to rupees and back without a difference, as far as a JSON number is exact', () => {
  const paise = fc.bigInt({ min: -999_999_999_999_999n, max: 999_999_999_999_999n })
  fc.assert(
    fc.property(paise, (amount) => {
      expect(toPaise(JSON.parse(JSON.stringify(toRupees(amount))) as number)).toBe(amount)
    }),
    { numRuns: 2_000 },
  )
})

test('amounts are read exactly or rejected', () => {
  expect([toPaise(249.5), toPaise('249.50'), toPaise('0.01'), toPaise(-3), toPaise(1e15)]).toEqual([
    24_950n,
    24_950n,
    1n,
    -300n,
    100_000_000_000_000_000n,
  ])
  for (const wrong of [0.001, '1.234', '', 'ten', '1,000', 1e21, 1e-7, Number.NaN, Infinity, 0.1 + 0.2, ' 1'])
    expect(() => toPaise(wrong), String(wrong)).toThrow(RangeError)
  expect(() => toRupees(10n ** 17n)).toThrow(RangeError)
})

test('rupees are formatted in lakhs and crores', () => {
  expect(formatRupees(1_234_567_890n)).toBe('₹1,23,45,678.90')
  expect(formatRupees(-5n)).toBe('-₹0.05')
})
