import type { Outcome } from '@svc/kernel/outcome-words'
import { isTimePattern } from '@svc/kernel/read-time'

/** Where a bank's notice has what the service needs: a path of names into it, separated by full stops. */
export interface NoticeFields {
  readonly utr: string
  readonly amount: string
  /** Of the amount, and of what the notice reports: beside the amount unless the adapter says where. */
  readonly currency?: string | undefined
  readonly status?: string | undefined
  readonly tr?: string | undefined
  readonly payerVpa?: string | undefined
  readonly payeeVpa?: string | undefined
  readonly transactionTime?: string | undefined
  /** Of transfers to card accounts. */
  readonly virtualAccount?: string | undefined
  readonly remitterName?: string | undefined
  readonly remitterAccount?: string | undefined
  readonly mode?: string | undefined
}

const DIGESTS = ['hmac-sha256', 'hmac-sha512', 'sha256', 'sha512'] as const

/** How a notice is signed: by our own scheme, or by a digest of a text that a template describes. */
export type NoticeSignature =
  | { readonly scheme: 'time-and-body'; readonly header: string }
  | {
      readonly scheme: 'template'
      /** Where the digest stands, in hex or Base64: a header, or a field of the body. */
      readonly header: string | undefined
      readonly field: string | undefined
      readonly digest: (typeof DIGESTS)[number]
      /** What is signed: text with `{body}`, `{header:name}`, `{field:path}` and, of plain digests, `{secret}`. */
      readonly over: string
      /** Behind the digest, such as `###` with the number of a key: what follows it is not compared. */
      readonly until: string | undefined
    }

/** How one bank or payment service writes and signs its notices. */
export interface RailAdapter {
  readonly fields: NoticeFields
  /** `json`, a form, or JSON in Base64 in a field of JSON. */
  readonly body: 'json' | 'form' | { readonly base64: string }
  readonly amountUnit: 'rupees' | 'paise'
  /** Of times that would be ambiguous, such as `ddMMyyyyHHmmss`. */
  readonly timePattern: string | undefined
  /** Of times without a zone, such as `+05:30`. */
  readonly utcOffset: string | undefined
  /** Which notices report a credit; of the others those with a value to ignore are kept, the rest goes to quarantine. */
  readonly only:
    | { readonly field: string; readonly equals: readonly string[]; readonly ignore: readonly string[] }
    | undefined
  /** The bank's own words of a status, besides the usual ones. */
  readonly statusWords: ReadonlyMap<string, Outcome>
  /** What an acquirer writes before our reference. */
  readonly trPrefixes: readonly string[]
  readonly signature: NoticeSignature
}

const NAMES = [
  'utr',
  'amount',
  'currency',
  'status',
  'tr',
  'payerVpa',
  'payeeVpa',
  'transactionTime',
  'virtualAccount',
  'remitterName',
  'remitterAccount',
  'mode',
] as const satisfies readonly (keyof NoticeFields)[]

/** Our own notices. */
export const OWN_ADAPTER: RailAdapter = {
  fields: Object.fromEntries(NAMES.map((name) => [name, name])) as unknown as NoticeFields,
  body: 'json',
  amountUnit: 'rupees',
  timePattern: undefined,
  utcOffset: undefined,
  only: undefined,
  statusWords: new Map(),
  trPrefixes: [],
  signature: { header: 'x-rail-signature', scheme: 'time-and-body' },
}

/** What is wrong with a table of adapters, and where: `cashfree.signature.over must contain {body} or {field:…}`. */
export class AdapterError extends Error {}

type Value = Readonly<Record<string, unknown>>
const wrong = (at: string, rule: string): never => {
  throw new AdapterError(`${at} ${rule}`)
}

/** An object whose members are all among these. */
function objectAt(value: unknown, at: string, members: readonly string[]): Value {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    return wrong(at, `must be an object with ${members.join(', ')}`)
  const unknown = Object.keys(value).find((name) => !members.includes(name))
  return unknown === undefined
    ? (value as Value)
    : wrong(`${at}.${unknown}`, `is not known; there are ${members.join(', ')}`)
}

const textAt = (value: unknown, at: string): string =>
  typeof value === 'string' && value !== '' ? value : wrong(at, 'must be a text')

const textsAt = (value: unknown, at: string): readonly string[] =>
  (Array.isArray(value) ? value : [value]).map((one, i) =>
    textAt(one, Array.isArray(value) ? `${at}[${i}]` : at),
  )

function oneOf<const T extends string>(choices: readonly T[], value: unknown, at: string): T {
  return choices.find((choice) => choice === value) ?? wrong(at, `must be one of ${choices.join(', ')}`)
}

/** Currency and status stand beside the amount, unless they are named; `null` says that a notice has none. */
function fieldsAt(value: unknown, at: string): NoticeFields {
  const stated = objectAt(value, at, NAMES)
  const paths = Object.entries(stated).flatMap(([name, path]) =>
    path === null ? [] : [[name, textAt(path, `${at}.${name}`)] as const],
  )
  const amount = textAt(stated['amount'], `${at}.amount`)
  const beside = (name: string) => `${amount.slice(0, amount.lastIndexOf('.') + 1)}${name}`
  const usual = (['currency', 'status'] as const).flatMap((name) =>
    stated[name] === undefined ? [[name, beside(name)] as const] : [],
  )
  return { utr: textAt(stated['utr'], `${at}.utr`), amount, ...Object.fromEntries([...usual, ...paths]) }
}

const SCHEMES = ['time-and-body', 'body', 'body-hex', 'body-base64'] as const
const PART = /\{(?:body|secret|(?:header|field):[^{}]+)\}/g

function signatureAt(value: unknown, at: string): NoticeSignature {
  const stated = objectAt(value, at, ['header', 'field', 'scheme', 'digest', 'over', 'until'])
  const header =
    stated['header'] === undefined ? undefined : textAt(stated['header'], `${at}.header`).toLowerCase()
  const field = stated['field'] === undefined ? undefined : textAt(stated['field'], `${at}.field`)
  if ((header === undefined) === (field === undefined))
    return wrong(at, 'must name either the header or the field that has the signature')
  if (stated['over'] === undefined) {
    const scheme = oneOf(SCHEMES, stated['scheme'], `${at}.scheme`)
    if (scheme === 'time-and-body')
      return { scheme, header: header ?? wrong(`${at}.header`, 'must be a text') }
    return { scheme: 'template', header, field, digest: 'hmac-sha256', over: '{body}', until: undefined }
  }
  const over = textAt(stated['over'], `${at}.over`)
  const digest = oneOf(DIGESTS, stated['digest'] ?? 'hmac-sha256', `${at}.digest`)
  // What covers neither the body nor a field of it signs any notice.
  if (!/\{body\}|\{field:/.test(over)) return wrong(`${at}.over`, 'must contain {body} or {field:…}')
  if (/[{}]/.test(over.replace(PART, '')))
    return wrong(`${at}.over`, 'may contain {body}, {header:name}, {field:path} and {secret}')
  if (digest.startsWith('sha') !== over.includes('{secret}'))
    return wrong(`${at}.over`, 'must contain {secret} with sha256 and sha512, and with no other digest')
  const until = stated['until'] === undefined ? undefined : textAt(stated['until'], `${at}.until`)
  return { scheme: 'template', header, field, digest, over, until }
}

const OUTCOMES = ['success', 'not_yet', 'failed', 'gone_back'] as const

function wordsAt(value: unknown, at: string): ReadonlyMap<string, Outcome> {
  const stated = objectAt(value ?? {}, at, OUTCOMES)
  return new Map(
    OUTCOMES.flatMap((outcome) =>
      stated[outcome] === undefined
        ? []
        : textsAt(stated[outcome], `${at}.${outcome}`).map((word) => [word.toUpperCase(), outcome] as const),
    ),
  )
}

function onlyAt(value: unknown, at: string): RailAdapter['only'] {
  if (value === undefined) return undefined
  const { field, equals, ignore = [] } = objectAt(value, at, ['field', 'equals', 'ignore'])
  return {
    field: textAt(field, `${at}.field`),
    equals: textsAt(equals, `${at}.equals`),
    ignore: textsAt(ignore, `${at}.ignore`),
  }
}

function timeAt(value: unknown, at: string): string | undefined {
  if (value === undefined || value === 'rfc3339' || value === 'unix') return undefined
  const pattern = textAt(value, at)
  return isTimePattern(pattern)
    ? pattern
    : wrong(at, 'must be rfc3339, unix, or a pattern of yyyy, MM or MMM, dd, HH or hh, mm, ss, SSS and a')
}

function bodyAt(value: unknown, at: string): RailAdapter['body'] {
  if (typeof value === 'object' && value !== null)
    return { base64: textAt(objectAt(value, at, ['base64'])['base64'], `${at}.base64`) }
  return value === undefined ? 'json' : oneOf(['json', 'form'], value, at)
}

const MEMBERS = [
  'fields',
  'body',
  'amountUnit',
  'time',
  'utcOffset',
  'only',
  'statusWords',
  'trPrefixes',
  'signature',
]

function adapterAt(value: unknown, at: string): RailAdapter {
  const stated = objectAt(value, at, MEMBERS)
  const utcOffset = textAt(stated['utcOffset'] ?? '+05:30', `${at}.utcOffset`)
  if (!/^[+-]\d\d:\d\d$/.test(utcOffset)) wrong(`${at}.utcOffset`, 'must be an offset such as +05:30')
  return {
    fields: fieldsAt(stated['fields'], `${at}.fields`),
    body: bodyAt(stated['body'], `${at}.body`),
    amountUnit: oneOf(['rupees', 'paise'], stated['amountUnit'] ?? 'rupees', `${at}.amountUnit`),
    timePattern: timeAt(stated['time'], `${at}.time`),
    utcOffset,
    only: onlyAt(stated['only'], `${at}.only`),
    statusWords: wordsAt(stated['statusWords'], `${at}.statusWords`),
    trPrefixes: textsAt(stated['trPrefixes'] ?? [], `${at}.trPrefixes`),
    signature: signatureAt(stated['signature'], `${at}.signature`),
  }
}

/** Reads the table of banks: a JSON object of adapters by name. Throws AdapterError, which says what is wrong and where. */
export function readRailAdapters(text: string): ReadonlyMap<string, RailAdapter> {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (error) {
    throw new AdapterError(`is not JSON: ${(error as Error).message}`)
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new AdapterError('is not an object of adapters by name')
  return new Map(
    Object.entries(value).map(([bank, entry]) => [
      /^[a-z0-9-]{1,32}$/.test(bank) ? bank : wrong(bank, 'must be a name of 1 to 32 of a-z, 0-9 and -'),
      adapterAt(entry, bank),
    ]),
  )
}
