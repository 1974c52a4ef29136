import { chargeOf } from '@svc/core/payments/payouts/payout-fees'
import { paise } from '@svc/kernel/money'
import fc from 'fast-check'
import { expect, test } from 'vitest'

const EPOCH = new Date(0)
const feeFrom = (validFrom: string, basisPoints: number, createdAt = EPOCH, chargesFrom = createdAt) => ({
  validFrom,
  basisPoints,
  fixedPaise: paise(0n),
  createdAt,
  chargesFrom,
})
const paymentOf = (amount: bigint, day: string, acceptedAt = new Date(`${day}T06:00:00Z`)) => ({
  amountPaise: paise(amount),
  acceptedAt,
  day,
})

test('fees and taxes are whole paise, never negative, and halves of the tax are equal', () => {
  const rate = fc.integer({ min: 0, max: 10_000 })
  fc.assert(
    fc.property(
      fc.bigInt(1n, 10n ** 13n),
      rate,
      rate,
      fc.boolean(),
      (amount, basisPoints, tax, isWithinState) => {
        const charge = chargeOf(paymentOf(amount, '2026-04-01'), {
          fees: [feeFrom('2026-04-01', basisPoints)],
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
  const fees = [feeFrom('2026-05-01', 200), feeFrom('2026-04-01', 100)]
  const charging = { fees, taxRates: [], isWithinState: true }
  const feeOn = (day: string) => chargeOf(paymentOf(100_00n, day), charging).feePaise
  expect(['2026-03-31', '2026-04-01', '2026-04-30', '2026-05-01'].map(feeOn)).toEqual([0n, 100n, 100n, 200n])
})

test('whatever fees are entered after a payment was accepted, and from whichever day, its charge stays', () => {
  const day = fc.integer({ min: 1, max: 28 }).map((n) => `2026-04-${String(n).padStart(2, '0')}`)
  const instant = fc.date({ min: new Date('2026-04-01'), max: new Date('2026-04-28'), noInvalidDate: true })
  const fee = fc.record({
    validFrom: day,
    basisPoints: fc.integer({ min: 0, max: 10_000 }),
    createdAt: instant,
  })
  fc.assert(
    fc.property(fc.array(fee), instant, (entered, acceptedAt) => {
      const rows = entered.map(({ validFrom, basisPoints, createdAt }) =>
        feeFrom(validFrom, basisPoints, createdAt),
      )
      const chargeBy = (fees: typeof rows) =>
        chargeOf(paymentOf(100_00n, acceptedAt.toISOString().slice(0, 10), acceptedAt), {
          fees,
          taxRates: [],
          isWithinState: true,
        })
      expect(chargeBy(rows)).toEqual(chargeBy(rows.filter(({ createdAt }) => createdAt <= acceptedAt)))
    }),
  )
})

test('of two fees for one day the one that was entered last is charged, whatever their order', () => {
  const [first, second] = [new Date('2026-04-01T01:00:00Z'), new Date('2026-04-01T02:00:00Z')]
  const fees = [feeFrom('2026-04-02', 300, second), feeFrom('2026-04-02', 8_000, first)]
  const charging = { fees, taxRates: [], isWithinState: true }
  expect(chargeOf(paymentOf(100_00n, '2026-04-02'), charging).feePaise).toBe(300n)
})
