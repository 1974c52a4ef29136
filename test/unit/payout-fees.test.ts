import { chargeOf } from '@svc/core/payments/payout-fees'
import { paise } from '@svc/kernel/money'
import fc from 'fast-check'
import { expect, test } from 'vitest'

test('fees and taxes are whole paise, never negative, and halves of the tax are equal', () => {
  const rate = fc.integer({ min: 0, max: 10_000 })
  fc.assert(
    fc.property(
      fc.bigInt(1n, 10n ** 13n),
      rate,
      rate,
      fc.boolean(),
      (amount, basisPoints, tax, isWithinState) => {
        const charge = chargeOf(paise(amount), '2026-04-01', {
          fees: [{ validFrom: '2026-04-01', basisPoints, fixedPaise: paise(0n) }],
          taxRates: [{ from: '2017-07-01', basisPoints: tax }],
          isWithinState,
        })
        const exact = amount * BigInt(basisPoints)
        expect(charge.feePaise * 10_000n - exact).toBeLessThanOrEqual(5_000n)
        expect(exact - charge.feePaise * 10_000n).toBeLessThan(5_000n)
        expect(charge.cgstPaise).toBe(charge.sgstPaise)
        expect(isWithinState ? charge.igstPaise : charge.cgstPaise).toBe(0n)
      },
    ),
  )
  const fees = [
    { validFrom: '2026-05-01', basisPoints: 200, fixedPaise: paise(0n) },
    { validFrom: '2026-04-01', basisPoints: 100, fixedPaise: paise(0n) },
  ]
  const charging = { fees, taxRates: [], isWithinState: true }
  const feeOn = (day: string) => chargeOf(paise(100_00n), day, charging).feePaise
  expect(['2026-03-31', '2026-04-01', '2026-04-30', '2026-05-01'].map(feeOn)).toEqual([0n, 100n, 100n, 200n])
})
