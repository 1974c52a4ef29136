export const FEE_BASIS_POINTS = 180
export const FEE_FIXED_PAISE = 200
const GST_BASIS_POINTS = 1_800

const feePaise = (amountPaise: number): number =>
  Math.floor((amountPaise * FEE_BASIS_POINTS + 5_000) / 10_000) + FEE_FIXED_PAISE

/** What a merchant is charged for a payment: fee and both halves of GST, each rounded half up to the paisa. */
export function chargePaise(amountPaise: number): number {
  const fee = feePaise(amountPaise)
  return fee + 2 * Math.floor((fee * GST_BASIS_POINTS + 10_000) / 20_000)
}

export const sum = (numbers: readonly number[]): number => numbers.reduce((total, each) => total + each, 0)
