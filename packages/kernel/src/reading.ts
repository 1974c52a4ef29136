/**
 * What a reader makes of a stated value: the value in our terms, or why it cannot be read, as a predicate that follows the
 * name of the field or the quoted text: `has more than two decimals`. A reader never reports a stated value as absent.
 */
export type Reading<T> = { readonly value: T } | Unreadable

export interface Unreadable {
  readonly unreadable: string
  /** A spreadsheet or a float changed it: what else came that way may be wrong without looking so. */
  readonly isDamage?: true
}

export const unreadable = (reason: string): Unreadable => ({ unreadable: reason })
export const damaged = (reason: string): Unreadable => ({ unreadable: reason, isDamage: true })

/** The value of a reading; `undefined` where it cannot be read, for callers that state their own rule. */
export const valueIn = <T>(reading: Reading<T>): T | undefined =>
  'value' in reading ? reading.value : undefined

/** Absent, `null` and text without a visible character are one thing: nothing was stated (decision Q11). */
export const isStated = (value: unknown): boolean =>
  value !== undefined && value !== null && !(typeof value === 'string' && visible(value) === '')

/** Text as people see it: without white space, byte order marks and zero-width characters at its ends. */
export const visible = (text: string): string =>
  isPlain(text.charCodeAt(0)) && isPlain(text.charCodeAt(text.length - 1))
    ? text
    : withoutEnds(text, (char) => BLANK.test(char))

const BLANK = /[\s\u200b-\u200f\u2060\ufeff\0]/
/** Most texts begin and end with a character of ASCII that is seen. */
const isPlain = (code: number): boolean => code > 0x20 && code < 0x7f

/** A text without the characters at its ends that a test names: in linear time, which `\s+$` is not. */
export function withoutEnds(
  text: string,
  leading: (char: string) => boolean,
  trailing: (char: string) => boolean = leading,
): string {
  let start = 0
  let end = text.length
  while (start < end && leading(text[start]!)) start++
  while (end > start && trailing(text[end - 1]!)) end--
  return text.slice(start, end)
}

/**
 * The text of a stated value, its digits where it is a whole number that a double holds exactly. Objects, lists, truth values
 * and other numbers are no text.
 */
export function readText(value: unknown): Reading<string> {
  if (typeof value === 'string') return { value: visible(value) }
  if (typeof value === 'number')
    return Number.isSafeInteger(value)
      ? { value: String(value) }
      : unreadable('is a number that lost digits: state it as text')
  return unreadable(`is ${kindOf(value)}, not a text`)
}

function kindOf(value: unknown): string {
  if (Array.isArray(value)) return 'a list'
  return typeof value === 'boolean' ? 'a truth value' : value === null ? 'null' : 'an object'
}

const YES = new Set(['true', 'yes', 'y', '1'])
const NO = new Set(['false', 'no', 'n', '0'])

/** A truth value, as JSON has it or as banks spell it: `true`, `"Y"`, `1`. */
export function readFlag(value: unknown): Reading<boolean> {
  if (typeof value === 'boolean') return { value }
  const text = valueIn(readText(value))?.toLowerCase() ?? ''
  if (YES.has(text)) return { value: true }
  return NO.has(text) ? { value: false } : unreadable('must be true or false')
}
