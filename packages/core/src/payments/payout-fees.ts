import type { TaxRate } from '@svc/contract/payout-settings'
import { type Paise, paise } from '@svc/kernel/money'

/** What a merchant is charged for each payment, from a business day on. */
export interface Fee {
  readonly validFrom: string
  /** Of the amount, in 1/100 percent. */
  readonly basisPoints: number
  readonly fixedPaise: Paise
}

/** GST on a fee: half and half within one state, else integrated. */
export interface Tax {
  readonly cgstPaise: Paise
  readonly sgstPaise: Paise
  readonly igstPaise: Paise
}

export interface Charge extends Tax {
  readonly feePaise: Paise
}

export interface Charging {
  /** In any order; before the first of them nothing is charged. */
  readonly fees: readonly Fee[]
  readonly taxRates: readonly TaxRate[]
  /** Whether merchant and platform are in one state; so they are where the merchant's is not known. */
  readonly isWithinState: boolean
}

const NOTHING: Charge = {
  feePaise: paise(0n),
  cgstPaise: paise(0n),
  sgstPaise: paise(0n),
  igstPaise: paise(0n),
}

/** A part of an amount in 1/100 percent, rounded half up to the paisa. */
export const shareOf = (amount: bigint, basisPoints: number): Paise =>
  paise((amount * BigInt(basisPoints) + 5_000n) / 10_000n)

const latest = <T>(all: readonly T[], from: (one: T) => string, day: string): T | undefined =>
  all
    .filter((one) => from(one) <= day)
    .sort((a, b) => (from(a) < from(b) ? -1 : 1))
    .at(-1)

/** Fee and tax of one payment by what is in force on its business day, each rounded to the paisa (decision R11). */
export function chargeOf(
  amountPaise: Paise,
  day: string,
  { fees, taxRates, isWithinState }: Charging,
): Charge {
  const fee = latest(fees, ({ validFrom }) => validFrom, day)
  if (!fee) return NOTHING
  const feePaise = paise(shareOf(amountPaise, fee.basisPoints) + fee.fixedPaise)
  const rate = latest(taxRates, ({ from }) => from, day)?.basisPoints ?? 0
  if (!isWithinState) return { ...NOTHING, feePaise, igstPaise: shareOf(feePaise, rate) }
  // Half of a percentage may have a half basis point: so the amount is halved, not the rate.
  const half = paise((feePaise * BigInt(rate) + 10_000n) / 20_000n)
  return { ...NOTHING, feePaise, cgstPaise: half, sgstPaise: half }
}
