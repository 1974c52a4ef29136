import { type Paise, paise } from '@svc/kernel/money'
import { calendarDay } from '@svc/kernel/time'
import { isExpired } from './card.ts'
import { afterCapture, afterVoid, type CardAuthorization } from './card-authorization.ts'
import type { ExceptionReason } from './card-exception.ts'
import {
  type CardMessage,
  type CardMessageEvent,
  channelOf,
  NO_PAISE,
  type StoredMessage,
} from './card-message.ts'
import { usedPaise } from './card-record.ts'
import {
  authorizationOf,
  type CardState,
  captureOf,
  isVoidedBefore,
  settledBefore,
  voidedOf,
} from './message-references.ts'
import type { DeclineReason } from './response-codes.ts'

export interface CardLimits {
  readonly transactionPaise: Paise
  readonly dayPaise: Paise
  readonly monthPaise: Paise
  readonly overCapturePercent: number
  readonly holdMs: number
}

/** What a decision depends on besides the card. */
export interface MessageContext {
  readonly message: CardMessage
  readonly limits: CardLimits
  readonly timeZone: string
  readonly ids: { readonly authorization: string }
  readonly authorizationCode: string
  readonly now: Date
}

/** What a message does to its card. */
export interface Effect {
  readonly status: 'approved' | 'declined' | 'recorded'
  readonly reason?: DeclineReason
  readonly event?: CardMessageEvent
  /** The hold after it; `isNew` when the message places it. */
  readonly authorization?: CardAuthorization | undefined
  readonly isNew?: boolean
  /** The capture that a refund gives back, after it. */
  readonly capture?: StoredMessage | undefined
  readonly debitPaise: Paise
  readonly creditPaise: Paise
  /** What is no longer held, and by how much the hold grew. */
  readonly releasedPaise: Paise
  readonly exception?:
    | { readonly reason: ExceptionReason; readonly debitPaise: Paise; readonly creditPaise: Paise }
    | undefined
}

const NOTHING = { debitPaise: NO_PAISE, creditPaise: NO_PAISE, releasedPaise: NO_PAISE } as const

const least = (...amounts: readonly bigint[]): Paise =>
  paise(amounts.reduce((a, b) => (b < a ? b : a), amounts[0] ?? 0n))
const notNegative = (amount: bigint): Paise => paise(amount > 0n ? amount : 0n)

/** Pure. Real-time messages are decided; all others are recorded as what has happened (decision R1). */
export function decideMessage(state: CardState, context: MessageContext): Effect {
  switch (context.message.type) {
    case 'authorization':
      return authorize(state, context)
    case 'balance_inquiry':
      return inquire(state, context)
    case 'capture':
      return capture(state, context)
    case 'void':
      return voidHold(state, context)
    case 'refund':
      return refund(state, context)
    case 'advice':
      return context.message.advice === 'stand_in' ? standIn(state, context) : capture(state, context)
  }
}

/** What was captured before it arrived (all of it, after a final capture) is not held again. */
function authorize(state: CardState, context: MessageContext): Effect {
  const amountPaise = leftToHold(state, context.message)
  const reason = isVoidedBefore(state, context.message)
    ? 'voided_before'
    : (stateRefusal(state, context) ?? amountRefusal(state, context, amountPaise))
  if (reason) return { ...NOTHING, status: 'declined', reason, event: 'card.declined' }
  if (amountPaise === NO_PAISE) return { ...NOTHING, status: 'approved' }
  const authorization = newHold(state, context, amountPaise, false)
  return { ...NOTHING, status: 'approved', event: 'card.authorized', authorization, isNew: true }
}

function inquire(state: CardState, context: MessageContext): Effect {
  const reason = stateRefusal(state, context)
  return reason ? { ...NOTHING, status: 'declined', reason } : { ...NOTHING, status: 'approved' }
}

/** State, expiry and channel. The admin’s flag outranks the user’s (spec section 2.4). */
function stateRefusal({ view: { card } }: CardState, context: MessageContext): DeclineReason | undefined {
  const { message, now, timeZone } = context
  if (card.status === 'BL') return 'card_blocked'
  if (card.status === 'AP' || !card.activated) return 'card_not_active'
  if (card.status === 'L') return 'card_locked'
  if (isExpired(card, now, timeZone)) return 'card_expired'
  const channel = message.channel && channelOf(message.channel)
  if (channel && !card[`${channel}AllowedAdmin`]) return 'channel_closed_by_admin'
  if (channel && !card[`${channel}Allowed`]) return 'channel_closed_by_user'
  return undefined
}

/**
 * Balance less open holds, then limits; holds count in the period in which they were placed, by the usage’s time.
 * `amount`: what is left to hold.
 */
function amountRefusal(
  { view, authorizations }: CardState,
  context: MessageContext,
  amount: Paise,
): DeclineReason | undefined {
  const { limits, message, now, timeZone } = context
  const { dayPaise, monthPaise, usedUntil = now } = view.usage
  if (view.balancePaise - view.heldPaise < amount) return 'insufficient_funds'
  if ((message.amountPaise ?? NO_PAISE) > limits.transactionPaise) return 'over_transaction_limit'
  const period = (length: 'day' | 'month') => (at: Date) =>
    calendarDay(at, timeZone).slice(0, length === 'day' ? 10 : 7)
  const held = (of: (at: Date) => string) =>
    authorizations
      .filter(({ createdAt }) => of(createdAt) === of(usedUntil))
      .reduce((sum, { heldPaise }) => sum + heldPaise, 0n)
  if (usedPaise(dayPaise) + held(period('day')) + amount > limits.dayPaise) return 'over_day_limit'
  if (usedPaise(monthPaise) + held(period('month')) + amount > limits.monthPaise) return 'over_month_limit'
  return undefined
}

/** What its captures and voids have left of an authorisation that arrives after them. */
const leftToHold = (state: CardState, message: CardMessage): Paise =>
  notNegative((message.amountPaise ?? NO_PAISE) - settledBefore(state, message))

function newHold(
  { view }: CardState,
  context: MessageContext,
  amountPaise: Paise,
  forced: boolean,
): CardAuthorization {
  const { message, limits, ids, authorizationCode, now } = context
  const { acquirerId, stan, transmissionAt } = message
  return {
    partnerId: view.card.partnerId,
    authorizationId: ids.authorization,
    svcCardId: view.card.svcCardId,
    acquirerId,
    stan,
    transmissionAt,
    authorizationCode,
    amountPaise,
    forced,
    capturedPaise: NO_PAISE,
    voidedPaise: NO_PAISE,
    heldPaise: amountPaise,
    status: 'OPEN',
    createdAt: now,
    expiresAt: new Date(now.getTime() + limits.holdMs),
    closedAt: null,
  }
}

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
  if (held.status === 'CAPTURED' || isCapturedLate(state, held)) {
    const exception = { reason: 'void_after_capture', debitPaise: NO_PAISE, creditPaise: NO_PAISE } as const
    return { ...recorded, exception }
  }
  if (held.status !== 'OPEN') return recorded
  const authorization = afterVoid(held, message.amountPaise, now)
  const releasedPaise = paise(held.heldPaise - authorization.heldPaise)
  return { ...recorded, event: 'card.voided', authorization, releasedPaise }
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
