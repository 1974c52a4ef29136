import type { Paise } from '@svc/kernel/money'
import { calendarDay } from '@svc/kernel/time'
import { isExpired } from './card.ts'
import { afterRaise, type CardAuthorization } from './card-authorization.ts'
import { type Effect, leftToHold, type MessageContext, NOTHING, newHold } from './card-effect.ts'
import { type CardMessage, channelOf, NO_PAISE } from './card-message.ts'
import { usedPaise } from './card-record.ts'
import { authorizationOf, type CardState, isVoidedBefore } from './message-references.ts'
import { type DeclineReason, VERIFIED } from './response-codes.ts'

/**
 * What was captured before it arrived (all of it, after a final capture) is not held again. An amount of zero asks whether the
 * card is good; one that names an authorisation raises its hold by the amount.
 */
export function authorize(state: CardState, context: MessageContext): Effect {
  const { message } = context
  const isVerification = message.amountPaise === NO_PAISE
  const amountPaise = leftToHold(state, message)
  const raised = isVerification ? undefined : heldToRaise(state, message)
  const reason = authorizationRefusal(state, context, amountPaise, raised)
  if (reason) return { ...NOTHING, status: 'declined', reason, event: 'card.declined' }
  if (isVerification) return { ...NOTHING, status: 'approved', approval: VERIFIED }
  if (amountPaise === NO_PAISE) return { ...NOTHING, status: 'approved' }
  if (raised?.held) {
    const expiresAt = new Date(context.now.getTime() + context.limits.holdMs)
    const authorization = afterRaise(raised.held, amountPaise, expiresAt)
    return {
      ...NOTHING,
      status: 'approved',
      event: 'card.authorized',
      authorization,
      raisedPaise: amountPaise,
    }
  }
  const authorization = newHold(state, context, amountPaise, false)
  return { ...NOTHING, status: 'approved', event: 'card.authorized', authorization, isNew: true }
}

/** The open hold that an authorisation names, if it names one at all. */
function heldToRaise(
  state: CardState,
  message: CardMessage,
): { readonly held: CardAuthorization | undefined } | undefined {
  if (message.authorizationId === null && message.original === null) return undefined
  const held = authorizationOf(state, message)
  return { held: held?.status === 'OPEN' ? held : undefined }
}

function authorizationRefusal(
  state: CardState,
  context: MessageContext,
  amountPaise: Paise,
  raised: ReturnType<typeof heldToRaise>,
): DeclineReason | undefined {
  if (isVoidedBefore(state, context.message)) return 'voided_before'
  const refusal = stateRefusal(state, context)
  if (refusal) return refusal
  if (raised && !raised.held) return 'authorization_not_open'
  return amountRefusal(state, context, amountPaise, raised?.held?.amountPaise)
}

/** A card that could not be used gets no balance. */
export function inquire(state: CardState, context: MessageContext): Effect {
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
 * `amount`: what is left to hold; `before`: what the hold that it raises was of.
 */
function amountRefusal(
  { view, authorizations }: CardState,
  context: MessageContext,
  amount: Paise,
  before = NO_PAISE,
): DeclineReason | undefined {
  const { limits, message, now, timeZone } = context
  const { dayPaise, monthPaise, usedUntil = now } = view.usage
  if (view.balancePaise - view.heldPaise < amount) return 'insufficient_funds'
  if (before + (message.amountPaise ?? NO_PAISE) > limits.transactionPaise) return 'over_transaction_limit'
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
