import type { Answer } from './exchange.ts'
import { Violation } from './verdict.ts'

export type Json = null | boolean | number | string | Json[] | { [name: string]: Json }
export type Kind = 'string' | 'integer' | 'number' | 'boolean' | 'object' | 'array'

export const fail = (answer: Answer, expected: string, received: string): never => {
  throw new Violation(expected, received, answer)
}

/** Secrets are taken out later, so a cut must not lie where a report shows it: half a secret is not recognized. */
const CHARS_MAX = 20_000
const clip = (text: string): string => text.slice(0, CHARS_MAX)

export const show = (value: unknown): string =>
  value === undefined ? 'nothing' : clip(JSON.stringify(value))

export const kindOf = (value: unknown): string => {
  if (value === undefined) return 'nothing'
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'array'
  if (typeof value === 'number') return Number.isInteger(value) ? 'integer' : 'number'
  return typeof value
}

export const isKind = (value: unknown, kind: Kind): boolean =>
  kindOf(value) === kind || (kind === 'number' && typeof value === 'number')

/** Status and, for people, what the body says. */
const showAnswer = ({ status, text }: Answer): string => `${status} ${clip(text) || '(no body)'}`

export function wantStatus(answer: Answer, ...wanted: readonly number[]): void {
  if (!wanted.includes(answer.status)) fail(answer, `status ${wanted.join(' or ')}`, showAnswer(answer))
}

const SUCCESS_CODES = ['response_code', 'code', 'resultCode']

/** Refused, however it is said: a status of the caller's mistake, and no envelope that says success. */
export function wantRefused(answer: Answer): void {
  if (answer.status < 400 || answer.status > 499)
    fail(answer, 'a refusal (status 400 to 499)', showAnswer(answer))
  const body = answer.json as Record<string, unknown> | null | undefined
  for (const name of SUCCESS_CODES)
    if (body?.[name] === 0) fail(answer, `no ${name} 0 in a refusal`, showAnswer(answer))
}

/** RFC 8259 text, said to be so. */
export function wantJson(answer: Answer): Record<string, unknown> {
  const type = answer.headers['content-type'] ?? 'no content type'
  if (!/^application\/json\s*(?:;|$)/i.test(type)) fail(answer, 'content type application/json', type)
  const { json } = answer
  if (json === undefined || json === null || typeof json !== 'object' || Array.isArray(json))
    return fail(answer, 'a JSON object', clip(answer.text) || '(no body)')
  return json as Record<string, unknown>
}

/** The value at `payload.data.0.svcCardId`; `undefined` where there is none. */
export function at(answer: Answer, path: string): unknown {
  let value: unknown = answer.json
  for (const step of path === '' ? [] : path.split('.'))
    value =
      value !== null && typeof value === 'object' && Object.hasOwn(value, step)
        ? (value as Record<string, unknown>)[step]
        : undefined
  return value
}

export function wantKind(answer: Answer, path: string, kind: Kind): unknown {
  const value = at(answer, path)
  if (!isKind(value, kind))
    fail(
      answer,
      `${path}: ${kind}`,
      value === undefined ? 'no such field' : `${kindOf(value)} ${show(value)}`,
    )
  return value
}

export function wantText(answer: Answer, path: string): string {
  const value = wantKind(answer, path, 'string') as string
  if (value === '') fail(answer, `${path}: text`, 'an empty string')
  return value
}

export function wantValue(answer: Answer, path: string, wanted: Json): void {
  const value = at(answer, path)
  if (!sameJson(value, wanted))
    fail(answer, `${path}: ${show(wanted)}`, value === undefined ? 'no such field' : show(value))
}

export function wantOneOf(answer: Answer, path: string, wanted: readonly Json[]): void {
  const value = at(answer, path)
  if (!wanted.some((one) => sameJson(value, one)))
    fail(answer, `${path}: one of ${wanted.map(show).join(', ')}`, show(value))
}

export function wantMatch(answer: Answer, path: string, pattern: RegExp, words: string): string {
  const value = wantKind(answer, path, 'string') as string
  if (!pattern.test(value)) fail(answer, `${path}: ${words}`, show(value))
  return value
}

/** Fields of the object at the path: all of `required`, and none beyond those and `optional`. */
export function wantKeys(
  answer: Answer,
  path: string,
  required: readonly string[],
  optional: readonly string[] = [],
): void {
  const value = path === '' ? answer.json : wantKind(answer, path, 'object')
  const names = Object.keys(value as object)
  const missing = required.filter((name) => !names.includes(name))
  const more = names.filter((name) => !required.includes(name) && !optional.includes(name))
  const where = path === '' ? 'the body' : path
  if (missing.length > 0)
    fail(answer, `${where}: the fields ${required.join(', ')}`, `without ${missing.join(', ')}`)
  if (more.length > 0) fail(answer, `${where}: no other field than documented`, `also ${more.join(', ')}`)
}

export function sameJson(one: unknown, other: unknown): boolean {
  if (one === other) return true
  if (one === null || other === null || typeof one !== 'object' || typeof other !== 'object') return false
  if (Array.isArray(one) !== Array.isArray(other)) return false
  const names = Object.keys(one)
  return (
    names.length === Object.keys(other).length &&
    names.every(
      (name) =>
        Object.hasOwn(other, name) &&
        sameJson((one as Record<string, unknown>)[name], (other as Record<string, unknown>)[name]),
    )
  )
}

/** `error` and `error_description` that the envelope's payload carries as text; `undefined` when it does not. */
export function errorOf(answer: Answer): { error: unknown; error_description: unknown } | undefined {
  const payload = at(answer, 'payload')
  if (typeof payload !== 'string') return undefined
  try {
    return JSON.parse(payload) as { error: unknown; error_description: unknown }
  } catch {
    return undefined
  }
}

/** A refusal of ours: this status and this word (decision F2). */
export function wantFailure(answer: Answer, status: number, word: string, naming?: string): void {
  wantStatus(answer, status)
  const error = errorOf(answer)
  if (error?.error !== word) fail(answer, `error ${word} in payload`, showAnswer(answer))
  if (naming !== undefined && !String(error?.error_description).includes(naming))
    fail(answer, `a description that names ${naming}`, show(error?.error_description))
}

/** The same answer but for what differs with every request: its id and its time. */
export function wantSameRefusal(answer: Answer, other: Answer, words: string): void {
  const strip = ({ status, text, headers }: Answer) =>
    `${status} ${headers['content-type']} ${text
      .replace(/"requestId":"[^"]*"/, '"requestId":"…"')
      .replace(/"timestamp":"[^"]*"/, '"timestamp":"…"')}`
  if (strip(answer) !== strip(other)) fail(answer, `${words}: ${clip(strip(other))}`, clip(strip(answer)))
}

/** Spec §2.2: `YYYY-MM-DD HH:MM:SS`. */
export const PLAIN_TIME =
  /^\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01]) (?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d$/
/** Spec §2.4: `Mon D, YYYY h:mm:ss AM/PM`. */
export const WORDY_TIME =
  /^(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec) (?:[1-9]|[12]\d|3[01]), \d{4} (?:[1-9]|1[0-2]):[0-5]\d:[0-5]\d (?:AM|PM)$/
/** Decision Q7: RFC 3339 with milliseconds and a zone offset. */
export const RFC3339 = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}(?:Z|[+-]\d\d:\d\d)$/
