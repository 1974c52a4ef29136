/** Where a text that JSON.parse refuses stops being JSON, in words. */
export function placeOfBreak(text: string): string {
  const at = whereBroken(text)
  return at >= text.length ? `it ends early, at position ${text.length}` : `it breaks at ${placeOf(text, at)}`
}

const placeOf = (text: string, at: number): string => {
  const lines = text.slice(0, at).split('\n')
  return `position ${at}, line ${lines.length}, column ${lines.at(-1)!.length + 1}`
}

const SPACE = /[ \t\r\n]*/y
const SCALAR =
  /"(?:[^"\\\u0000-\u001f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null/y

/** Where a text that JSON.parse refuses stops being JSON (RFC 8259); its length where something is missing at its end. */
function whereBroken(text: string): number {
  let at = 0
  const skip = (pattern: RegExp): boolean => {
    pattern.lastIndex = at
    const [found] = pattern.exec(text) ?? []
    if (found !== undefined) at += found.length
    return found !== undefined
  }
  const sign = (expected: string): boolean => {
    skip(SPACE)
    if (text[at] !== expected) return false
    at++
    return true
  }
  const members = (close: string, member: () => boolean): boolean => {
    if (sign(close)) return true
    do if (!member()) return false
    while (sign(','))
    return sign(close)
  }
  const value = (): boolean => {
    if (sign('{'))
      return members('}', () => {
        skip(SPACE)
        return text[at] === '"' && skip(SCALAR) && sign(':') && value()
      })
    if (sign('[')) return members(']', value)
    return skip(SCALAR)
  }
  if (value()) skip(SPACE)
  // A string that does not end, or breaks inside, is one up to there.
  SCALAR.lastIndex = at
  return text[at] === '"' && !SCALAR.test(text) ? inString(text, at) : at
}

/** Where a string literal that begins here breaks. */
function inString(text: string, start: number): number {
  let at = start + 1
  while (at < text.length && text[at] !== '"' && text[at]! >= ' ') at += text[at] === '\\' ? 2 : 1
  return Math.min(at, text.length)
}
