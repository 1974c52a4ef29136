import { readId } from '@svc/kernel/ids'
import { type Paise, paise, readAmount, readCurrency } from '@svc/kernel/money'
import { contradicts } from '@svc/kernel/outcome-beside'
import { type Outcome, readOutcome } from '@svc/kernel/outcome-words'
import { readInstant } from '@svc/kernel/read-time'
import { isStated, type Reading, readFlag, readText, unreadable } from '@svc/kernel/reading'
import { parseObject, textOf } from '../../rails/read-notice.ts'
import { contradictionIn, FieldNames } from '../../rails/stated-fields.ts'
import type { UnreadableReason } from './card-exception.ts'
import { ADVICES, type CardMessage, type MessageType, NETWORK_CHANNELS } from './card-message.ts'
import { MESSAGE_KINDS } from './card-message-kinds.ts'

export interface UnreadableMessage {
  readonly unreadable: UnreadableReason
  /** The field, what it states and why that cannot be read, without card numbers: `amount "five" is not an amount`. */
  readonly detail: string
}

export type ReadMessage = { readonly message: CardMessage } | UnreadableMessage

type Fields = Readonly<Record<string, unknown>>
type Part<T> = { readonly value: T } | UnreadableMessage
type Reader<T> = (value: unknown) => Reading<T>

const statusOf = (type: MessageType) => (type === 'refund' ? 'refund' : 'payment')
const GOES_BACK: ReadonlySet<MessageType> = new Set(['void', 'refund'])

const AMOUNT_MAX = paise(10n ** 12n)
const TEXT_MAX = 100

const NAMES =
  `token cardNumber acquirerId stan transmissionTime status responseCode currency amount channel advice authorizationId
   captureId originalStan originalTransmissionTime replacementAmount final partialApproval rrn mcc merchantName
   merchantPlace merchantCountry localTime`.split(/\s+/)
const FIELDS = { payment: new FieldNames(NAMES, 'payment'), refund: new FieldNames(NAMES, 'refund') }

/**
 * Reads what a signed message says. Total: whatever the bytes are, it returns a message or why there is none. Absent, `null`
 * and `""` are one thing; what is stated is read or named as unreadable, never treated as absent (decision R1).
 * `encrypted`: whether it came encrypted, so that it may contain a card number.
 */
export function readCardMessage(type: MessageType, body: Uint8Array, encrypted: boolean): ReadMessage {
  const object = parseObject(body)
  const { named: fields, twice, beside } = FIELDS[statusOf(type)].read(object ?? {})
  if (!object || twice.length > 0)
    return { unreadable: 'not_json', detail: 'the message is not a JSON object with each field once' }
  if (isStated(fields['cardNumber']) && !encrypted)
    return {
      unreadable: 'card_number_not_encrypted',
      detail: 'cardNumber is in a message that is not encrypted',
    }
  const contradicted = contradiction(type, beside)
  if (contradicted) return contradicted
  const { needs, reads } = MESSAGE_KINDS[type]
  const stated = (name: (typeof needs)[number]) => (needs.includes(name) ? required : optional)
  const alone = <T>(name: (typeof reads)[number], reason: UnreadableReason, read: Reader<T>) =>
    reads.includes(name) ? optional(fields, name, reason, read) : { value: null }
  const read = allOf({
    card: readCard(fields),
    acquirerId: required(fields, 'acquirerId', 'identity_unreadable', readAcquirer),
    stan: required(fields, 'stan', 'identity_unreadable', readStan),
    transmissionAt: required(fields, 'transmissionTime', 'identity_unreadable', readInstant),
    outcome: optional(fields, 'status', 'status_unreadable', (value) => readStatus(type, value)),
    responseCode: optional(fields, 'responseCode', 'status_unreadable', readResponseCode),
    currency: optional(fields, 'currency', 'currency_not_inr', readCurrency),
    amountPaise: statedAmount(type, fields),
    channel: stated('channel')(fields, 'channel', 'channel_unreadable', oneOf(NETWORK_CHANNELS)),
    advice: stated('advice')(fields, 'advice', 'advice_unreadable', oneOf(ADVICES)),
    authorizationId: optional(fields, 'authorizationId', 'reference_unreadable', (value) =>
      readId(value, 'cau'),
    ),
    captureId: optional(fields, 'captureId', 'reference_unreadable', (value) => readId(value, 'cmg')),
    original: readOriginal(fields),
    replacementPaise: alone('replacementAmount', 'amount_unreadable', readWithinMax),
    isFinal: optional(fields, 'final', 'final_unreadable', readFlag),
    isPartialAllowed: alone('partialApproval', 'partial_unreadable', readFlag),
  })
  if ('unreadable' in read) return read
  const { outcome: _, responseCode: __, currency: ___, amountPaise: asked, ...message } = read.value
  // Beside its replacement, the amount is that of the authorisation.
  const amountPaise = message.replacementPaise === null ? asked : null
  return {
    message: {
      type,
      ...message,
      amountPaise,
      // A capture of nothing says that nothing more of the authorisation will be captured.
      isFinal: message.isFinal === true || (amountPaise === 0n && type === 'capture'),
      isPartialAllowed: message.isPartialAllowed === true,
      ...textsOf(fields),
    },
  }
}

/** What a report states beside its status: `success: false`. A question waits for what it asks. */
function contradiction(type: MessageType, beside: Fields): UnreadableMessage | undefined {
  if (MESSAGE_KINDS[type].isDecided) return undefined
  const move = { of: statusOf(type), outcome: 'success', isReturn: GOES_BACK.has(type) } as const
  const [name, why] = contradictionIn(beside, (field, value) => contradicts(field, value, move)) ?? []
  if (name === undefined) return undefined
  return { unreadable: 'status_unreadable', detail: `${name} ${maskCardNumbers(why ?? '')}` }
}

/** What people read, as the network wrote it. */
const textsOf = (fields: Fields) => ({
  rrn: shortText(fields['rrn']),
  mcc: shortText(fields['mcc']),
  merchantName: shortText(fields['merchantName']),
  merchantPlace: shortText(fields['merchantPlace']),
  merchantCountry: shortText(fields['merchantCountry']),
  localTime: shortText(fields['localTime']),
})

/** All parts, or the first one that cannot be read. */
function allOf<T extends object>(parts: { readonly [K in keyof T]: Part<T[K]> }): Part<T> {
  const values: Partial<T> = {}
  for (const name of Object.keys(parts) as (keyof T)[]) {
    const part = parts[name]
    if ('unreadable' in part) return part
    values[name] = part.value
  }
  return { value: values as T }
}

function optional<T>(
  fields: Fields,
  name: string,
  reason: UnreadableReason,
  read: Reader<T>,
): Part<T | null> {
  const stated = fields[name]
  if (!isStated(stated)) return { value: null }
  const reading = read(stated)
  return 'value' in reading ? reading : notRead(reason, name, stated, reading.unreadable)
}

function required<T>(fields: Fields, name: string, reason: UnreadableReason, read: Reader<T>): Part<T> {
  const part = optional(fields, name, reason, read)
  if ('unreadable' in part) return part
  return part.value === null ? { unreadable: reason, detail: `${name} is not stated` } : { value: part.value }
}

const notRead = (
  reason: UnreadableReason,
  name: string,
  stated: unknown,
  why: string,
): UnreadableMessage => ({
  unreadable: reason,
  detail: `${name} ${maskCardNumbers(JSON.stringify(stated).slice(0, TEXT_MAX))} ${why}`,
})

/** A text for people; what looks like a card number does not belong in one. Lists and objects are kept as they are written. */
function shortText(value: unknown): string | null {
  if (!isStated(value)) return null
  const text = (textOf(value) ?? JSON.stringify(value)).trim().slice(0, TEXT_MAX)
  return text ? maskCardNumbers(text) : null
}

/** A message may name its card twice; the lookup compares both. */
function readCard(fields: Fields): Part<CardMessage['card']> {
  const token = optional(fields, 'token', 'card_unreadable', readToken)
  if ('unreadable' in token) return token
  const cardNumber = optional(fields, 'cardNumber', 'card_unreadable', readCardNumber)
  if ('unreadable' in cardNumber) return cardNumber
  if (token.value === null && cardNumber.value === null)
    return { unreadable: 'card_unreadable', detail: 'neither token nor cardNumber is stated' }
  return { value: { token: token.value, cardNumber: cardNumber.value } }
}

/** A text of this form, after its spaces and separators are taken off. */
const textLike =
  (form: RegExp, separators: RegExp, why: string): Reader<string> =>
  (value) => {
    const text = readText(value)
    if ('unreadable' in text) return text
    const bare = text.value.replace(separators, '')
    return form.test(bare) ? { value: bare } : unreadable(why)
  }

const readToken = textLike(/^[\w-]{1,64}$/, /^$/, 'is not the token of a card')
const readCardNumber = textLike(/^\d{12,19}$/, /[ -]/g, 'is not a card number')
const readAcquirerText = textLike(/^[A-Za-z0-9]{1,35}$/, /[ -]/g, 'must be 1 to 35 letters and digits')
const readStanText = textLike(/^\d{1,12}$/, /^$/, 'must be 1 to 12 digits')

/** ISO 8583 field 32: leading zeros and the case of letters are how an acquirer writes it, not who it is. */
function readAcquirer(value: unknown): Reading<string> {
  const text = readAcquirerText(value)
  return 'unreadable' in text ? text : { value: text.value.toUpperCase().replace(/^0+(?=.)/, '') }
}

/** ISO 8583 field 11: six digits, with or without leading zeros; some networks have up to twelve. */
function readStan(value: unknown): Reading<string> {
  const text = readStanText(value)
  return 'unreadable' in text ? text : { value: text.value.replace(/^0+/, '').padStart(6, '0') }
}

const oneOf =
  <T extends string>(words: readonly T[]): Reader<T> =>
  (value) => {
    const text = readText(value)
    if ('unreadable' in text) return text
    const bare = (word: string) => word.toLowerCase().replace(/[^a-z]/g, '')
    const known = words.find((word) => bare(word) === bare(text.value))
    return known === undefined ? unreadable(`must be ${words.join(' or ')}`) : { value: known }
  }

/** Of a void, that its authorisation is cancelled is what it reports. */
const VOIDED = /^(?:VOID|CANCEL)/

function readStatus(type: MessageType, value: unknown): Reading<Outcome> {
  const stated = readOutcome(value, statusOf(type))
  if ('unreadable' in stated) return stated
  const { outcome, word } = stated.value
  const happened = MESSAGE_KINDS[type].happened.includes(outcome) || (type === 'void' && VOIDED.test(word))
  return happened ? { value: outcome } : unreadable('says that it did not happen')
}

/** ISO 8583 field 39: approved, by its several codes. */
const APPROVALS = new Set(['00', '08', '10', '11', '85'])

function readResponseCode(value: unknown): Reading<string> {
  const text = readText(value)
  if ('unreadable' in text) return text
  const code = text.value.replace(/^0+(?=\d\d)/, '').padStart(2, '0')
  return APPROVALS.has(code) ? { value: code } : unreadable('is not the code of an approval')
}

/**
 * In paise; `null`: the message has none, and needs none. Zero of a void is what ISO 8583 field 95 means by it: nothing is left,
 * as without an amount. Of an authorisation it asks for the verification of the card.
 */
function statedAmount(type: MessageType, fields: Fields): Part<Paise | null> {
  const needed = MESSAGE_KINDS[type].needs.includes('amount')
  const part = (needed ? required : optional)(fields, 'amount', 'amount_unreadable', (value) => {
    const amount = readWithinMax(value)
    if ('unreadable' in amount) return amount
    return amount.value === 0n && type === 'refund' ? unreadable('must be above 0') : amount
  })
  return 'value' in part && part.value === 0n && !needed ? { value: null } : part
}

function readWithinMax(value: unknown): Reading<Paise> {
  const amount = readAmount(value)
  return 'value' in amount && amount.value > AMOUNT_MAX
    ? unreadable('is more than 10,000,000,000.00')
    : amount
}

/** The network's reference of an earlier message of the same acquirer: both halves or none. */
function readOriginal(fields: Fields): Part<CardMessage['original']> {
  const names = ['originalStan', 'originalTransmissionTime'] as const
  if (!names.some((name) => isStated(fields[name]))) return { value: null }
  const stan = required(fields, names[0], 'reference_unreadable', readStan)
  if ('unreadable' in stan) return stan
  const time = required(fields, names[1], 'reference_unreadable', readInstant)
  return 'unreadable' in time ? time : { value: { stan: stan.value, transmissionAt: time.value } }
}

/** More digits than an RRN has, however they are grouped. */
const DIGITS = /\d(?:[ -]?\d){12,}/g

/** Masks all but the last four digits of what may be a card number: 13 digits or more. */
export const maskCardNumbers = (text: string): string =>
  text.replace(DIGITS, (found) => `XXXX${found.slice(-4)}`)
