import { type Paise, paise, readAmount } from '@svc/kernel/money'
import { valueIn } from '@svc/kernel/reading'
import { parseRfc3339 } from '@svc/kernel/time'
import { parseObject, textOf } from '../rails/read-notice.ts'
import type { UnreadableReason } from './card-exception.ts'
import { ADVICES, type CardMessage, type MessageType, NETWORK_CHANNELS } from './card-message.ts'

export type ReadMessage = { readonly message: CardMessage } | { readonly unreadable: UnreadableReason }

type Fields = Readonly<Record<string, unknown>>

const AMOUNT_MAX = paise(10n ** 12n)
const TEXT_MAX = 100

/**
 * Reads what a signed message says. Total: whatever the bytes are, it returns a message or why there is none.
 * `encrypted`: whether it came encrypted, so that it may contain a card number.
 */
export function readCardMessage(type: MessageType, body: Uint8Array, encrypted: boolean): ReadMessage {
  const fields = parseObject(body)
  if (!fields) return { unreadable: 'not_json' }
  if (fields['cardNumber'] !== undefined && !encrypted) return { unreadable: 'card_number_not_encrypted' }
  const card = readCard(fields)
  if (!card) return { unreadable: 'card_unreadable' }
  const acquirerId = textOf(fields['acquirerId'])?.trim() ?? ''
  const stan = readStan(fields['stan'])
  const transmissionAt = readTime(fields['transmissionTime'])
  if (!/^[A-Za-z0-9]{1,35}$/.test(acquirerId) || !stan || !transmissionAt)
    return { unreadable: 'identity_unreadable' }
  const amountPaise = statedAmount(type, fields['amount'])
  if (amountPaise === undefined) return { unreadable: 'amount_unreadable' }
  const channel = NETWORK_CHANNELS.find((known) => known === fields['channel']) ?? null
  if (type === 'authorization' && !channel) return { unreadable: 'channel_unreadable' }
  const advice = type === 'advice' ? ADVICES.find((known) => known === fields['advice']) : null
  if (advice === undefined) return { unreadable: 'advice_unreadable' }
  return {
    message: {
      type,
      acquirerId,
      stan,
      transmissionAt,
      card,
      amountPaise,
      channel,
      advice,
      authorizationId: textOf(fields['authorizationId']) || null,
      captureId: textOf(fields['captureId']) || null,
      original: readOriginal(fields),
      isFinal: fields['final'] === true,
      rrn: shortText(fields['rrn']),
      mcc: shortText(fields['mcc']),
      merchantName: shortText(fields['merchantName']),
      merchantPlace: shortText(fields['merchantPlace']),
      localTime: shortText(fields['localTime']),
    },
  }
}

/** A text for people; what looks like a card number does not belong in one. */
function shortText(value: unknown): string | null {
  const text = textOf(value)?.trim().slice(0, TEXT_MAX)
  return text ? maskCardNumbers(text) : null
}

function readCard(fields: Fields): CardMessage['card'] | undefined {
  const { token, cardNumber } = fields as Readonly<Record<'token' | 'cardNumber', unknown>>
  if (typeof token === 'string' && /^[\w-]{1,64}$/.test(token)) return { token }
  const digits = textOf(cardNumber)?.replace(/[ -]/g, '') ?? ''
  return /^\d{12,19}$/.test(digits) ? { cardNumber: digits } : undefined
}

/** ISO 8583 field 11: six digits, with or without leading zeros; some networks have up to twelve. */
function readStan(value: unknown): string | undefined {
  const text = textOf(value)?.trim() ?? ''
  return /^\d{1,12}$/.test(text) ? text.padStart(6, '0') : undefined
}

const readTime = (value: unknown): Date | undefined =>
  typeof value === 'string' ? parseRfc3339(value.trim()) : undefined

/** `null`: the message has none, and needs none. */
function statedAmount(type: MessageType, value: unknown): Paise | null | undefined {
  if (type === 'balance_inquiry' || (type === 'void' && value === undefined)) return null
  const read = valueIn(readAmount(value))
  return read !== undefined && read > 0n && read <= AMOUNT_MAX ? read : undefined
}

/** The network's reference of an earlier message of the same acquirer. */
function readOriginal(fields: Fields): CardMessage['original'] {
  const stan = readStan(fields['originalStan'])
  const transmissionAt = readTime(fields['originalTransmissionTime'])
  return stan && transmissionAt ? { stan, transmissionAt } : null
}

/** More digits than an RRN has, however they are grouped. */
const DIGITS = /\d(?:[ -]?\d){12,}/g

/** Masks all but the last four digits of what may be a card number: 13 digits or more. */
export const maskCardNumbers = (text: string): string =>
  text.replace(DIGITS, (found) => `XXXX${found.slice(-4)}`)
