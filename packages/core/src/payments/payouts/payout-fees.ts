import type { TaxRate } from '@svc/contract/payout-settings'
import { type Paise, paise } from '@svc/kernel/money'

/** What a merchant is charged for each payment, from a business day on. */
export interface Fee {
  readonly validFrom: string
  /** Of the amount, in 1/100 percent. */
  readonly basisPoints: number
  readonly fixedPaise: Paise
  readonly createdAt: Date
  /** Payments that were accepted before it are not charged by it. */
  readonly chargesFrom: Date | null
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

export const NOTHING: Charge = {
  feePaise: paise(0n),
  cgstPaise: paise(0n),
  sgstPaise: paise(0n),
  igstPaise: paise(0n),
}

/** A part of an amount in 1/100 percent, rounded half up to the paisa. */
export const shareOf = (amount: bigint, basisPoints: number): Paise =>
  paise((amount * BigInt(basisPoints) + 5_000n) / 10_000n)

/** The one that was entered last for the last day on or before this one. */
const latest = <T>(all: readonly T[], from: (one: T) => string, day: string): T | undefined =>
  all
    .filter((one) => from(one) <= day)
    .sort((a, b) => (from(a) < from(b) ? -1 : from(a) > from(b) ? 1 : 0))
    .at(-1)

export interface Charged {
  readonly amountPaise: Paise
  readonly acceptedAt: Date
  /** Its business day. */
  readonly day: string
}

/** GST in 1/100 percent on fees of a business day. */
export const taxRateOf = (day: string, taxRates: readonly TaxRate[]): number =>
  latest(taxRates, ({ from }) => from, day)?.basisPoints ?? 0

/**
 * Fee and tax of one payment, each rounded to the paisa (decision R11): by the fee of its business day that was in force
 * when it was accepted (decision Q15).
 */
export function chargeOf(
  { amountPaise, acceptedAt, day }: Charged,
  { fees, taxRates, isWithinState }: Charging,
): Charge {
  const known = fees
    .filter(({ chargesFrom }) => chargesFrom === null || chargesFrom <= acceptedAt)
    .sort((a, b) => a.createdAt.getTime() - b.createdAt.getTime())
  const fee = latest(known, ({ validFrom }) => validFrom, day)
  if (!fee) return NOTHING
  const feePaise = paise(shareOf(amountPaise, fee.basisPoints) + fee.fixedPaise)
  const rate = taxRateOf(day, taxRates)
  if (!isWithinState) return { ...NOTHING, feePaise, igstPaise: shareOf(feePaise, rate) }
  // Half of a percentage may have a half basis point: so the amount is halved, not the rate.
  const half = paise((feePaise * BigInt(rate) + 10_000n) / 20_000n)
  return { ...NOTHING, feePaise, cgstPaise: half, sgstPaise: half }
}
