import type { CardAuthorization } from './card-authorization.ts'
import type { CardMessage, MessageIdentity, StoredMessage } from './card-message.ts'
import type { CardView } from './card-record.ts'

/** A locked card with what messages may refer to. */
export interface CardState {
  readonly view: CardView
  readonly authorizations: readonly CardAuthorization[]
  /** Captures, advices, and voids that released nothing. */
  readonly messages: readonly StoredMessage[]
}

type Reference = Pick<CardMessage, 'acquirerId' | 'original'>
type Referred = Omit<MessageIdentity, 'type'>

/** Whether the network's reference names this earlier message. */
const names = ({ acquirerId, original }: Reference, earlier: Referred): boolean =>
  original !== null &&
  acquirerId === earlier.acquirerId &&
  original.stan === earlier.stan &&
  original.transmissionAt.getTime() === earlier.transmissionAt.getTime()

export const authorizationOf = (
  { authorizations }: CardState,
  message: CardMessage,
): CardAuthorization | undefined =>
  authorizations.find((held) =>
    message.authorizationId === null
      ? names(message, held)
      : held.authorizationId === message.authorizationId,
  )

export const captureOf = ({ messages }: CardState, message: CardMessage): StoredMessage | undefined =>
  messages.find(
    (earlier) =>
      earlier.type !== 'void' &&
      (message.captureId === null ? names(message, earlier) : earlier.messageId === message.captureId),
  )

/** Whether an earlier message, which found no authorisation, was about this one, which arrives after it. */
function isAbout(
  { acquirerId, authorizationId, originalStan, originalTransmissionAt }: StoredMessage,
  message: Referred,
): boolean {
  if (authorizationId !== null || originalStan === null || originalTransmissionAt === null) return false
  return names(
    { acquirerId, original: { stan: originalStan, transmissionAt: originalTransmissionAt } },
    message,
  )
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
    .reduce((sum, m) => sum + ((m.isFinal && m.type !== 'void' ? all : m.amountPaise) ?? all ?? 0n), 0n)

/** What was voided of an authorisation: the hold shows it only while it is open, the voids themselves afterwards. */
export const voidedOf = ({ messages }: CardState, held: CardAuthorization): bigint =>
  messages
    .filter((m) => m.type === 'void' && m.eventType === null && m.authorizationId === held.authorizationId)
    .reduce<bigint>((sum, m) => sum + (m.amountPaise ?? held.amountPaise), held.voidedPaise)
