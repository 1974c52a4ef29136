import { paiseToWire } from '@svc/kernel/money'
import { calendarDay, instantOfDay, rfc3339 } from '@svc/kernel/time'
import { Type } from 'typebox'
import type { Card } from '../card/card.ts'

const DAY_MS = 86_400_000

/** How long what is left on an ended card waits, in days (decision C21). */
export interface EndTerms {
  readonly unclaimedDays: number
  readonly returnWaitDays: number
}

/** Days before a card's expiry on which it is announced. */
const EXPIRY_NOTICES = [30, 7, 1] as const
/** Days before what is left on an ended card is unclaimed on which that is announced. */
export const UNCLAIMED_NOTICES = [45, 15, 1] as const

type Ending = Pick<
  Card,
  'expiryYear' | 'expiryMonth' | 'expiredAt' | 'endedAt' | 'unclaimedAt' | 'noticeDays' | 'replacedBy'
>

/** The earlier one of two times; `null` for never. */
export const earlier = (a: Date | null, b: Date | null): Date | null =>
  a === null ? b : b === null || a <= b ? a : b

const addDays = (at: Date, days: number): Date => new Date(at.getTime() + days * DAY_MS)

/** The first instant at which a card is expired: the month after its last one begins in the business zone. */
export function expiryOf(
  { expiryYear, expiryMonth }: Pick<Card, 'expiryYear' | 'expiryMonth'>,
  timeZone: string,
): Date {
  const next = new Date(Date.UTC(expiryYear, expiryMonth, 1)).toISOString().slice(0, 10)
  return instantOfDay(next, 0, timeZone)
}

/**
 * What becomes of a card that ends, blocked or expired; nothing where it had ended before. A time at which the background
 * has to look at it stays: a return can wait, or money that came back.
 */
export function ended(
  card: Ending & Pick<Card, 'dueAt'>,
  at: Date,
  { unclaimedDays }: EndTerms,
): Pick<Card, 'endedAt' | 'unclaimedAt' | 'noticeDays' | 'dueAt'> {
  const end = card.endedAt
    ? { endedAt: card.endedAt, unclaimedAt: card.unclaimedAt, noticeDays: card.noticeDays }
    : { endedAt: at, unclaimedAt: addDays(at, unclaimedDays), noticeDays: null }
  return { ...end, dueAt: earlier(card.dueAt, nextDue({ ...card, ...end }, at)) }
}

/** Of a card in use. */
export const NOT_ENDED = {
  expiredAt: null,
  endedAt: null,
  unclaimedAt: null,
  noticeDays: null,
  replacedBy: null,
} as const

/** When the background has to look at a card that has just been issued: at its first announcement. */
export const firstDue = (expiry: Date): Date => addDays(expiry, -EXPIRY_NOTICES[0])

/** The announcement of these days before `at` that is due and was not sent: the last one of those that are due. */
function dueNotice(
  notices: readonly number[],
  at: Date,
  { noticeDays }: Ending,
  now: Date,
): number | undefined {
  const due = notices.findLast((days) => addDays(at, -days) <= now)
  return due !== undefined && (noticeDays === null || due < noticeDays) ? due : undefined
}

/** When the next of these announcements is due; at last `at` itself. */
const nextOf = (notices: readonly number[], at: Date, now: Date): Date =>
  notices.map((days) => addDays(at, -days)).find((notice) => notice > now) ?? at

/** When the background has to look at a card next, as long as no money of it moves; `null` for not at all. */
export function nextDue(card: Ending & { readonly expiryAt?: Date }, now: Date): Date | null {
  if (card.endedAt === null) return card.expiryAt ? nextOf(EXPIRY_NOTICES, card.expiryAt, now) : null
  // What is left on a replaced card has followed; what still comes back to it wakes it.
  if (card.replacedBy !== null || card.unclaimedAt === null || card.unclaimedAt <= now) return null
  return nextOf(UNCLAIMED_NOTICES, card.unclaimedAt, now)
}

/** What is on a card, in paise: its balance, and how much of that is held. */
export interface Left {
  readonly balancePaise: bigint
  readonly heldPaise: bigint
}

/** What the time brings for a card. Amounts are in paise. */
export type EndStep =
  | { readonly kind: 'expiring' | 'unclaimed_soon'; readonly days: number }
  | { readonly kind: 'expired' }
  | { readonly kind: 'follow' | 'unclaim'; readonly amountPaise: bigint }
  | { readonly kind: 'nothing' }

/** Pure. The next step of a card’s end; each is taken by itself. `isWaiting`: money of it is on its way back. */
export function endStep(card: Ending, left: Left, isWaiting: boolean, now: Date, timeZone: string): EndStep {
  const free = left.balancePaise - left.heldPaise
  if (card.endedAt === null) {
    const expiryAt = expiryOf(card, timeZone)
    if (expiryAt <= now) return { kind: 'expired' }
    const days = dueNotice(EXPIRY_NOTICES, expiryAt, card, now)
    return days === undefined ? { kind: 'nothing' } : { kind: 'expiring', days }
  }
  if (card.replacedBy !== null) return free > 0n ? { kind: 'follow', amountPaise: free } : { kind: 'nothing' }
  if (card.unclaimedAt === null || free <= 0n) return { kind: 'nothing' }
  if (card.unclaimedAt <= now) return isWaiting ? { kind: 'nothing' } : { kind: 'unclaim', amountPaise: free }
  const days = dueNotice(UNCLAIMED_NOTICES, card.unclaimedAt, card, now)
  return days === undefined ? { kind: 'nothing' } : { kind: 'unclaimed_soon', days }
}

/** An announcement: of the expiry of a card, or of the day from which what is left on it is unclaimed. */
export const CardNotice = Type.Object(
  {
    svcCardId: Type.String(),
    cardAccountId: Type.String(),
    userId: Type.String(),
    maskedNumber: Type.String(),
    lastDay: Type.String({ description: 'The last day on which it is not so yet, `YYYY-MM-DD`' }),
    daysLeft: Type.Integer({ description: 'Until then; 0 when it is so' }),
    accountBalance: Type.Number({ description: 'Rupees on the card' }),
    createdOn: Type.String({ description: 'RFC 3339' }),
  },
  { title: 'CardNotice', additionalProperties: false },
)

/** `at`: from when the card is expired, or what is left on it unclaimed. */
export const noticeToWire = (
  card: Pick<Card, 'svcCardId' | 'cardAccountId' | 'userId' | 'maskedNumber'>,
  balancePaise: bigint,
  at: Date,
  now: Date,
  timeZone: string,
) => ({
  svcCardId: card.svcCardId,
  cardAccountId: card.cardAccountId,
  userId: card.userId,
  maskedNumber: card.maskedNumber,
  lastDay: calendarDay(new Date(at.getTime() - 1), timeZone),
  daysLeft: at > now ? Math.ceil((at.getTime() - now.getTime()) / DAY_MS) : 0,
  accountBalance: paiseToWire(balancePaise),
  createdOn: rfc3339(now, timeZone),
})
