import { damaged, type Reading, readText, type Unreadable, unreadable, valueIn, visible } from './reading.ts'

/** An amount of money in 1/100 rupee. Never a floating-point number; `number` exists only on the wire. */
export type Paise = bigint & { readonly unit: 'paise' }

export const paise = (value: bigint): Paise => value as Paise

/** How amounts are written where they are read. */
export interface AmountForm {
  /** Of the number; rupees by default. */
  readonly unit?: 'rupees' | 'paise'
  /** Whether it may be below zero: `-12.00`, `12.00-`, `(12.00)`, `12.00 Dr`. */
  readonly signed?: boolean
}

const DIGITS_MAX = 15
const PLAIN = /^(\d+|\d{1,3}(?:,\d{3})+|\d{1,2}(?:,\d{2})*,\d{3}|(?=\.\d))(?:\.(\d+))?$/
const MARK = '(?:₹|inr|rs\\.?)'
const RUPEE_MARK = new RegExp(`^([-+(]?)\\s*${MARK}\\s*|\\s*${MARK}(\\)?(?:\\s*[cd]r\\.?)?)$`, 'giu')
const OTHER_CURRENCY = /\p{Sc}|[a-z]{3}/iu

/**
 * Reads an amount (decision Q11): a JSON number or a text such as `249.50`, `249.500`, `1,24,950.00`, `124,950.00` or
 * `₹ 249.50`. Exact or unreadable: no exponent, no part of a paisa, commas only between whole groups before the point.
 * Zero is an amount: callers that need more say so.
 */
export function readAmount(
  value: unknown,
  { unit = 'rupees', signed = false }: AmountForm = {},
): Reading<Paise> {
  if (typeof value !== 'number' && typeof value !== 'string') {
    const text = readText(value)
    return 'unreadable' in text
      ? unreadable(text.unreadable.replace('a text', 'an amount'))
      : unreadable(NOT_AN_AMOUNT)
  }
  // A double's shortest text is what the sender wrote, for any number of up to 15 significant digits.
  const stated = typeof value === 'number' ? String(value) : (valueIn(readText(value)) ?? '')
  const { text, isNegative } = unsigned(stated.replace(RUPEE_MARK, '$1$2'))
  const [, whole, part = ''] = PLAIN.exec(text) ?? []
  if (whole === undefined) return whyNotPlain(text)
  if (isNegative && !signed) return unreadable('is below zero')
  const filled = whole.replaceAll(',', '')
  if (unit === 'rupees' && part === '' && /^0\d/.test(filled))
    return unreadable('is filled with zeros, as amounts in paise are')
  const digits = filled.replace(/^0+(?=\d)/, '') || '0'
  const decimals = unit === 'rupees' ? 2 : 0
  if (digits.length > DIGITS_MAX) return unreadable(`has more than ${DIGITS_MAX} digits`)
  // `249.500` is exact; `249.505` is not.
  if (/[1-9]/.test(part.slice(decimals)))
    return unreadable(unit === 'rupees' ? 'has more than two decimals' : 'has decimals, and is in paise')
  const amount = BigInt(digits + part.slice(0, decimals).padEnd(decimals, '0'))
  return { value: paise(isNegative ? -amount : amount) }
}

const NOT_AN_AMOUNT = 'is not an amount'

/** The sign in front, behind, by brackets or by `Dr`, taken off. */
function unsigned(stated: string): { readonly text: string; readonly isNegative: boolean } {
  const bracketed = /^\((.*)\)$/.exec(stated)
  const inner = bracketed ? bracketed[1]! : stated
  const lead = /^[-+\u2212]/u.exec(inner)?.[0]
  const rest = inner.slice(lead?.length ?? 0)
  const trail = /(?:-|dr\.?|cr\.?)$/iu.exec(rest)?.[0]
  const amount = visible(rest.slice(0, rest.length - (trail?.length ?? 0)))
  const signs = [bracketed && '-', lead, trail].flatMap((sign) => sign || [])
  // Two signs say two things.
  if (signs.length > 1) return { text: stated, isNegative: false }
  return { text: amount, isNegative: signs.some((sign) => /^[-\u2212d]/iu.test(sign)) }
}

function whyNotPlain(text: string): Unreadable {
  if (/^\d*(?:\.\d+)?e[+-]?\d+$/i.test(text))
    return damaged('is in the notation of a float, which loses digits')
  if (/^[\d.,]+$/.test(text) && text.includes(','))
    return unreadable('has commas that are not between groups of thousands, as in 1,24,950.00 or 124,950.00')
  return unreadable(OTHER_CURRENCY.test(text) && /\d/.test(text) ? 'is not in rupees' : NOT_AN_AMOUNT)
}

/** Paise to the wire's JSON number of rupees; exact to the paisa up to 2^53 paise. */
export const paiseToWire = (amount: bigint): number => Number(amount) / 100

/** Paise as rupees with two decimals, `"249.50"`: the `am` of a UPI string, and what people read. */
export function formatRupees(amount: bigint): string {
  const magnitude = amount < 0n ? -amount : amount
  return `${amount < 0n ? '-' : ''}${magnitude / 100n}.${String(magnitude % 100n).padStart(2, '0')}`
}

const RUPEES = new Set(['INR', '356', '0356', '₹', 'RS', 'RS.', 'RUPEE', 'RUPEES'])

/** A column or field whose value is the currency of the amounts beside it. */
export const CURRENCY_NAME =
  /^(?:(?:txn|transaction|payment|settlement|settled|amount|order|billing|iso)[\s_-]*)?(?:currency(?:[\s_-]*(?:code|iso))?|ccy|curr?)$/i

/** The currency of an amount: rupees, by ISO 4217's letters or digits. */
export function readCurrency(value: unknown): Reading<'INR'> {
  const text = readText(value)
  if ('unreadable' in text) return text
  return RUPEES.has(text.value.toUpperCase()) ? { value: 'INR' } : unreadable('is not INR')
}
