import type { Paise } from '@svc/kernel/money'
import type { CardView } from '../card/card-record.ts'
import type { SpendRule } from '../rules/spend-rule.ts'
import type { CardAuthorization } from './card-authorization.ts'
import type { CardMessage, MessageIdentity, StoredMessage } from './card-message.ts'

/** A locked card with what messages may refer to. */
export interface CardState {
  readonly view: CardView
  readonly authorizations: readonly CardAuthorization[]
  /** Captures, advices, authorisations that raised a hold, and voids that released nothing. */
  readonly messages: readonly StoredMessage[]
  /** The spend rules in force for it, in their order, with the business day in which they count. */
  readonly rules: readonly RuleOfCard[]
}

/** A spend rule in force for a card. */
export interface RuleOfCard extends SpendRule {
  /** Under what an authorisation of the card counts. */
  readonly countedAs: string
  readonly day: string
}

type Reference = Pick<CardMessage, 'acquirerId' | 'original'>
type Referred = Omit<MessageIdentity, 'type'>

/** Whether the network's reference names this earlier message. */
const names = ({ acquirerId, original }: Reference, earlier: Referred): boolean =>
  original !== null &&
  acquirerId === earlier.acquirerId &&
  original.stan === earlier.stan &&
  original.transmissionAt.getTime() === earlier.transmissionAt.getTime()

/**
 * What a message refers to where it names nothing: the earlier message of its own STAN and transmission time, as ISO 8583
 * numbers a request and what follows it. An authorisation that names nothing is new.
 */
const referenceOf = (message: CardMessage): Reference => ({
  acquirerId: message.acquirerId,
  original: message.original ?? (message.type === 'authorization' ? null : message),
})

/** The authorisation that raised a hold, by which a later message names it. */
const raiseOf = ({ messages }: CardState, message: CardMessage): StoredMessage | undefined =>
  message.authorizationId === null
    ? messages.find((earlier) => earlier.raises && names(referenceOf(message), earlier))
    : undefined

/** The hold that a message is about; of several with one reference, the open one. */
export function authorizationOf(state: CardState, message: CardMessage): CardAuthorization | undefined {
  const named = message.authorizationId ?? raiseOf(state, message)?.authorizationId
  const found = state.authorizations.filter((held) =>
    named ? held.authorizationId === named : names(referenceOf(message), held),
  )
  return found.find(({ status }) => status === 'OPEN') ?? found[0]
}

/** What a void without an amount releases where it names the message that raised the hold; `null`: all that is held. */
export const raisedBy = (state: CardState, message: CardMessage): Paise | null =>
  raiseOf(state, message)?.amountPaise ?? null

/**
 * The capture that a refund gives back: by our id, by the network's reference, or as one of those of the authorisation that it
 * names. Of several, one that has as much left as the refund, else the one that has most.
 */
export function captureOf(state: CardState, message: CardMessage): StoredMessage | undefined {
  const captures = state.messages.filter(({ debitedPaise }) => debitedPaise > 0n)
  const { captureId } = message
  if (captureId !== null) return captures.find(({ messageId }) => messageId === captureId)
  const named =
    message.authorizationId === null && captures.filter((earlier) => names(referenceOf(message), earlier))
  if (named && named.length > 0) return named[0]
  const held = authorizationOf(state, message)
  const left = ({ debitedPaise, refundedPaise }: StoredMessage) => debitedPaise - refundedPaise
  const ofHeld = captures
    .filter(({ authorizationId }) => held !== undefined && authorizationId === held.authorizationId)
    .sort((a, b) => Number(left(b) - left(a)))
  return ofHeld.findLast((capture) => left(capture) >= (message.amountPaise ?? 0n)) ?? ofHeld[0]
}

/** Whether an earlier message, which found no authorisation, was about this one, which arrives after it. */
function isAbout(
  { acquirerId, authorizationId, originalStan, originalTransmissionAt, stan, transmissionAt }: StoredMessage,
  message: Referred,
): boolean {
  if (authorizationId !== null) return false
  const original =
    originalStan === null || originalTransmissionAt === null
      ? { stan, transmissionAt }
      : { stan: originalStan, transmissionAt: originalTransmissionAt }
  return names({ acquirerId, original }, message)
}

export const isVoidedBefore = ({ messages }: CardState, message: CardMessage): boolean =>
  messages.some((earlier) => earlier.type === 'void' && isAbout(earlier, message))

/** What was captured (finally: all) or voided (without an amount: all) of an authorisation before it arrived. */
export const settledBefore = (
  { messages }: CardState,
  { amountPaise: all, ...message }: CardMessage,
): bigint =>
  messages
    .filter((m) => (m.type === 'void' || m.eventType === 'card.captured') && isAbout(m, message))
    .reduce((sum, m) => sum + ((m.isFinal && m.type !== 'void' ? all : amountOf(m, all)) ?? all ?? 0n), 0n)

/** What a message is about of an authorisation that amounts to `all`. */
const amountOf = ({ amountPaise, replacementPaise }: StoredMessage, all: bigint | null): bigint | null =>
  replacementPaise === null || amountPaise !== null || all === null
    ? amountPaise
    : all > replacementPaise
      ? all - replacementPaise
      : 0n

/** What was voided of an authorisation: the hold shows it only while it is open, the voids themselves afterwards. */
export const voidedOf = ({ messages }: CardState, held: CardAuthorization): bigint =>
  messages
    .filter((m) => m.type === 'void' && m.eventType === null && m.authorizationId === held.authorizationId)
    .reduce<bigint>((sum, m) => sum + (m.amountPaise ?? held.amountPaise), held.voidedPaise)
