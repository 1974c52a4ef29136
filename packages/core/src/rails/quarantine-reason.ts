/** Why a signed notice is no payment, refund, dispute or transfer; all but `ignored` put it in quarantine. */
export const NOTICE_REASONS = [
  'not_json',
  /** It is of a kind that another route of the rails is for. */
  'wrong_route',
  'not_a_credit',
  /** The settings say that notices like it need no work. */
  'ignored',
  'unknown_bank',
  'reference_unreadable',
  'amount_unreadable',
  'not_in_rupees',
  'time_unreadable',
  'field_unreadable',
  'contradicts_earlier_notice',
  'unknown_refund',
  'status_unreadable',
  'unknown_dispute',
  'unknown_payment',
  'payment_accepted',
  'payment_not_accepted',
  'dispute_over_payment',
  'unknown_virtual_account',
  'partner_closed',
  'contradicts_entry',
] as const
export type QuarantineReason = (typeof NOTICE_REASONS)[number]

/** Reasons for which the fields of a notice were not read: what it is about is not known. */
export const UNREAD_REASONS: ReadonlySet<unknown> = new Set<QuarantineReason>([
  'not_json',
  'not_a_credit',
  'ignored',
  'unknown_bank',
  'reference_unreadable',
  'amount_unreadable',
  'not_in_rupees',
  'time_unreadable',
  'field_unreadable',
  'status_unreadable',
])

/** A field of a notice that decided it, and what it states. */
export interface StatedField {
  /** As the notice names it: a path of names. */
  readonly field?: string | null | undefined
  /** What it states, and why that was not followed: `"USD" is not INR`. */
  readonly detail?: string | null | undefined
}

/** Why a notice cannot be read. */
export interface UnreadableNotice extends StatedField {
  readonly unreadable: QuarantineReason
  /** The bank's reference, where it can be read. */
  readonly utr?: string | undefined
}
