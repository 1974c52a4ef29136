import { formatRupees, paise, paiseToWire, readAmount } from '@svc/kernel/money'
import { valueIn } from '@svc/kernel/reading'
import fc from 'fast-check'
import { expect, test } from 'vitest'

/** Beyond it the wire's 15 significant digits end. */
const PAISE_MAX = 999_999_999_999_999n

test('a million random amounts are exact when parsed from JSON and when printed', () => {
  let differences = 0
  let seed = 20_260_401
  for (let i = 0; i < 1_000_000; i++) {
    // A generator of its own (Park and Miller): the same million amounts on every run.
    seed = (seed * 48_271) % 2_147_483_647
    const magnitude = 10n ** BigInt(1 + (i % 15))
    const amount = paise(
      (BigInt(seed) * 1_000_003n * BigInt(i + 1)) % (magnitude < PAISE_MAX ? magnitude : PAISE_MAX),
    )
    const wire = JSON.parse(JSON.stringify(paiseToWire(amount))) as number
    if (valueIn(readAmount(wire)) !== amount || valueIn(readAmount(formatRupees(amount))) !== amount)
      differences++
  }
  expect(differences).toBe(0)
})

test('rupees are read exactly as written', () => {
  const whole = fc.bigInt({ min: 0n, max: 999_999_999_999_999n })
  const part = fc.integer({ min: 0, max: 99 })
  fc.assert(
    fc.property(whole, part, (rupees, hundredths) => {
      const text = `${rupees}.${String(hundredths).padStart(2, '0')}`
      expect(valueIn(readAmount(text))).toBe(rupees * 100n + BigInt(hundredths))
    }),
  )
})

test.each([
  '',
  '.',
  '1.',
  '-1',
  '1e3',
  '1.001',
  '1,00',
  '1,2345',
  '12,49,50',
  '0x10',
  'NaN',
  'Infinity',
  '1234567890123456',
  '٣',
  '1 249',
])('rupees that are not exact are unreadable: %j', (text) =>
  expect(valueIn(readAmount(text))).toBeUndefined(),
)

test.each([-0.01, 0.001, 1e-7, 1e21, 0.1 + 0.2, Number.NaN, Number.POSITIVE_INFINITY])(
  'a JSON number that is not exact is rejected: %j',
  (rupees) => expect(valueIn(readAmount(rupees))).toBeUndefined(),
)

test('a negative balance prints its sign once', () => {
  expect(formatRupees(-5n)).toBe('-0.05')
  expect(formatRupees(-12_345n)).toBe('-123.45')
})
