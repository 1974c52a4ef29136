import { type Reading, readText, unreadable } from './reading.ts'

/** What the status of a payment, refund, transfer or payout says of the money. */
export type Outcome =
  /** It has moved. */
  | 'success'
  /** It may still move. */
  | 'not_yet'
  /** It has not moved and will not. */
  | 'failed'
  /** It moved, and has gone back. */
  | 'gone_back'

const WORDS: Readonly<Record<Outcome, string>> = {
  success: `success successful succeeded succeed ok complete completed captured paid processed settled credited received
    done approved executed`,
  not_yet: `pending created initiated processing inprogress inprocess underprocess submitted queued scheduled accepted
    authorized authorised deemed deemedsuccess deemedsuccessful deemedapproved awaiting awaited hold onhold held sent
    timeout timedout unknown active open requested new ongoing partial notattempted userdropped flagged transit intransit`,
  failed: `failed failure fail declined decline rejected reject expired cancelled canceled cancel void voided error errored
    dropped aborted abort invalid blocked denied unsuccessful notprocessed bounced dishonoured dishonored terminated`,
  gone_back: `refunded refund returned return reversed reversal chargeback chargedback disputed autorefunded
    autoreversed partiallyrefunded refundinitiated clawback clawedback reverted`,
}

/** What stands between the parts of a word and around it. Any other character says something: `!SUCCESS` is no success. */
const SEPARATORS = /[\s\p{Pd}\p{Cf}_.,:;/\\|'"()[\]*#]/gu

/** A word without case and separators. */
export const canonicalWord = (word: string): string => word.replace(SEPARATORS, '').toUpperCase()

const OUTCOMES: ReadonlyMap<string, Outcome> = new Map(
  (Object.keys(WORDS) as Outcome[]).flatMap((outcome) =>
    WORDS[outcome]
      .trim()
      .split(/\s+/)
      .map((word) => [canonicalWord(word), outcome] as const),
  ),
)

/** What a status is of. */
export const STATUS_OF = ['payment', 'refund', 'transfer', 'payout', 'dispute', 'settlement'] as const
export type StatusOf = (typeof STATUS_OF)[number]

/** Names of it, which banks put before their words and fields: `TXN_SUCCESS`, `payment.captured`, `refundStatus`. */
const SUBJECTS: Readonly<Record<StatusOf, string>> = {
  payment: 'payment|credit|order|collect|capture|void|authori[sz]ation|auth',
  refund: 'refund',
  transfer: 'transfer',
  payout: 'payout|transfer',
  dispute: 'dispute|chargeback',
  settlement: 'settlement|transfer|payout',
}
/** Of whatever moves money. */
const OF_ANY = 'transaction|txn|tran|trn|upi|bank|npci'

const byStatus = <T>(make: (subjects: string) => T) =>
  Object.fromEntries(STATUS_OF.map((of) => [of, make(SUBJECTS[of])])) as Readonly<Record<StatusOf, T>>

const IN_FRONT = byStatus((subjects) => new RegExp(`^(?:${subjects}|${OF_ANY})(?=.)`, 'i'))
const NAMED = byStatus((subjects) => {
  const named = `(?:(?:${OF_ANY}|${SUBJECTS.payment}|${subjects})[\\s_-]*){1,2}`
  return new RegExp(`^status$|^${named}(?:status|state)$`, 'i')
})

/** Whether a column or field of this name has the status of the money of its line or message. */
export const isStatusName = (name: string, of: StatusOf): boolean => NAMED[of].test(name)

export interface StatedOutcome {
  readonly outcome: Outcome
  /** The word in canonical form. */
  readonly word: string
}

/**
 * Reads the status that a bank or network states (decision Q11), whatever its case and separators: `TXN_SUCCESS`,
 * `payment.captured`, `Charge Back`. A word of no row of the table is unreadable: nothing is guessed from it. The status of
 * something else, such as `REFUND_SUCCESS` of a payment, is none of the words either.
 */
export function readOutcome(value: unknown, of: StatusOf): Reading<StatedOutcome> {
  const text = readText(value)
  if ('unreadable' in text) return text
  const whole = canonicalWord(text.value)
  const word = OUTCOMES.has(whole) ? whole : whole.replace(IN_FRONT[of], '')
  const outcome = OUTCOMES.get(word)
  return outcome === undefined ? unreadable(`is not a known status of a ${of}`) : { value: { outcome, word } }
}

/** Where a dispute stands. */
export type DisputeOutcome = 'OPEN' | 'WON' | 'LOST'

const DISPUTE_WORDS: Readonly<Record<DisputeOutcome, string>> = {
  OPEN: `open opened raised created new pending initiated received needsresponse warningneedsresponse
    underreview warningunderreview evidencerequired actionrequired inprogress processing submitted evidencesubmitted
    represented escalated`,
  // `accepted`, `rejected` and `reversed` do not say by whom.
  WON: 'won merchantwon closedmerchantwon resolvedinfavourofmerchant resolvedinfavorofmerchant',
  LOST: 'lost merchantlost merchantaccepted closedmerchantlost customerwon closedcustomerwon',
}

const DISPUTES: ReadonlyMap<string, DisputeOutcome> = new Map(
  (Object.keys(DISPUTE_WORDS) as DisputeOutcome[]).flatMap((outcome) =>
    DISPUTE_WORDS[outcome]
      .trim()
      .split(/\s+/)
      .map((word) => [canonicalWord(word), outcome] as const),
  ),
)

/** Reads the status of a dispute that a bank or network states. */
export function readDisputeOutcome(value: unknown): Reading<DisputeOutcome> {
  const text = readText(value)
  if ('unreadable' in text) return text
  const word = canonicalWord(text.value)
  const outcome = DISPUTES.get(word) ?? DISPUTES.get(word.replace(IN_FRONT.dispute, ''))
  return outcome === undefined ? unreadable('is not a known status of a dispute') : { value: outcome }
}
