import { createHash } from 'node:crypto'
import { canonicalJson } from '@svc/kernel/canonical-json'
import { paise as inPaise, type Paise, paiseToWire } from '@svc/kernel/money'
import { rfc3339 } from '@svc/kernel/time'
import {
  bytes,
  flag,
  instant,
  nullable,
  paise,
  type RowOf,
  secret,
  table,
  text,
  textOf,
} from '@svc/platform/db/table'
import { type TSchema, Type } from 'typebox'
import type { Channel } from '../card/card.ts'
import { APPROVED, type Approval, DECLINES, type DeclineReason } from './response-codes.ts'

export const MESSAGE_TYPES = [
  'authorization',
  'capture',
  'void',
  'refund',
  'advice',
  'balance_inquiry',
] as const
export type MessageType = (typeof MESSAGE_TYPES)[number]

/** Channels under the names that card networks use. */
export const NETWORK_CHANNELS = ['pos', 'atm', 'ecommerce'] as const
export type NetworkChannel = (typeof NETWORK_CHANNELS)[number]
export const channelOf = (channel: NetworkChannel): Channel => (channel === 'ecommerce' ? 'online' : channel)
export const networkChannelOf = (channel: Channel): NetworkChannel =>
  channel === 'online' ? 'ecommerce' : channel

export const ADVICES = ['stand_in', 'forced_post'] as const

/** What identifies a message: never its RRN, which acquirers use again (decision R1). */
export interface MessageIdentity {
  readonly type: MessageType
  readonly acquirerId: string
  readonly stan: string
  readonly transmissionAt: Date
}

/** A message of the card network, in our terms. */
export interface CardMessage extends MessageIdentity {
  /** How the message names its card: by one of them at least. */
  readonly card: { readonly token: string | null; readonly cardNumber: string | null }
  /** Absent in balance inquiries, and in voids of all that is held. Zero: a verification, or a capture of nothing. */
  readonly amountPaise: Paise | null
  readonly channel: NetworkChannel | null
  /** What it refers to, by our ids or by the network's reference. */
  readonly authorizationId: string | null
  readonly captureId: string | null
  readonly original: { readonly stan: string; readonly transmissionAt: Date } | null
  /** Of a void: what its authorisation amounts to after it, ISO 8583 field 95. */
  readonly replacementPaise: Paise | null
  /** Of a capture: what is left of the hold is released. */
  readonly isFinal: boolean
  /** Of an authorisation: a part of its amount may be approved. */
  readonly isPartialAllowed: boolean
  readonly advice: (typeof ADVICES)[number] | null
  /** For people, as the network wrote them. */
  readonly rrn: string | null
  readonly mcc: string | null
  readonly merchantName: string | null
  readonly merchantPlace: string | null
  readonly merchantCountry: string | null
  readonly localTime: string | null
}

export const CARD_MESSAGE_EVENTS = [
  'card.authorized',
  'card.declined',
  'card.captured',
  'card.voided',
  'card.refunded',
] as const
export type CardMessageEvent = (typeof CARD_MESSAGE_EVENTS)[number]

/** Messages of the card network with their responses. Only `refundedPaise` ever changes. */
export const cardMessages = table('card_messages', 'm', ['partnerId', 'messageId'], {
  partnerId: text,
  messageId: text,
  type: textOf<MessageType>(),
  acquirerId: text,
  stan: text,
  transmissionAt: instant,
  contentDigest: secret(bytes),
  /** SHA-256 of the message as it was written, decrypted; `null` of messages before it was stored. */
  plainDigest: secret(nullable(bytes)),
  svcCardId: nullable(text),
  authorizationId: nullable(text),
  captureId: nullable(text),
  originalStan: nullable(text),
  originalTransmissionAt: nullable(instant),
  /** Of a void by a replacement amount: what it takes off its authorisation, where that was known. */
  amountPaise: nullable(paise),
  replacementPaise: nullable(paise),
  debitedPaise: paise,
  creditedPaise: paise,
  /** Of a capture: what refunds have given back. */
  refundedPaise: paise,
  rrn: nullable(text),
  mcc: nullable(text),
  merchantName: nullable(text),
  merchantPlace: nullable(text),
  merchantCountry: nullable(text),
  channel: nullable(textOf<NetworkChannel>()),
  localTime: nullable(text),
  /** Of a capture: it was the last of its authorisation. */
  isFinal: flag,
  /** Of an authorisation: it raised the hold of an earlier one. */
  raises: flag,
  responseCode: text,
  eventType: nullable(textOf<CardMessageEvent>()),
  /** The payload of its response: a repeat gets the same bytes. */
  response: secret(text),
  /** Of an authorisation: what it was decided on; `null` of those before it was stored. */
  basis: secret(nullable(text)),
  createdAt: instant,
})
export type StoredMessage = RowOf<typeof cardMessages>

/** Without the type: the same message sent to the operation of another type is found by it (decision R1). */
export const identityKey = ({ acquirerId, stan, transmissionAt }: Omit<MessageIdentity, 'type'>): string =>
  JSON.stringify([acquirerId, stan, transmissionAt.getTime()])

/** SHA-256 of what a message requests; texts for people do not count. `card`: our id of it, or how it was named. */
export function contentDigest(message: CardMessage, card: string): Buffer {
  const { amountPaise, channel, authorizationId, captureId, original, isFinal, advice } = message
  const { replacementPaise, isPartialAllowed } = message
  const content = [
    card,
    amountPaise === null ? null : String(amountPaise),
    channel,
    authorizationId,
    captureId,
    original && [original.stan, original.transmissionAt.getTime()],
    isFinal,
    advice,
    // Not stated, they leave the digests as they were before they could be.
    ...(replacementPaise === null ? [] : [{ replacement: String(replacementPaise) }]),
    ...(isPartialAllowed ? ['partial'] : []),
  ]
  return createHash('sha256').update(canonicalJson(content)).digest()
}

const optional = (type: TSchema) => Type.Optional(type)
const rupeesField = (description: string) => optional(Type.Number({ description: `Rupees: ${description}` }))

/** The response to a message, and what its event contains. */
export const CardMessageRecord = Type.Object(
  {
    messageId: Type.String(),
    type: Type.Enum([...MESSAGE_TYPES]),
    status: Type.Enum(['approved', 'declined', 'recorded'], {
      description: '`recorded`: the message reports what has happened, so nothing is decided',
    }),
    responseCode: Type.String({ description: 'ISO 8583 field 39' }),
    reason: optional(
      Type.Enum(Object.keys(DECLINES) as DeclineReason[], { description: 'Why it was declined' }),
    ),
    spendRuleId: optional(Type.String({ description: 'The spend rule that declined it' })),
    svcCardId: optional(Type.String()),
    detail: optional(
      Type.String({ description: 'Of a message that cannot be read: the field, what it states and why' }),
    ),
    acquirerId: optional(
      Type.String({ description: 'In canonical form: capital letters, no leading zeros' }),
    ),
    stan: optional(Type.String()),
    transmissionTime: optional(Type.String({ description: 'RFC 3339' })),
    rrn: optional(Type.String()),
    amount: rupeesField('what the message asks for'),
    approvedAmount: rupeesField('what is approved of it, where that is only a part'),
    replacementAmount: rupeesField('what its authorisation amounts to after a void'),
    channel: optional(Type.Enum([...NETWORK_CHANNELS])),
    mcc: optional(Type.String()),
    merchantName: optional(Type.String()),
    merchantPlace: optional(Type.String()),
    merchantCountry: optional(Type.String()),
    authorizationId: optional(Type.String({ description: 'The authorisation that it created or refers to' })),
    authorizationCode: optional(Type.String({ description: 'ISO 8583 field 38' })),
    captureId: optional(Type.String({ description: 'Of a refund: the capture that it gives back' })),
    debitedAmount: rupeesField('taken from the card'),
    creditedAmount: rupeesField('given back to the card'),
    releasedAmount: rupeesField('no longer held'),
    exceptionAmount: rupeesField('in the account of exceptions'),
    otbBalance: rupeesField('the balance less open holds'),
    accountBalance: rupeesField('the balance'),
    createdOn: Type.String({ description: 'RFC 3339' }),
  },
  { title: 'CardMessage', additionalProperties: false },
)

/** What a decision adds to a message for its record. */
export interface MessageOutcome {
  readonly messageId: string
  readonly svcCardId: string | undefined
  readonly status: 'approved' | 'declined' | 'recorded'
  readonly reason?: DeclineReason | undefined
  /** The code of an approval other than `00`. */
  readonly approval?: Approval | undefined
  readonly spendRuleId?: string | undefined
  /** What is approved of an authorisation, where that is a part. */
  readonly approvedPaise?: bigint | undefined
  readonly authorizationId?: string | undefined
  readonly authorizationCode?: string | undefined
  readonly captureId?: string | undefined
  readonly debitedPaise: bigint
  readonly creditedPaise: bigint
  readonly releasedPaise: bigint
  readonly exceptionPaise: bigint
  /** Of the card after it; absent where it is not known, or the message is declined. */
  readonly balances?: { readonly otbPaise: bigint; readonly accountPaise: bigint } | undefined
}

const some = (name: string, paise: bigint) => (paise === 0n ? {} : { [name]: paiseToWire(paise) })

/** ISO 8583 field 39 of an outcome. */
export const responseCodeOf = ({ approval, reason }: Pick<MessageOutcome, 'approval' | 'reason'>): string =>
  reason === undefined ? (approval ?? APPROVED) : DECLINES[reason].code

/** What a response repeats of its message. */
export type RepeatedMessage = Omit<
  CardMessage,
  | 'card'
  | 'authorizationId'
  | 'captureId'
  | 'original'
  | 'isFinal'
  | 'isPartialAllowed'
  | 'advice'
  | 'localTime'
>

export function messageToWire(
  message: RepeatedMessage,
  outcome: MessageOutcome,
  now: Date,
  timeZone: string,
) {
  const { messageId, svcCardId, status, reason, authorizationId, authorizationCode, captureId } = outcome
  const { balances } = outcome
  const { type, acquirerId, stan, transmissionAt, amountPaise, channel, rrn, mcc } = message
  return {
    messageId,
    type,
    status,
    responseCode: responseCodeOf(outcome),
    reason,
    spendRuleId: outcome.spendRuleId,
    svcCardId,
    acquirerId,
    stan,
    transmissionTime: rfc3339(transmissionAt, timeZone),
    rrn: rrn ?? undefined,
    ...some('amount', amountPaise ?? 0n),
    ...some('approvedAmount', outcome.approvedPaise ?? 0n),
    ...(message.replacementPaise !== null && { replacementAmount: paiseToWire(message.replacementPaise) }),
    channel: channel ?? undefined,
    mcc: mcc ?? undefined,
    merchantName: message.merchantName ?? undefined,
    merchantPlace: message.merchantPlace ?? undefined,
    merchantCountry: message.merchantCountry ?? undefined,
    authorizationId,
    authorizationCode,
    captureId,
    ...some('debitedAmount', outcome.debitedPaise),
    ...some('creditedAmount', outcome.creditedPaise),
    ...some('releasedAmount', outcome.releasedPaise),
    ...some('exceptionAmount', outcome.exceptionPaise),
    ...(balances && {
      otbBalance: paiseToWire(balances.otbPaise),
      accountBalance: paiseToWire(balances.accountPaise),
    }),
    createdOn: rfc3339(now, timeZone),
  }
}

export const NO_PAISE = inPaise(0n)
