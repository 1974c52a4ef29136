import { OWN_ADAPTER, type RailAdapter } from '@svc/contract/rail-adapters'
import { CURRENCY_NAME, readCurrency } from '@svc/kernel/money'
import { contradicts, RESPONSE_CODE_NAME, type StatedMove } from '@svc/kernel/outcome-beside'
import { isStatusName, STATUS_OF, type StatusOf } from '@svc/kernel/outcome-words'
import { isStated, type Reading, readText } from '@svc/kernel/reading'
import { isTreacherous } from '@svc/kernel/strict-json'
import type { QuarantineReason, UnreadableNotice } from './quarantine-reason.ts'

export type NoticeObject = Readonly<Record<string, unknown>>

/** Texts of people and their accounts: why one cannot be read is kept, what it states is not (decision O7). */
const PERSONAL = new Set(['payerVpa', 'remitterName', 'remitterAccount'])
const SHOWN_MAX = 120
const TEXT_MAX = 255

/** What a reason quotes of a stated value. */
const quoted = (value: unknown): string => {
  const text = JSON.stringify(value) ?? ''
  return text.length > SHOWN_MAX ? `${text.slice(0, SHOWN_MAX)}…` : text
}

/**
 * Reads what a notice states, field by field, and remembers the first one that cannot be read: what is stated is read or kept
 * for people, never treated as absent (decision Q11).
 */
export class StatedFields {
  readonly #notice: NoticeObject
  readonly #beside: NoticeObject
  #problem: UnreadableNotice | undefined

  /** `beside`: what it states in other fields than those that are read by their names. */
  constructor(notice: NoticeObject, beside: NoticeObject = {}) {
    this.#notice = notice
    this.#beside = beside
  }

  get problem(): UnreadableNotice | undefined {
    return this.#problem
  }

  /** What a path leads to, as it is stated; `undefined` where nothing is. */
  at(path: string | undefined): unknown {
    const value = path === undefined ? undefined : valueAt(this.#notice, path)
    return isStated(value) ? value : undefined
  }

  /** The value of a field; `undefined` where it is not stated, or cannot be read, which is a problem for this reason. */
  read<T>(
    path: string | undefined,
    reason: QuarantineReason,
    reader: (value: unknown) => Reading<T>,
    name = path,
  ): T | undefined {
    const value = this.at(path)
    if (value === undefined) return undefined
    const reading = reader(value)
    if ('value' in reading) return reading.value
    const said = PERSONAL.has(name ?? '') ? '' : `${quoted(value)} `
    this.refuse(reason, path, said + reading.unreadable)
    return undefined
  }

  /** The same of a field without which there is no notice of its kind. */
  require<T>(path: string, reason: QuarantineReason, reader: (value: unknown) => Reading<T>): T | undefined {
    if (this.at(path) === undefined) this.refuse(reason, path, 'is not stated')
    return this.read(path, reason, reader)
  }

  /** A text, as PostgreSQL holds it. */
  text(path: string | undefined, name = path): string | undefined {
    return this.read(path, 'field_unreadable', readNoticeText, name)
  }

  /** What stands beside the status counts too: `success: false`, `responseCode: "U30"`, `event: "payment.failed"`. */
  refuseContradicted(reason: QuarantineReason, move: StatedMove): void {
    this.refuseBeside(reason, (name, value) => contradicts(name, value, move))
    this.refuseBeside('not_in_rupees', otherCurrency)
  }

  /** Refuses it for the first field beside those that are read of which `why` says a reason. */
  refuseBeside(reason: QuarantineReason, why: Contradicts): void {
    const contradiction = contradictionIn(this.#beside, why)
    if (contradiction) this.refuse(reason, ...contradiction)
  }

  refuse(reason: QuarantineReason, field: string | undefined, detail: string): void {
    this.#problem ??= { unreadable: reason, field, detail: storable(detail) }
  }
}

/** Around what some banks say of the money: `data`, `response`. */
const AROUND = /^(?:data|response|result|payload|body|details?|transaction|txn|payment|transfer|refund)$/i

/** Why a field contradicts what is stated elsewhere; `undefined`: it does not. */
export type Contradicts = (name: string, value: unknown) => string | undefined

/** A currency of the amounts beside it that is not the rupee. */
const otherCurrency: Contradicts = (name, value) => {
  const currency = CURRENCY_NAME.test(name) && isStated(value) && readCurrency(value)
  return currency && 'unreadable' in currency ? `${quoted(value)} ${currency.unreadable}` : undefined
}

/** The first field that contradicts what is stated of the money, and why, also in what stands around several. */
export function contradictionIn(
  fields: NoticeObject,
  contradicted: Contradicts,
  path = '',
): readonly [field: string, why: string] | undefined {
  for (const [name, value] of Object.entries(fields)) {
    const why = contradicted(name, value)
    if (why !== undefined) return [`${path}${name}`, why]
    const within =
      isObject(value) && AROUND.test(name) && contradictionIn(value, contradicted, `${path}${name}.`)
    if (within) return within
  }
  return undefined
}

/** PostgreSQL's text has no NUL and no half of a surrogate pair. */
const storable = (text: string): string => text.replaceAll('\0', '').replace(/\p{Surrogate}/gu, '�')

function readNoticeText(value: unknown): Reading<string> {
  const text = readText(value)
  return 'value' in text ? { value: storable(text.value).slice(0, TEXT_MAX) } : text
}

/** As `readNoticeText`, for messages that state their own rule. */
export function textOf(value: unknown): string | undefined {
  if (typeof value === 'number' && Number.isSafeInteger(value)) return String(value)
  return typeof value === 'string' ? storable(value) : undefined
}

/** Numbers whose shortest text is not what was sent: `4.32199E+11`, `432198765009.0`, more digits than a double holds. */
const MAY_LOSE_DIGITS = /\d[eE][-+]?\d|\d{6}\.|\d{16}/
const STRING_OR_NUMBER = /"(?:[^"\\]|\\(?:[^]|$))*(?:"|$)|-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?/g

/** Such numbers as texts of what was sent, so that readers see what a float or a spreadsheet did to them. */
const keepingDigits = (json: string): string =>
  MAY_LOSE_DIGITS.test(json)
    ? json.replace(STRING_OR_NUMBER, (token) =>
        token.startsWith('"') || String(Number(token)) === token ? token : `"${token}"`,
      )
    : json

/**
 * The object of a signed message, whatever its form otherwise: after a byte order mark, with bytes that are no UTF-8, with
 * numbers that a double cannot hold. One with a duplicate key is rejected: which of two amounts is meant is decided by hand;
 * and so is one that is nested deeper than any bank's.
 */
export function parseObject(body: Uint8Array): NoticeObject | undefined {
  try {
    const text = new TextDecoder().decode(body)
    const value: unknown = JSON.parse(keepingDigits(text))
    return isObject(value) && !isTreacherous(text) ? value : undefined
  } catch {
    return undefined
  }
}

/** The object of a notice in the form in which its bank writes it (decision Q11). */
export function noticeObject(body: Uint8Array, form: RailAdapter['body'] = 'json'): NoticeObject | undefined {
  if (form === 'json') return parseObject(body)
  if (form === 'form') return formObject(body)
  const outer = parseObject(body)
  const inner = outer && valueAt(outer, form.base64)
  return typeof inner === 'string' ? parseObject(Buffer.from(inner, 'base64')) : undefined
}

/** A form, each field once. */
function formObject(body: Uint8Array): NoticeObject | undefined {
  const fields = [...new URLSearchParams(new TextDecoder().decode(body))]
  const notice = Object.fromEntries(fields)
  return fields.length > 0 && Object.keys(notice).length === fields.length ? notice : undefined
}

/** What stands around a notice, which signatures are made over: a form, or JSON. */
export const signedFields = (body: Uint8Array, form: RailAdapter['body']): NoticeObject =>
  (form === 'form' ? formObject(body) : parseObject(body)) ?? {}

/** The text of a signed field, as it was sent; empty where it is absent. */
export function signedText(notice: NoticeObject, path: string): string {
  const value = valueAt(notice, path)
  return typeof value === 'string' ? value : typeof value === 'number' ? String(value) : ''
}

export const isObject = (value: unknown): value is NoticeObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const OWN_NAMES = [
  ...Object.values(OWN_ADAPTER.fields),
  'refundId',
  'caseReference',
  'reason',
  'respondBy',
  'batchUtr',
  'valueDate',
  'netAmount',
  'lines',
  'kind',
  'reference',
  'date',
  'note',
]
const canonicalName = (name: string): string => name.replace(/[-_\s]/g, '').toLowerCase()

/** The names of the fields of a message, in any spelling. */
export class FieldNames {
  readonly #of: StatusOf
  readonly #names: ReadonlySet<string>
  readonly #byCanonicalName: ReadonlyMap<string, string>

  constructor(names: Iterable<string>, of: StatusOf) {
    this.#of = of
    this.#names = new Set(names)
    this.#byCanonicalName = new Map([...this.#names].map((name) => [canonicalName(name), name]))
  }

  /**
   * The field that a name means: without case, `-` and `_`, and `txnStatus`, `state`, `respCode` or `currencyCode` as banks
   * write them. In a file `state` may be that of an address.
   */
  #meant(key: string): string | undefined {
    if (this.#names.has(key)) return key
    if (isStatusName(key, this.#of) || /^state$/i.test(key)) return 'status'
    if (this.#names.has('responseCode') && RESPONSE_CODE_NAME.test(key)) return 'responseCode'
    return CURRENCY_NAME.test(key) ? 'currency' : this.#byCanonicalName.get(canonicalName(key))
  }

  /** The message by these names, which of them it states twice, in two spellings and with two values, and its other fields. */
  read(message: NoticeObject): {
    readonly named: NoticeObject
    readonly twice: readonly string[]
    readonly beside: NoticeObject
  } {
    const named: Record<string, unknown> = { ...message }
    const beside: Record<string, unknown> = {}
    const twice: string[] = []
    for (const [key, value] of Object.entries(message)) {
      const name = this.#meant(key)
      if (name === undefined) beside[key] = value
      if (name === undefined || name === key || !isStated(value)) continue
      if (!isStated(named[name])) named[name] = value
      else if (JSON.stringify(named[name]) !== JSON.stringify(value)) twice.push(name)
    }
    return { named, twice, beside }
  }
}

const OWN_FIELDS = new Map(STATUS_OF.map((of) => [of, new FieldNames(OWN_NAMES, of)]))

/**
 * A notice in our own form, whose names are compared without case, `-` and `_`: a bank that writes `Status` states a status.
 * A field that is stated in two spellings, and not alike, is a problem (decision Q11).
 */
export function ownFields(notice: NoticeObject, of: StatusOf): StatedFields {
  const { named, twice, beside } = OWN_FIELDS.get(of)!.read(notice)
  const fields = new StatedFields(named, beside)
  for (const name of twice) fields.refuse('field_unreadable', name, 'is stated twice, with two values')
  return fields
}

/** A notice in the form of its bank, whose paths are exact; what stands beside its amount counts too. */
export function fieldsOfAdapter(notice: NoticeObject, { fields, only }: RailAdapter): StatedFields {
  const around = fields.amount.slice(0, fields.amount.lastIndexOf('.') + 1)
  const read = new Set([...Object.values(fields), only?.field])
  const object = around === '' ? notice : valueAt(notice, around.slice(0, -1))
  const beside = Object.entries(isObject(object) ? object : {}).filter(([name]) => !read.has(around + name))
  return new StatedFields(notice, Object.fromEntries(beside))
}

/** What a path of names leads to; a name may itself have full stops. */
function valueAt(notice: NoticeObject, path: string): unknown {
  if (Object.hasOwn(notice, path)) return notice[path]
  let value: unknown = notice
  for (const name of path.split('.')) {
    // An empty list is what some programs write for an empty object.
    if (!isStated(value) || (Array.isArray(value) && value.length === 0)) return undefined
    if (!isObject(value)) return [value]
    if (!Object.hasOwn(value, name)) return undefined
    value = value[name]
  }
  return value
}
