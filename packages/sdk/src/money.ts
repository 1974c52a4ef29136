/**
 * Amounts travel as rupees: JSON numbers with at most two decimals, such as `249.5`, or texts of whole rupees, such as
 * `'500'`. A number like 249.5 arrives exactly, but arithmetic on such numbers is not exact (`0.1 + 0.2`). So count in
 * paise, as `bigint`, and turn into rupees at the edge.
 */

/** Every decimal text of 15 digits survives a JSON number (IEEE 754 double); one more need not. */
const PAISE_MAX = 999_999_999_999_999n
const RUPEES = /^(-?)(\d+)(?:\.(\d{1,2}))?$/

/**
 * Rupees to paise, exactly: `toPaise(249.5)` and `toPaise('249.50')` are `24950n`.
 *
 * @throws RangeError when there are more than two decimals, or it is no plain amount.
 */
export function toPaise(rupees: number | string): bigint {
  const [, sign, whole, decimals = ''] = RUPEES.exec(String(rupees)) ?? []
  if (whole === undefined)
    throw new RangeError(`${rupees} is not an amount in rupees with at most two decimals`)
  const paise = BigInt(whole + decimals.padEnd(2, '0'))
  return sign ? -paise : paise
}

/**
 * Paise to the number of rupees that the wire takes: `toRupees(24950n)` is `249.5`.
 *
 * @throws RangeError beyond what a JSON number holds exactly, 10 trillion rupees.
 */
export function toRupees(paise: bigint): number {
  if (paise > PAISE_MAX || paise < -PAISE_MAX) throw new RangeError(`${paise} paise do not fit a JSON number`)
  return Number(toText(paise))
}

/** Paise as people read them: `formatRupees(12345678n)` is `₹1,23,456.78`. */
export function formatRupees(paise: bigint): string {
  return new Intl.NumberFormat('en-IN', { style: 'currency', currency: 'INR' }).format(
    toText(paise) as Intl.StringNumericLiteral,
  )
}

function toText(paise: bigint): string {
  const size = paise < 0n ? -paise : paise
  return `${paise < 0n ? '-' : ''}${size / 100n}.${String(size % 100n).padStart(2, '0')}`
}
