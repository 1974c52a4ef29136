import { paise as inPaise, type Paise } from '@svc/kernel/money'
import { calendarDay } from '@svc/kernel/time'
import { isExpired } from '../card/card.ts'
import { type Effect, leftToHold, type MessageContext, NOTHING, newHold } from '../card/card-effect.ts'
import { usedPaise } from '../card/card-record.ts'
import { afterRaise, type CardAuthorization } from '../rail/card-authorization.ts'
import { type CardMessage, channelOf, NO_PAISE } from '../rail/card-message.ts'
import { authorizationOf, type CardState, isVoidedBefore } from '../rail/message-references.ts'
import { type Approval, type DeclineReason, PARTLY_APPROVED, VERIFIED } from '../rail/response-codes.ts'
import type { AuthorizationBasis } from './authorization-basis.ts'
import { refusalByRule } from './spend-rule.ts'

/**
 * What was captured before it arrived (all of it, after a final capture) is not held again. An amount of zero asks whether the
 * card is good; one that names an authorisation raises its hold by the amount.
 */
export function authorize(state: CardState, context: MessageContext): Effect {
  const { message } = context
  const held = message.amountPaise === NO_PAISE ? undefined : heldToRaise(state, message)
  const basis = basisOf(state, context, held)
  const judgement = judge(basis, message)
  if (judgement.status === 'declined') return { ...NOTHING, ...judgement, basis, event: 'card.declined' }
  const approved = { ...NOTHING, status: 'approved', basis, approval: judgement.approval } as const
  const { amountPaise } = judgement
  if (amountPaise === NO_PAISE) return approved
  if (held?.held) {
    const expiresAt = new Date(context.now.getTime() + context.limits.holdMs)
    const authorization = afterRaise(held.held, amountPaise, expiresAt)
    return { ...approved, event: 'card.authorized', authorization, raisedPaise: amountPaise }
  }
  const authorization = newHold(state, context, amountPaise, false)
  return { ...approved, event: 'card.authorized', authorization, isNew: true }
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

/** Balance less open holds, and limits: holds count in the period in which they were placed, by the usage’s time. */
function basisOf(
  state: CardState,
  context: MessageContext,
  raised: ReturnType<typeof heldToRaise>,
): AuthorizationBasis {
  const { view, authorizations } = state
  const { message, ids, authorizationCode, limits, now, timeZone, rules } = context
  const { dayPaise, monthPaise, usedUntil = now } = view.usage
  const period = (length: 'day' | 'month') => (at: Date) =>
    calendarDay(at, timeZone).slice(0, length === 'day' ? 10 : 7)
  const heldOf = (of: (at: Date) => string) =>
    authorizations
      .filter(({ createdAt }) => of(createdAt) === of(usedUntil))
      .reduce((sum, { heldPaise }) => sum + heldPaise, 0n)
  const refusal = isVoidedBefore(state, message)
    ? 'voided_before'
    : (stateRefusal(state, context) ?? (raised && !raised.held ? 'authorization_not_open' : undefined))
  return {
    ...(refusal && { refusal }),
    ...(raised?.held && {
      raises: { authorizationId: raised.held.authorizationId, amountPaise: raised.held.amountPaise },
    }),
    authorizationId: raised?.held?.authorizationId ?? ids.authorization,
    authorizationCode,
    isPartialAllowed: message.isPartialAllowed,
    leftPaise: leftToHold(state, message),
    balancePaise: view.balancePaise,
    heldPaise: view.heldPaise,
    dayPaise: usedPaise(dayPaise) + heldOf(period('day')),
    monthPaise: usedPaise(monthPaise) + heldOf(period('month')),
    limits,
    rules,
  }
}

/** What is decided: how much is held, or why nothing is. */
export type Judgement =
  | { readonly status: 'approved'; readonly amountPaise: Paise; readonly approval?: Approval }
  | { readonly status: 'declined'; readonly reason: DeclineReason; readonly spendRuleId?: string }

/**
 * Pure: the decision of an authorisation. Where the message allows a part, what the card has is approved of a new one; a raise
 * is approved as a whole. Spend rules decline what would be approved, the first that does in their order.
 */
export function judge(
  basis: AuthorizationBasis,
  { amountPaise }: Pick<CardMessage, 'amountPaise'>,
): Judgement {
  const { refusal, raises, leftPaise, limits, rules } = basis
  const declined = (reason: DeclineReason): Judgement => ({ status: 'declined', reason })
  if (refusal) return declined(refusal)
  const isVerification = amountPaise === NO_PAISE
  const free = basis.balancePaise - basis.heldPaise
  const isPart = basis.isPartialAllowed && !raises && free > 0n && free < leftPaise
  if (free < leftPaise && !isPart) return declined('insufficient_funds')
  const addedPaise = isPart ? free : leftPaise
  const totalPaise = (raises?.amountPaise ?? 0n) + (amountPaise ?? 0n) - (leftPaise - addedPaise)
  if (totalPaise > limits.transactionPaise) return declined('over_transaction_limit')
  if (basis.dayPaise + addedPaise > limits.dayPaise) return declined('over_day_limit')
  if (basis.monthPaise + addedPaise > limits.monthPaise) return declined('over_month_limit')
  for (const rule of rules) {
    const reason = refusalByRule(rule, { totalPaise, addedPaise, isNew: !raises && addedPaise > 0n })
    if (reason) return { status: 'declined', reason, spendRuleId: rule.spendRuleId }
  }
  const approval = isVerification ? VERIFIED : isPart ? PARTLY_APPROVED : undefined
  return { status: 'approved', amountPaise: inPaise(addedPaise), ...(approval && { approval }) }
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
