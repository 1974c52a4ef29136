import type { HttpResponse } from './exchange.ts'
import { type About, Violation } from './verdict.ts'

export type Json = null | boolean | number | string | Json[] | { [name: string]: Json }
export type Kind = 'string' | 'integer' | 'number' | 'boolean' | 'object' | 'array'

/** Expectations of a field begin with its path: `payload.status: "CANCELLED"`. */
const FIELD = /^((?:payload|errorResponse|response_\w+|code|message|token|expiry|result\w+)(?:\.\w+)*)(?::|$)/

function aboutOf(expected: string): About {
  const path = FIELD.exec(expected)?.[1]
  return path === undefined ? { is: 'other' } : { is: 'fields', paths: [path], problem: 'value' }
}

export const fail = (
  response: HttpResponse,
  expected: string,
  received: string,
  about = aboutOf(expected),
): never => {
  throw new Violation(expected, received, response, about)
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
const showResponse = ({ status, text }: HttpResponse): string => `${status} ${clip(text) || '(no body)'}`

export function wantStatus(response: HttpResponse, ...wanted: readonly number[]): void {
  if (!wanted.includes(response.status))
    fail(response, `status ${wanted.join(' or ')}`, showResponse(response), { is: 'status', wanted })
}

const SUCCESS_CODES = ['response_code', 'code', 'resultCode']

/** Whether it was done: §7 rule 3 shows no statuses of refusals, so a 200 with a code other than 0 is one, too. */
export function isDone({ status, json }: HttpResponse): boolean {
  if (status < 200 || status > 299) return false
  const body = json as Record<string, unknown> | null | undefined
  const codes = SUCCESS_CODES.map((name) => body?.[name]).filter((code) => code !== undefined)
  // Of a token it may be 200 (`SUCCESS_RESULT_CODE`).
  return codes.length === 0 || codes.includes(0) || body?.['resultCode'] === 200
}

/** Not done, however that is said. */
export function wantNotDone(response: HttpResponse): void {
  if (isDone(response)) fail(response, 'no success', showResponse(response), { is: 'accepted' })
}

/** Refused with a status of the caller's mistake, and no envelope that says success. */
export function wantRefused(response: HttpResponse): void {
  if (response.status < 400 || response.status > 499)
    fail(response, 'a refusal (status 400 to 499)', showResponse(response), { is: 'accepted' })
  const body = response.json as Record<string, unknown> | null | undefined
  for (const name of SUCCESS_CODES)
    if (body?.[name] === 0)
      fail(response, `no ${name} 0 in a refusal`, showResponse(response), { is: 'accepted' })
}

/** RFC 8259 text, said to be so. */
export function wantJson(response: HttpResponse): Record<string, unknown> {
  const type = response.headers['content-type'] ?? 'no content type'
  if (!/^application\/json\s*(?:;|$)/i.test(type))
    fail(response, 'content type application/json', type, { is: 'format' })
  const { json } = response
  if (json === undefined || json === null || typeof json !== 'object' || Array.isArray(json))
    return fail(response, 'a JSON object', clip(response.text) || '(no body)', { is: 'format' })
  return json as Record<string, unknown>
}

/** The value at `payload.data.0.svcCardId`; `undefined` where there is none. */
export function at(response: HttpResponse, path: string): unknown {
  let value: unknown = response.json
  for (const step of path === '' ? [] : path.split('.'))
    value =
      value !== null && typeof value === 'object' && Object.hasOwn(value, step)
        ? (value as Record<string, unknown>)[step]
        : undefined
  return value
}

/** What is wrong with the field at the path that has this value. */
export const problemOf = (path: string, value: unknown): About => ({
  is: 'fields',
  paths: [path],
  problem: value === undefined ? 'missing' : 'value',
})

export function wantKind(response: HttpResponse, path: string, kind: Kind): unknown {
  const value = at(response, path)
  if (!isKind(value, kind))
    fail(
      response,
      `${path}: ${kind}`,
      value === undefined ? 'no such field' : `${kindOf(value)} ${show(value)}`,
      problemOf(path, value),
    )
  return value
}

export function wantText(response: HttpResponse, path: string): string {
  const value = wantKind(response, path, 'string') as string
  if (value === '') fail(response, `${path}: text`, 'an empty string')
  return value
}

/** A field that is missing has no value, also where nothing is wanted because another response lacks the field. */
export function wantValue(response: HttpResponse, path: string, wanted: Json): void {
  const value = at(response, path)
  if (value === undefined || !sameJson(value, wanted))
    fail(
      response,
      `${path}: ${show(wanted)}`,
      value === undefined ? 'no such field' : show(value),
      problemOf(path, value),
    )
}

export function wantOneOf(response: HttpResponse, path: string, wanted: readonly Json[]): void {
  const value = at(response, path)
  if (!wanted.some((one) => sameJson(value, one)))
    fail(response, `${path}: one of ${wanted.map(show).join(', ')}`, show(value), problemOf(path, value))
}

export function wantMatch(response: HttpResponse, path: string, pattern: RegExp, words: string): string {
  const value = wantKind(response, path, 'string') as string
  if (!pattern.test(value)) fail(response, `${path}: ${words}`, show(value))
  return value
}

function keysAt(response: HttpResponse, path: string): readonly string[] {
  if (path !== '') return Object.keys(wantKind(response, path, 'object') as object)
  if (!isKind(response.json, 'object'))
    fail(response, 'a JSON object', clip(response.text) || '(no body)', { is: 'format' })
  return Object.keys(response.json as object)
}
const whereIs = (path: string): string => (path === '' ? 'the body' : path)
const within = (path: string, names: readonly string[]): string[] =>
  names.map((name) => (path === '' ? name : `${path}.${name}`))

/** The object at the path has all of these fields. */
export function wantKeys(response: HttpResponse, path: string, required: readonly string[]): void {
  const names = keysAt(response, path)
  const missing = required.filter((name) => !names.includes(name))
  if (missing.length > 0)
    fail(response, `${whereIs(path)}: the fields ${required.join(', ')}`, `without ${missing.join(', ')}`, {
      is: 'fields',
      paths: within(path, missing),
      problem: 'missing',
    })
}

/** The object at the path has no field but these; never a claim of the specification (decision R6). */
export function wantNoOtherKeys(response: HttpResponse, path: string, known: readonly string[]): void {
  const more = keysAt(response, path).filter((name) => !known.includes(name))
  if (more.length > 0)
    fail(response, `${whereIs(path)}: no other field than documented`, `also ${more.join(', ')}`, {
      is: 'fields',
      paths: within(path, more),
      problem: 'extra',
    })
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
export function errorOf(response: HttpResponse): { error: unknown; error_description: unknown } | undefined {
  const payload = at(response, 'payload')
  if (typeof payload !== 'string') return undefined
  try {
    return JSON.parse(payload) as { error: unknown; error_description: unknown }
  } catch {
    return undefined
  }
}

/** A specified failure: this status and this error code (decision F2). */
export function wantFailure(
  response: HttpResponse,
  status: number,
  errorCode: string,
  naming?: string,
): void {
  wantStatus(response, status)
  const error = errorOf(response)
  if (error?.error !== errorCode) fail(response, `error ${errorCode} in payload`, showResponse(response))
  if (naming !== undefined && !String(error?.error_description).includes(naming))
    fail(response, `a description that names ${naming}`, show(error?.error_description))
}

/** A refusal, and the same one but for what differs with every request: its id and its time. */
export function wantSameRefusal(response: HttpResponse, other: HttpResponse, words: string): void {
  wantRefused(response)
  const strip = ({ status, text, headers }: HttpResponse) =>
    `${status} ${headers['content-type']} ${text
      .replace(/"requestId":"[^"]*"/, '"requestId":"…"')
      .replace(/"timestamp":"[^"]*"/, '"timestamp":"…"')}`
  if (strip(response) !== strip(other))
    fail(response, `${words}: ${clip(strip(other))}`, clip(strip(response)))
}

/** Spec §2.2: `YYYY-MM-DD HH:MM:SS`. */
export const PLAIN_TIME =
  /^\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01]) (?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d$/
/** Spec §2.4: `Mon D, YYYY h:mm:ss AM/PM`. */
export const TEXT_TIME =
  /^(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec) (?:[1-9]|[12]\d|3[01]), \d{4} (?:[1-9]|1[0-2]):[0-5]\d:[0-5]\d (?:AM|PM)$/
/** Decision Q7: RFC 3339 with milliseconds and a zone offset. */
export const RFC3339 = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}(?:Z|[+-]\d\d:\d\d)$/
