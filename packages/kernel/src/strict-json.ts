import { isUtf8 } from 'node:buffer'
import { placeOfBreak } from './json-break.ts'

const DEPTH_MAX = 20
/** Fields and elements together: no operation has a tenth of them, and each costs time before anybody is authenticated. */
const VALUES_MAX = 500
const DIGITS_MAX = 15
const CONTROL = /[\u0000-\u001f\u007f-\u009f]/
const LONE_SURROGATE = /\p{Surrogate}/u
const NUMBER = /-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/y

/** A text that is not JSON as this service reads it; the message names the position, never the content. */
export class JsonRejected extends Error {
  override name = 'JsonRejected'
}

const BYTE_ORDER_MARK = Buffer.from('\uFEFF')

/** What follows a byte order mark, which writers on Windows put before a text (decision C14). */
export const withoutByteOrderMark = (bytes: Buffer): Buffer =>
  bytes.subarray(0, BYTE_ORDER_MARK.length).equals(BYTE_ORDER_MARK)
    ? bytes.subarray(BYTE_ORDER_MARK.length)
    : bytes

const reject = (description: string): never => {
  throw new JsonRejected(description)
}

/**
 * JSON.parse, less what it lets through and money calls must not: duplicate keys, control characters, lone
 * surrogates, invalid UTF-8, numbers that a double cannot hold exactly, nesting deeper than 20, more than 500 fields and
 * elements (decision C14). Throws `JsonRejected`.
 */
export function parseStrictJson(body: Buffer): unknown {
  if (!isUtf8(body)) return reject('The body is not valid UTF-8')
  const text = body.toString('utf8')
  const problem = findProblem(text)
  if (problem?.fatal) return reject(problem.description)
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    // A control character that is not escaped is what makes it so, and its position is what helps.
    return reject(
      problem?.isControl ? problem.description : `The body is not well-formed JSON: ${placeOfBreak(text)}`,
    )
  }
  return problem ? reject(problem.description) : value
}

const TOKEN = /"(?:[^"\\]|\\.)*"?|[{}[\]:,]/gs

/** Deeper than any message of a bank or network, and shallow enough for whatever walks one. */
const MESSAGE_DEPTH_MAX = 64

/**
 * Whether readers differ on a JSON text or cannot walk it: an object has the same key twice (RFC 8259 section 4: they differ
 * on which value counts), or it is nested deeper than 64 levels.
 */
export function isTreacherous(json: string): boolean {
  const scopes: (Set<unknown> | undefined)[] = []
  let string: string | undefined
  for (const [token] of json.matchAll(TOKEN)) {
    if (token === '{') scopes.push(new Set())
    else if (token === '[') scopes.push(undefined)
    else if (token === '}' || token === ']') scopes.pop()
    else if (token === ':' && string !== undefined) {
      const keys = scopes.at(-1)
      const key = decode(string) ?? string
      if (keys?.has(key)) return true
      keys?.add(key)
    }
    if (scopes.length > MESSAGE_DEPTH_MAX) return true
    string = token.startsWith('"') ? token : undefined
  }
  return false
}

interface Problem {
  readonly description: string
  /** True when the text must not even be parsed. */
  readonly fatal: boolean
  readonly isControl?: boolean
}

/** Walks the tokens; on text that is not JSON it may find anything, since the parser refuses that text anyway. */
function findProblem(text: string): Problem | undefined {
  const scopes: (Set<string> | undefined)[] = []
  let values = 0
  let problem: Problem | undefined
  const note = (description: string, isControl = false) =>
    (problem ??= { description, fatal: false, isControl })
  for (let at = 0; at < text.length; ) {
    const char = text[at]!
    if (char === '"') {
      const end = endOfString(text, at)
      const string = decode(text.slice(at, end))
      if (string !== undefined && CONTROL.test(string))
        note(`A string at position ${at} holds a control character`, true)
      if (string !== undefined && LONE_SURROGATE.test(string))
        note(`A string at position ${at} holds half of a surrogate pair`)
      at = skipSpace(text, end)
      const keys = scopes.at(-1)
      if (text[at] === ':' && keys && string !== undefined) {
        if (string === '__proto__') note(`The key at position ${at} is not allowed`)
        if (keys.has(string)) note(`An object has the same key twice, at position ${at}`)
        keys.add(string)
      }
    } else if (char === '{' || char === '[') {
      scopes.push(char === '{' ? new Set() : undefined)
      if (scopes.length > DEPTH_MAX)
        return { description: `The body is nested deeper than ${DEPTH_MAX} levels`, fatal: true }
      at++
    } else if (char === '}' || char === ']') {
      scopes.pop()
      at++
    } else if (char === ',') {
      if (++values >= VALUES_MAX)
        return { description: `The body has more than ${VALUES_MAX} fields and elements`, fatal: true }
      at++
    } else if (char === '-' || (char >= '0' && char <= '9')) {
      NUMBER.lastIndex = at
      const number = NUMBER.exec(text)?.[0] ?? char
      if (!isExact(number))
        note(`The number at position ${at} has more than ${DIGITS_MAX} significant digits or is out of range`)
      at += number.length
    } else at++
  }
  return problem
}

function endOfString(text: string, start: number): number {
  for (let at = start + 1; at < text.length; at++) {
    if (text[at] === '\\') at++
    else if (text[at] === '"') return at + 1
  }
  return text.length
}

function decode(literal: string): string | undefined {
  if (!literal.includes('\\')) return literal.slice(1, -1)
  try {
    return JSON.parse(literal) as string
  } catch {
    return undefined
  }
}

function skipSpace(text: string, from: number): number {
  let at = from
  while (at < text.length && ' \t\r\n'.includes(text[at]!)) at++
  return at
}

function isExact(number: string): boolean {
  const mantissa = number.split(/[eE]/, 1)[0]!.replace(/[-.]/g, '').replace(/^0+/, '')
  const value = Number(number)
  // 1e-400 is not zero, though a double makes it so.
  return mantissa.length <= DIGITS_MAX && Number.isFinite(value) && (value !== 0 || mantissa === '')
}
