import { type Paise, paise } from '@svc/kernel/money'
import {
  type CardLimits,
  type Effect,
  leftToHold,
  type MessageContext,
  NOTHING,
  newHold,
  notNegative,
} from '../card/card-effect.ts'
import { authorize, inquire } from '../rules/decide-authorization.ts'
import { afterCapture, afterVoid, type CardAuthorization } from './card-authorization.ts'
import type { ExceptionReason } from './card-exception.ts'
import { type CardMessage, type MessageType, NO_PAISE } from './card-message.ts'
import { authorizationOf, type CardState, captureOf, raisedBy, voidedOf } from './message-references.ts'

const least = (...amounts: readonly bigint[]): Paise =>
  paise(amounts.reduce((a, b) => (b < a ? b : a), amounts[0] ?? 0n))

/** What decides or records a message of each type; `MESSAGE_KINDS` has what it states and may except. */
const DECIDES: Readonly<Record<MessageType, (state: CardState, context: MessageContext) => Effect>> = {
  authorization: authorize,
  balance_inquiry: inquire,
  capture,
  void: voidHold,
  refund,
  advice: (state, context) =>
    context.message.advice === 'stand_in' ? standIn(state, context) : capture(state, context),
}

/** Pure. Real-time messages are decided; all others are recorded as what has happened (decision R1). */
export const decideMessage = (state: CardState, context: MessageContext): Effect =>
  DECIDES[context.message.type](state, context)

/**
 * The network stood in and approved: the hold is placed whatever the card has left, and shown where that is too little.
 * Of what was captured (finally: all) or voided (without an amount: all) before it arrived, nothing is held again.
 */
function standIn(state: CardState, context: MessageContext): Effect {
  const amountPaise = leftToHold(state, context.message)
  if (amountPaise === NO_PAISE) return { ...NOTHING, status: 'recorded' }
  const authorization = newHold(state, context, amountPaise, true)
  const isBeyond = state.view.balancePaise - state.view.heldPaise < authorization.amountPaise
  return {
    ...NOTHING,
    status: 'recorded',
    event: 'card.authorized',
    authorization,
    isNew: true,
    exception: isBeyond ? { reason: 'over_balance', debitPaise: NO_PAISE, creditPaise: NO_PAISE } : undefined,
  }
}

/**
 * A capture, or a forced post: debits at most the balance less other holds, and at most the authorisation with its
 * tolerance; the excess goes to the exceptions account. After a void, or once the hold expired, nothing is left of the
 * authorisation that could bound it.
 */
function capture(state: CardState, { message, limits, now }: MessageContext): Effect {
  const amount = message.amountPaise ?? NO_PAISE
  const held = authorizationOf(state, message)
  const otherHolds = state.view.heldPaise - (held?.heldPaise ?? 0n)
  const free = notNegative(state.view.balancePaise - otherHolds)
  const isBound = held && held.status !== 'VOIDED' && held.status !== 'EXPIRED'
  const allowed = isBound ? captureRoom(held, limits) : amount
  const debitPaise = least(amount, allowed, free)
  const excess = paise(amount - debitPaise)
  const reason = captureException(state, message, held, amount > allowed, excess)
  const authorization = held && afterCapture(held, amount, message.isFinal, now)
  return {
    status: 'recorded',
    event: 'card.captured',
    authorization,
    debitPaise,
    creditPaise: NO_PAISE,
    releasedPaise: paise((held?.heldPaise ?? 0n) - (authorization?.heldPaise ?? 0n)),
    exception: reason && { reason, debitPaise: excess, creditPaise: NO_PAISE },
  }
}

/** What may still be captured of an authorisation, with the tolerance of the setting. */
const captureRoom = (held: CardAuthorization, { overCapturePercent }: CardLimits): Paise =>
  notNegative(
    (held.amountPaise * BigInt(100 + overCapturePercent)) / 100n - held.capturedPaise - held.voidedPaise,
  )

function captureException(
  state: CardState,
  message: CardMessage,
  held: CardAuthorization | undefined,
  isOver: boolean,
  excess: Paise,
): ExceptionReason | undefined {
  if (!held && message.type === 'capture') return 'unmatched_capture'
  if (held && takesWhatWasVoided(state, held, message.amountPaise ?? NO_PAISE)) return 'capture_after_void'
  if (isOver) return 'over_authorization'
  return excess > 0n ? 'over_balance' : undefined
}

/** Whether a capture takes what was voided: an open hold bounds it, and one that is closed for any reason shows it. */
function takesWhatWasVoided(state: CardState, held: CardAuthorization, amount: Paise): boolean {
  if (held.status === 'OPEN') return false
  const voided = voidedOf(state, held)
  return voided > 0n && held.capturedPaise + amount > held.amountPaise - voided
}

/** Releases what is held. Without its authorisation it is remembered, and that authorisation is declined. */
function voidHold(state: CardState, { message, now }: MessageContext): Effect {
  const held = authorizationOf(state, message)
  const recorded = { ...NOTHING, status: 'recorded', authorization: held } as const
  if (!held) return recorded
  const { replacementPaise } = message
  const whole = raisedBy(state, message) ?? held.amountPaise - voidedOf(state, held)
  const resolvedPaise = replacementPaise === null ? undefined : notNegative(whole - replacementPaise)
  if (held.status === 'CAPTURED' || isCapturedLate(state, held)) {
    // What it says to be left is what was taken: nothing is wrong.
    if (replacementPaise !== null && replacementPaise >= held.capturedPaise)
      return { ...recorded, resolvedPaise }
    const exception = { reason: 'void_after_capture', debitPaise: NO_PAISE, creditPaise: NO_PAISE } as const
    return { ...recorded, exception, resolvedPaise }
  }
  if (held.status !== 'OPEN') return { ...recorded, resolvedPaise }
  const amountPaise = resolvedPaise ?? message.amountPaise ?? raisedBy(state, message)
  const authorization = afterVoid(held, amountPaise, now)
  const releasedPaise = paise(held.heldPaise - authorization.heldPaise)
  return { ...recorded, event: 'card.voided', authorization, releasedPaise, resolvedPaise }
}

/** Whether captures took all that was not voided of a hold, though it was no longer open. */
const isCapturedLate = (state: CardState, held: CardAuthorization): boolean =>
  held.capturedPaise > 0n && held.capturedPaise >= held.amountPaise - voidedOf(state, held)

/** Gives back at most what its capture took from the card; the rest goes to the exceptions account. */
function refund(state: CardState, { message }: MessageContext): Effect {
  const amount = message.amountPaise ?? NO_PAISE
  const captured = captureOf(state, message)
  const creditPaise = captured ? least(amount, captured.debitedPaise - captured.refundedPaise) : NO_PAISE
  const excess = paise(amount - creditPaise)
  const reason = captured ? 'over_capture' : 'unmatched_refund'
  return {
    ...NOTHING,
    status: 'recorded',
    event: 'card.refunded',
    capture: captured && { ...captured, refundedPaise: paise(captured.refundedPaise + creditPaise) },
    creditPaise,
    exception: excess > 0n ? { reason, debitPaise: NO_PAISE, creditPaise: excess } : undefined,
  }
}
