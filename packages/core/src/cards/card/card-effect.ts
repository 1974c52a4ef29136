import { type Paise, paise } from '@svc/kernel/money'
import type { CardAuthorization } from '../rail/card-authorization.ts'
import type { ExceptionReason } from '../rail/card-exception.ts'
import {
  type CardMessage,
  type CardMessageEvent,
  NO_PAISE,
  type StoredMessage,
} from '../rail/card-message.ts'
import { type CardState, settledBefore } from '../rail/message-references.ts'
import type { Approval, DeclineReason } from '../rail/response-codes.ts'
import type { AuthorizationBasis } from '../rules/authorization-basis.ts'
import { isCounting, type RuleInForce } from '../rules/spend-rule.ts'

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
  /** The spend rules that are about it, in their order: of the card, of its card account, of its partner. */
  readonly rules: readonly RuleInForce[]
}

/** What a message does to its card. */
export interface Effect {
  readonly status: 'approved' | 'declined' | 'recorded'
  readonly reason?: DeclineReason
  /** The spend rule that declines it. */
  readonly spendRuleId?: string | undefined
  /** Of an authorisation: what it was decided on. */
  readonly basis?: AuthorizationBasis
  readonly event?: CardMessageEvent
  /** The hold after it; `isNew` when the message places it. */
  readonly authorization?: CardAuthorization | undefined
  readonly isNew?: boolean
  /** Of a void by a replacement amount: what it takes off its authorisation. */
  readonly resolvedPaise?: Paise | undefined
  /** By how much an open hold grew. */
  readonly raisedPaise?: Paise
  /** The code of an approval other than `00`. */
  readonly approval?: Approval | undefined
  /** The capture that a refund gives back, after it. */
  readonly capture?: StoredMessage | undefined
  readonly debitPaise: Paise
  readonly creditPaise: Paise
  /** What is no longer held. */
  readonly releasedPaise: Paise
  readonly exception?:
    | { readonly reason: ExceptionReason; readonly debitPaise: Paise; readonly creditPaise: Paise }
    | undefined
}

export const NOTHING = { debitPaise: NO_PAISE, creditPaise: NO_PAISE, releasedPaise: NO_PAISE } as const

export const notNegative = (amount: bigint): Paise => paise(amount > 0n ? amount : 0n)

/** What its captures and voids have left of an authorisation that arrives after them. */
export const leftToHold = (state: CardState, message: CardMessage): Paise =>
  notNegative((message.amountPaise ?? NO_PAISE) - settledBefore(state, message))

/** A hold of the amount, as long as the setting says. */
export function newHold(
  { view }: CardState,
  context: MessageContext,
  amountPaise: Paise,
  forced: boolean,
): CardAuthorization {
  const { message, limits, ids, authorizationCode, now, rules } = context
  const counting = rules.filter(isCounting)
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
    counters: counting.length > 0 ? [...new Set(counting.map(({ counter }) => counter))] : null,
    countedOn: counting[0]?.use.day ?? null,
  }
}
