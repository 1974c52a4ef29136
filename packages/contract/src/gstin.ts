const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ'
const SHAPE = /^[0-9]{2}[A-Z]{5}[0-9]{4}[A-Z][1-9A-Z]Z[0-9A-Z]$/

/** The last character of a GSTIN, of the fourteen before it: weights 1 and 2 in turn, in base 36. */
export function gstinCheckDigit(first: string): string {
  const sum = [...first].reduce((total, character, i) => {
    const product = ALPHABET.indexOf(character) * (i % 2 === 0 ? 1 : 2)
    return total + Math.floor(product / 36) + (product % 36)
  }, 0)
  return ALPHABET[(36 - (sum % 36)) % 36]!
}

/** A GST identification number: state, PAN, number of the registration, `Z`, check digit. */
export const isGstin = (text: string): boolean =>
  SHAPE.test(text) && gstinCheckDigit(text.slice(0, 14)) === text.at(-1)
