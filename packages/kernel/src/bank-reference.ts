import { damaged, type Reading, readText, unreadable, withoutEnds } from './reading.ts'

/** Banks write one reference in several ways: letters in either case, with dashes, spaces or slashes (decision Q11). */
export const canonicalReference = (text: string): string => text.replace(/[^A-Za-z0-9]/g, '').toUpperCase()

/** What systems write where they have no reference: ISO 20022's `NOTPROVIDED`, SWIFT's `NONREF`, a program's `undefined`. */
const PLACEHOLDERS = new Set(
  `undefined null none nil nan na true false void empty blank missing unknown notknown nonref noref noreference noutr norrn
   notprovided notapplicable notavailable unavailable notgiven notspecified unspecified notset tobedefined tobeprovided
   tba tbd dummy default placeholder sample example invalid error failed pending ref name value num div0
   reference referenceno referencenumber refno utr rrn utrno utrnumber rrnno rrnnumber objectobject string`
    .toUpperCase()
    .split(/\s+/),
)

/** Of a retrieval reference number (ISO 8583 field 37), which is what UPI and IMPS call a UTR. */
const RRN_DIGITS = 12
/** What a spreadsheet keeps of a number. */
const SPREADSHEET_DIGITS = 15

export interface ReferenceForm {
  /** Least and most letters and digits: 6 and 35. */
  readonly min?: number
  readonly max?: number
  /**
   * `rrn`: of a UTR, which has digits, and where it has nothing else at least twelve; `any`: as many as the issuer gives,
   * such as of a case.
   */
  readonly digits?: 'rrn' | 'any'
}

/**
 * Reads a bank's reference into its canonical form: capital letters and digits. Unreadable (decision Q11): placeholders, words,
 * one character repeated, masked references, and what a spreadsheet or a float made of one: `4.32199E+11`, `432198765009.0`, a
 * number without its leading zeros or with its last digits rounded. Text quoted against spreadsheets, `'4321…` and
 * `="4321…"`, is read.
 */
export function readReference(value: unknown, form: ReferenceForm = {}): Reading<string> {
  const { min = 6, max = 35, digits = 'rrn' } = form
  const stated = readText(value)
  if ('unreadable' in stated) return stated
  const text = stated.value.normalize('NFKC').replace(/\p{Cf}/gu, '')
  const damage = numberDamage(text)
  if (damage !== undefined) return damaged(damage)
  if (/[^\x20-\x7e\s]/.test(text)) return unreadable('has characters that no reference has')
  if (/\*|x{4}/i.test(text)) return unreadable('is masked')
  const reference = canonicalReference(text)
  if (PLACEHOLDERS.has(reference) || /^(.)\1*$/.test(reference))
    return unreadable('is a placeholder, not a reference')
  if (reference.length < min || reference.length > max)
    return unreadable(`must be a reference of ${min} to ${max} letters and digits`)
  if (digits === 'rrn' && !/\d/.test(reference))
    return unreadable('is a placeholder: no UTR is without digits')
  if (/^\d+$/.test(reference) && digits === 'rrn' && reference.length < RRN_DIGITS)
    return damaged(`has ${reference.length} digits: leading zeros of its ${RRN_DIGITS} are lost`)
  return { value: reference }
}

/** Reads the reference of a code or the number of an account, which is looked up: any letters and digits, in canonical form. */
export function readCode(value: unknown): Reading<string> {
  const stated = readText(value)
  if ('unreadable' in stated) return stated
  const text = stated.value.normalize('NFKC').replace(/\p{Cf}/gu, '')
  return /[^\x20-\x7e\s]/.test(text)
    ? unreadable('has characters that no code has')
    : { value: canonicalReference(text) }
}

/** The damage that a float or a spreadsheet did to a number; `undefined` where there is none. */
function numberDamage(text: string): string | undefined {
  const bare = withoutEnds(
    text,
    (char) => `='"`.includes(char),
    (char) => `'"`.includes(char),
  )
  if (/^\d(?:[.,]\d+)?e\+?\d{1,3}$/i.test(bare) && /[.,+]/.test(bare))
    return 'is in the notation of a float, which lost its last digits'
  if (/^\d+[.,]0*$/.test(bare)) return 'has the decimals of a float'
  return isRounded(bare) ? 'was rounded to 15 digits' : undefined
}

/** Whether all digits behind those that a spreadsheet keeps are zeros. One zero alone may be chance. */
const isRounded = (text: string): boolean =>
  /^\d+$/.test(text) && text.length > SPREADSHEET_DIGITS + 1 && /^0+$/.test(text.slice(SPREADSHEET_DIGITS))
