import { paise } from '@svc/kernel/money'
import { rfc3339 } from '@svc/kernel/time'
import type { Effect } from '../card/card-effect.ts'
import { basisToText } from '../rules/authorization-basis.ts'
import { rulesAbout } from '../rules/rules-in-force.ts'
import { type CardException, exceptionIdOf, quarantinedToWire } from './card-exception.ts'
import {
  type CardMessage,
  identityKey,
  type MessageOutcome,
  type MessageType,
  messageToWire,
  responseCodeOf,
  type StoredMessage,
} from './card-message.ts'
import { MESSAGE_KINDS } from './card-message-kinds.ts'
import type { CardRailState, KnownMessage, RecordMessage } from './card-rail-state.ts'
import { decideMessage } from './decide-card-message.ts'
import type { CardState } from './message-references.ts'
import { openToBuy } from './open-to-buy.ts'
import type { UnreadableMessage } from './read-card-message.ts'
import { PARTLY_APPROVED } from './response-codes.ts'

export interface RecordedMessage {
  /** 202 when it was not recorded, and shown to operators. */
  readonly status: 200 | 202
  /** The payload of the response, JSON. */
  readonly response: string
  /** Absent for repeats and for what is not recorded. */
  readonly stored:
    | (StoredMessage & Pick<KnownMessage, 'response'> & { readonly basis: string | null })
    | undefined
  readonly card: CardState | undefined
  readonly effect: Effect | undefined
  readonly exception: CardException | undefined
  readonly command: RecordMessage
}

const NOT_RECORDED = { stored: undefined, card: undefined, effect: undefined } as const

/** Pure. What is recorded of a message, and its response. */
export function decideRecording(
  { cards, known, uses }: CardRailState,
  command: RecordMessage,
  now: Date,
): RecordedMessage {
  const { message, read } = command
  if (!message) return unread(command, read as UnreadableMessage, now)
  const earlier = known.get(identityKey(message)) ?? []
  const first = earlier.find(({ type }) => type === message.type)
  if (first?.digest.equals(command.digest))
    return { ...NOT_RECORDED, status: 200, response: first.response, exception: undefined, command }
  // A signature names no operation: a message that was signed for one is not carried out by another (decision R1).
  if (first || earlier.some(({ plainDigest }) => plainDigest?.equals(command.plainDigest)))
    return contradicting(command, message, now)
  const card = cards.get(command.svcCardId)
  if (!card)
    return isDecided(message.type)
      ? declinedUnknown(command, message, now)
      : quarantined(command, 'unknown_card', now)
  const { limits, timeZone, ids, authorizationCode } = command
  const rules = rulesAbout(card.rules, message, uses)
  const effect = decideMessage(card, { message, limits, timeZone, ids, authorizationCode, now, rules })
  return recorded(command, message, card, effect, now)
}

/** Real-time requests are decided; everything else has happened already. */
const isDecided = (type: MessageType): boolean => MESSAGE_KINDS[type].isDecided

const exceptionOf = (
  command: RecordMessage,
  exception: Pick<CardException, 'reason'> & Partial<CardException>,
  now: Date,
): CardException => ({
  partnerId: command.tenantId,
  exceptionId: command.ids.exception,
  svcCardId: command.svcCardId || null,
  messageId: null,
  debitPaise: paise(0n),
  creditPaise: paise(0n),
  body: null,
  detail: null,
  createdAt: now,
  ...exception,
})

/** Kept as it was signed, for an operator to read; the same bytes once. */
function quarantined(
  command: RecordMessage,
  reason: CardException['reason'],
  now: Date,
  detail: string | null = null,
): RecordedMessage {
  const { body, type } = command
  const exceptionId = exceptionIdOf(Buffer.concat([Buffer.from(`${type} `), body]))
  const exception = exceptionOf(command, { exceptionId, reason, body, detail }, now)
  const response = JSON.stringify(quarantinedToWire(exception))
  return { ...NOT_RECORDED, status: 202, response, exception, command }
}

const NO_EFFECT = {
  debitPaise: paise(0n),
  creditPaise: paise(0n),
  releasedPaise: paise(0n),
} as const

/** The same identity requests something else: declined where it can be, and shown. */
function contradicting(command: RecordMessage, message: CardMessage, now: Date): RecordedMessage {
  const kept = quarantined(command, 'contradicts_earlier_message', now)
  if (!isDecided(message.type)) return kept
  const outcome = {
    messageId: command.ids.message,
    svcCardId: command.svcCardId || undefined,
    status: 'declined' as const,
    reason: 'contradicts_earlier_message' as const,
    debitedPaise: 0n,
    creditedPaise: 0n,
    releasedPaise: 0n,
    exceptionPaise: 0n,
  }
  const response = JSON.stringify(messageToWire(message, outcome, now, command.timeZone))
  return { ...kept, status: 200, response }
}

/** What cannot be read is kept for people; a terminal that waits for a decision gets one besides. */
function unread(
  command: RecordMessage,
  { unreadable, detail }: UnreadableMessage,
  now: Date,
): RecordedMessage {
  const kept = quarantined(command, unreadable, now, detail)
  const { ids, timeZone, type } = command
  if (!isDecided(type)) return kept
  const reason = unreadable === 'currency_not_inr' ? unreadable : 'message_unreadable'
  const response = JSON.stringify({
    messageId: ids.message,
    type,
    status: 'declined',
    responseCode: responseCodeOf({ reason }),
    reason,
    detail,
    createdOn: rfc3339(now, timeZone),
  })
  return { ...kept, status: 200, response }
}

function declinedUnknown(command: RecordMessage, message: CardMessage, now: Date): RecordedMessage {
  const effect: Effect = { ...NO_EFFECT, status: 'declined', reason: 'unknown_card' }
  return recorded(command, message, undefined, effect, now)
}

function recorded(
  command: RecordMessage,
  message: CardMessage,
  before: CardState | undefined,
  effect: Effect,
  now: Date,
): RecordedMessage {
  const { ids, tenantId, timeZone } = command
  const { authorization, capture, debitPaise, creditPaise, exception } = effect
  const after = before && afterEffect(before, effect)
  const outcome = outcomeOf(command, message, effect, after)
  const stored = {
    ...message,
    partnerId: tenantId,
    messageId: ids.message,
    svcCardId: command.svcCardId || null,
    authorizationId: authorization?.authorizationId ?? null,
    captureId: capture?.messageId ?? null,
    originalStan: message.original?.stan ?? null,
    originalTransmissionAt: message.original?.transmissionAt ?? null,
    amountPaise: effect.resolvedPaise ?? message.amountPaise,
    basis: effect.basis ? basisToText(effect.basis) : null,
    debitedPaise: debitPaise,
    creditedPaise: creditPaise,
    refundedPaise: paise(0n),
    raises: (effect.raisedPaise ?? 0n) > 0n,
    responseCode: responseCodeOf(outcome),
    eventType: (before && effect.event) ?? null,
    response: JSON.stringify(messageToWire(message, outcome, now, timeZone)),
    createdAt: now,
  }
  const isReferredTo =
    stored.type === 'capture' || stored.type === 'advice' || stored.type === 'void' || stored.raises
  return {
    status: 200,
    response: stored.response,
    stored,
    card: after && (isReferredTo ? { ...after, messages: [...after.messages, stored] } : after),
    effect,
    exception: exception && exceptionOf(command, { ...exception, messageId: ids.message }, now),
    command,
  }
}

function outcomeOf(
  command: RecordMessage,
  message: CardMessage,
  effect: Effect,
  after: CardState | undefined,
): MessageOutcome {
  const { status, reason, spendRuleId, approval, authorization, capture, exception } = effect
  const isApproved = message.type === 'authorization' && status === 'approved'
  return {
    messageId: command.ids.message,
    svcCardId: command.svcCardId || undefined,
    status,
    reason,
    approval,
    spendRuleId,
    approvedPaise: approval === PARTLY_APPROVED ? authorization?.amountPaise : undefined,
    authorizationId: authorization?.authorizationId,
    // Approved without a hold, too, where all was captured before.
    authorizationCode: isApproved ? command.authorizationCode : authorization?.authorizationCode,
    captureId: capture?.messageId,
    debitedPaise: effect.debitPaise,
    creditedPaise: effect.creditPaise,
    releasedPaise: effect.releasedPaise,
    exceptionPaise: (exception?.debitPaise ?? 0n) + (exception?.creditPaise ?? 0n),
    balances:
      after && status !== 'declined'
        ? { otbPaise: openToBuy(after.view), accountPaise: after.view.balancePaise }
        : undefined,
  }
}

/** The card as later messages of the same batch see it. */
function afterEffect(state: CardState, effect: Effect): CardState {
  const { authorization, isNew, raisedPaise = 0n, capture, debitPaise, creditPaise, releasedPaise } = effect
  const { view, authorizations, messages } = state
  const moved = debitPaise - creditPaise
  const { dayPaise, monthPaise, yearPaise, lifePaise } = view.usage
  const others = authorizations.filter((held) => held.authorizationId !== authorization?.authorizationId)
  return {
    ...state,
    view: {
      ...view,
      balancePaise: view.balancePaise - moved,
      heldPaise:
        view.heldPaise -
        releasedPaise +
        raisedPaise +
        (isNew && authorization ? authorization.heldPaise : 0n),
      usage: {
        ...view.usage,
        dayPaise: dayPaise + moved,
        monthPaise: monthPaise + moved,
        yearPaise: yearPaise + moved,
        lifePaise: lifePaise + moved,
      },
    },
    authorizations: authorization ? [...others, authorization] : authorizations,
    messages: messages.map((earlier) =>
      capture && earlier.messageId === capture.messageId ? capture : earlier,
    ),
  }
}
