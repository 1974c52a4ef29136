/** Digits of a card number, in one piece or in the groups that people write; ids and UUIDs are no such thing. */
const NUMBERS =
  /(?<![A-Za-z0-9-])(?:\d{13,19}|\d{4}([ -])\d{4}\1\d{4}\1\d{1,7}|\d{4}[ -]\d{6}[ -]\d{5})(?![A-Za-z0-9-])/g
/** Compact JWS and JWE: three or five parts. */
const TOKENS = /(?<![\w-])eyJ[\w-]*(?:\.[\w-]*){2,4}/g
/** What would move the cursor of a terminal; line ends and tabs stay. */
const CONTROL = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g
/** Letters that repeat; so many of one letter are a filler, too long to be read. */
const RUNS = /(\w| )\1+/g
const FILLER_CHARS_MIN = 200
const API_KEYS = /\bsvc_(?:test|live)_\w+/g

/** A shorter text stands in too many others, so replacing it would garble the report and hide nothing. */
const SECRET_CHARS_MIN = 8
/** So long a secret is replaced wherever it stands, because an escape such as `\n` may precede it; others as a whole word. */
const LONG_CHARS_MIN = 16

const escaped = (text: string): string => text.replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&')
const patternOf = (secret: string): string =>
  secret.length >= LONG_CHARS_MIN ? escaped(secret) : `(?<![A-Za-z0-9])${escaped(secret)}(?![A-Za-z0-9])`

/** What secrets are called where people read along. Shell variables, so that a printed command runs once they are set. */
export class Redactor {
  readonly #names = new Map<string, string>()
  #secrets: RegExp | undefined

  /** From now on `secret` is shown as `$name`, unless it is shorter than eight characters. */
  hide(secret: string, name: string): void {
    // As it is, and as a form has it.
    for (const text of [secret, new URLSearchParams({ secret }).toString().slice('secret='.length)])
      if (text.length >= SECRET_CHARS_MIN && !this.#names.has(text)) this.#names.set(text, `$${name}`)
    // In one pass, so that no name is taken for a secret; the longest first, because a cookie may contain a token.
    const longest = [...this.#names.keys()].sort((a, b) => b.length - a.length)
    this.#secrets = longest.length > 0 ? new RegExp(longest.map(patternOf).join('|'), 'g') : undefined
  }

  /** The text without secrets, tokens and card numbers. */
  redact(text: string): string {
    const clean = text.replace(CONTROL, '\ufffd')
    const named = this.#secrets ? clean.replace(this.#secrets, (secret) => this.#names.get(secret)!) : clean
    return named
      .replace(TOKENS, '[token]')
      .replace(API_KEYS, '[api key]')
      .replace(NUMBERS, (digits) => (looksLikeCardNumber(digits) ? '[card number]' : digits))
  }

  /** A word of a shell: literal, but for the names of secrets, and for long fillers, which the shell makes. */
  quote(text: string): string {
    const known = new Set(this.#names.values())
    const parts = this.redact(text).split(/(\$[A-Z][A-Z_]*)/)
    return (
      parts.map((part, i) => (i % 2 === 1 && known.has(part) ? `"${part}"` : quoteLiteral(part))).join('') ||
      "''"
    )
  }
}

function quoteLiteral(text: string): string {
  let quoted = ''
  let end = 0
  const literal = (before: string) => (before === '' ? '' : `'${before.replaceAll("'", `'\\''`)}'`)
  for (const { 0: filler, 1: letter, index } of text.matchAll(RUNS)) {
    if (filler.length < FILLER_CHARS_MIN) continue
    quoted += `${literal(text.slice(end, index))}"$(printf '${letter}%.0s' {1..${filler.length}})"`
    end = index + filler.length
  }
  return quoted + literal(text.slice(end))
}

/** Luhn's check over 13 to 19 digits (ISO/IEC 7812); an instant in milliseconds is no card number. */
export function looksLikeCardNumber(text: string): boolean {
  const digits = text.replace(/[ -]/g, '')
  if (!/^\d{13,19}$/.test(digits) || /^1[5-9]\d{11}$/.test(digits)) return false
  let sum = 0
  for (const [i, digit] of [...digits].reverse().entries()) {
    const value = Number(digit) * (i % 2 === 0 ? 1 : 2)
    sum += value > 9 ? value - 9 : value
  }
  return sum % 10 === 0
}

/** Card numbers in a text, wherever they stand. */
export const cardNumbersIn = (text: string): readonly string[] =>
  (text.match(NUMBERS) ?? []).filter(looksLikeCardNumber)
