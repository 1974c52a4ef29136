/** An amount of money in 1/100 rupee. Never a floating-point number; `number` exists only on the wire. */
export type Paise = bigint & { readonly unit: 'paise' }

export const paise = (value: bigint): Paise => value as Paise

const RUPEES = /^(\d{1,15})(?:\.(\d{1,2}))?$/

/**
 * Reads rupees written as a decimal: `"249.5"` gives 24950 paise.
 * Gives `undefined` for a sign, an exponent, more than two decimals or anything else that is not exact.
 */
export function parseRupees(text: string): Paise | undefined {
  const match = RUPEES.exec(text)
  if (!match) return undefined
  const [, whole, part = ''] = match
  return paise(BigInt(whole + part.padEnd(2, '0')))
}

/**
 * The wire's JSON number to paise. A double's shortest text is what the caller wrote, for any number of up to
 * 15 significant digits; the body's reader refuses longer ones before they get here.
 */
export const paiseFromWire = (rupees: number): Paise | undefined => parseRupees(String(rupees))

/** Paise to the wire's JSON number of rupees; exact to the paisa up to 2^53 paise. */
export const paiseToWire = (amount: bigint): number => Number(amount) / 100

/** Paise as rupees with two decimals, `"249.50"`: the `am` of a UPI string, and what people read. */
export function formatRupees(amount: bigint): string {
  const magnitude = amount < 0n ? -amount : amount
  return `${amount < 0n ? '-' : ''}${magnitude / 100n}.${String(magnitude % 100n).padStart(2, '0')}`
}
