/**
 * The text inside a UPI QR code: `upi://pay?pa=…&pn=…`.
 *
 * Source of the rules: NPCI, "UPI Linking Specifications" 1.6, and what was seen in real codes.
 * Pure: no clock, no I/O. Every pattern has one anchored pass, so its cost is linear in its input.
 */

/** What {@link upiUri} writes. `amountPaise` in paise (1/100 rupee), absent when the payer chooses. */
export interface UpiParts {
  /** The merchant's virtual payment address, `name@handle`. */
  readonly vpa: string
  /** The merchant's name, 1 to 100 characters, as the payer sees it. */
  readonly name: string
  /** Merchant category code, ISO 18245, four digits, not 6540. */
  readonly mcc: string
  /** Our reference by which a credit finds its code, 1 to 35 of `A-Z a-z 0-9`. */
  readonly tr: string
  /** Shown to the payer as far as apps show it: {@link shownNote}. */
  readonly note?: string | undefined
  readonly amountPaise?: bigint | undefined
  /** The least that may be paid of an `amountPaise` that is not fixed; one paisa without it. */
  readonly minimumPaise?: bigint | undefined
  /** Whether `amountPaise` binds the payer. */
  readonly fixedAmount?: boolean | undefined
  readonly multipleUse: boolean
}

/** The decoded parameters of a scanned string. `am` stays text: rupees, as written. */
export interface UpiFields {
  readonly pa: string
  readonly pn: string
  readonly am?: string
  readonly cu?: string
  readonly mam?: string
  readonly mc?: string
  readonly mode?: string
  readonly tn?: string
  readonly tr?: string
  readonly [parameter: string]: string | undefined
}

export const VPA_CHARS_MAX = 255
/** Lengths of names and notes count Unicode code points, as JSON Schema's `maxLength` does. */
export const NAME_CHARS_MAX = 100
/** Apps cut what is longer. */
export const NOTE_CHARS_MAX = 50
/** Stored-value load: a code of this category must not fund a prepaid card (decision Q10). */
export const STORED_VALUE_LOAD_MCC = '6540'

/** Sources of regular expressions for JSON schemas; all are to be compiled with the `u` flag. */
export const VPA_PATTERN = '^[A-Za-z0-9._-]{2,252}@[A-Za-z][A-Za-z0-9.-]{1,63}$'
export const MCC_PATTERN = '^[0-9]{4}$'
export const TRANSACTION_REF_PATTERN = '^[A-Za-z0-9]{1,35}$'
/** Characters that reorder what the payer reads (UAX 9: embeddings, overrides, isolates). */
const REORDERING = '\\u202A-\\u202E\\u2066-\\u2069'
/**
 * Text for the payer: something to see, no control characters and no lone surrogates. The first of these break scanners, the
 * second have no UTF-8.
 */
const shownText = (charsMax: number) =>
  `^(?=[\\s\\S]*[^\\s\\p{Z}\\p{Cf}])[^\\p{Cc}\\p{Cs}${REORDERING}]{1,${charsMax}}$`
export const NOTE_PATTERN = shownText(NOTE_CHARS_MAX)
export const PAYEE_NAME_PATTERN = shownText(NAME_CHARS_MAX)
export const PAYEE_NAME_RULE =
  'must have 1 to 100 characters, not only spaces, and none that reorder what payers read'
/** Rupees with two decimals; no sign, exponent or leading zero. */
export const AMOUNT_PATTERN = '^(?:0|[1-9][0-9]{0,12})\\.[0-9]{2}$'
/** Codes of one payment and a set amount are dynamic, all others static: a dynamic mode needs `am` (section 1.2). */
export const STATIC_MODE = '01'
export const DYNAMIC_MODE = '15'
/** The least that a payer can pay. An amount without `mam` is locked by apps (section 1.2). */
const LEAST_PAISE = 1n

const matches = (source: string) => {
  const pattern = new RegExp(source, 'u')
  return (text: string): boolean => pattern.test(text)
}
const hasVpaForm = matches(VPA_PATTERN)

/** `name@handle`, at most 255 characters. */
export const isVpa = (text: string): boolean => text.length <= VPA_CHARS_MAX && hasVpaForm(text)
/** Four digits; says nothing about whether the category is allowed. */
export const isMcc = matches(MCC_PATTERN)
export const isTransactionRef = matches(TRANSACTION_REF_PATTERN)
export const isNote = matches(NOTE_PATTERN)
export const isPayeeName = matches(PAYEE_NAME_PATTERN)
/** The form of `am`; `0.00` has the form and is not payable. */
export const isAmountForm = matches(AMOUNT_PATTERN)

/** Digits only: a version 40-L code holds no more (ISO/IEC 18004, table 7). */
export const TEXT_CHARS_MAX = 7089

/** Paise as `am` wants them: `14950n` is `149.50`. */
export const amountText = (paise: bigint): string =>
  `${paise / 100n}.${(paise % 100n).toString().padStart(2, '0')}`

const reordering = new RegExp(`[${REORDERING}]`, 'gu')
const graphemes = new Intl.Segmenter('en')

/** Whether a text reorders what the payer reads. */
export const reorders = (text: string): boolean => text.search(reordering) >= 0
/** A text without the characters that reorder it. */
const inReadingOrder = (text: string): string => text.replace(reordering, '')

/** What of a text becomes the note: what apps show, in whole characters. Nothing where there is nothing to see. */
export function shownNote(text: string): string | undefined {
  let note = inReadingOrder(text)
  if ([...note].length > NOTE_CHARS_MAX) {
    let chars = 0
    let end = 0
    for (const { segment, index } of graphemes.segment(note)) {
      chars += [...segment].length
      if (chars > NOTE_CHARS_MAX) break
      end = index + segment.length
    }
    note = note.slice(0, end).trimEnd()
  }
  return isNote(note) ? note : undefined
}

/** `@` stays as it is because at least one bank's app misreads `%40` (field notes). */
const encode = (text: string): string =>
  encodeURIComponent(text)
    .replace(/[!'()*]/g, (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`)
    .replaceAll('%40', '@')

/**
 * The payment string of a code (decision Q12).
 * @throws Error when a part breaks a rule: parts were validated before, so that is our own mistake.
 */
export function upiUri(parts: UpiParts): string {
  const {
    vpa,
    mcc,
    tr,
    note,
    amountPaise,
    minimumPaise = LEAST_PAISE,
    fixedAmount = false,
    multipleUse,
  } = parts
  const name = inReadingOrder(parts.name)
  const am = amountPaise === undefined ? undefined : amountText(amountPaise)
  const refuse = (what: string): never => {
    throw new Error(`upiUri: ${what} breaks its rule`)
  }
  if (!isVpa(vpa)) refuse('vpa')
  if (!isPayeeName(name)) refuse('name')
  if (!isMcc(mcc) || mcc === STORED_VALUE_LOAD_MCC) refuse('mcc')
  if (!isTransactionRef(tr)) refuse('tr')
  if (am !== undefined && (!isAmountForm(am) || am === '0.00')) refuse('amountPaise')

  const mode = multipleUse || am === undefined ? STATIC_MODE : DYNAMIC_MODE
  const mam = am === undefined || fixedAmount ? undefined : amountText(minimumPaise)
  const tn = note === undefined ? undefined : shownNote(note)
  const query = { pa: vpa, pn: name, mc: mcc, tr, tn, am, mam, cu: 'INR', mode }
  return `upi://pay?${Object.entries(query)
    .flatMap(([key, value]) => (value === undefined ? [] : [`${key}=${encode(value)}`]))
    .join('&')}`
}

/** A `upi://pay` string taken apart, well-formed or not. */
export interface Scanned {
  readonly text: string
  /** As written, still percent-encoded. */
  readonly pairs: readonly (readonly [name: string, raw: string])[]
  /** Decoded where that is possible; the first of duplicates. */
  readonly value: (name: string) => string | undefined
}

export const UPI_PAY = /^upi:\/\/pay\?/i

/** Percent-decoded, or `undefined` when the encoding is broken. */
export const decode = (raw: string): string | undefined => {
  try {
    return decodeURIComponent(raw)
  } catch {
    return undefined
  }
}

/** Takes a string apart without judging it. */
export function scan(text: string): Scanned {
  const query = text.slice(text.indexOf('?') + 1)
  const pairs = query.split('&').flatMap((pair) => {
    const at = pair.indexOf('=')
    if (pair === '') return []
    return [at < 0 ? ([pair, ''] as const) : ([pair.slice(0, at), pair.slice(at + 1)] as const)]
  })
  const value = (name: string) => {
    const raw = pairs.find(([key]) => key === name)?.[1]
    return raw === undefined ? undefined : (decode(raw) ?? raw)
  }
  return { text, pairs, value }
}

export const hasDuplicates = ({ pairs }: Scanned): boolean =>
  new Set(pairs.map(([name]) => name)).size < pairs.length

/**
 * The parameters of a scanned string, or `undefined` when no app could read it: another scheme, broken
 * percent-encoding, `pa` or `pn` missing, or a parameter twice, since apps differ in which one they take.
 * Reading is not approving: `checkUpiUri` judges.
 */
export function parseUpiUri(text: string): UpiFields | undefined {
  if (text.length > TEXT_CHARS_MAX || !UPI_PAY.test(text)) return undefined
  const scanned = scan(text)
  if (hasDuplicates(scanned) || scanned.pairs.some(([, raw]) => decode(raw) === undefined)) return undefined
  const pa = scanned.value('pa')
  const pn = scanned.value('pn')
  if (!pa || !pn) return undefined
  return { ...Object.fromEntries(scanned.pairs.map(([name, raw]) => [name, decode(raw)])), pa, pn }
}
