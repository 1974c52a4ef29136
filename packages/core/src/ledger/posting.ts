/**
 * What persons post by hand, by the kind of their approvals. It is the kind of the journal where the database checks the
 * approval with it (decision R10); `notice_assigned` has the journal of any credit, `upi_credit`, `payout_failed` that of a
 * released or returned payout.
 */
export const POSTING_KINDS = [
  'card_funding',
  'card_withdrawal',
  'suspense_assigned',
  'suspense_returned',
  'journal_reversal',
  'opening_balance',
  'payment_adjustment',
  'exception_settled',
  'exception_written_off',
  'advance_repaid',
  'advance_written_off',
  'merchant_refund',
  'merchant_refund_failed',
  'dispute_won',
  'notice_assigned',
  'payout_failed',
  'card_load',
] as const
export type PostingKind = (typeof POSTING_KINDS)[number]

/** What a decision moves on the word of the person who commands it: nothing that a signed message says, and no repeat. */
export interface Posting {
  readonly kind: PostingKind
  readonly amountPaise: bigint
  /** What names it once: the bank's reference, the journal to be reversed, the refund, dispute or notice. */
  readonly reference: string
  /** What it is of, by name: the second person approves this, and it is posted while the decision says the same. */
  readonly facts: Readonly<Record<string, string | null>>
  readonly reason: string
  readonly journalId: string
  /** What one person moved of the same object before, however long ago. */
  readonly beforePaise?: bigint | undefined
  /** It makes something possible again that was done already: a second person at any amount. */
  readonly isUndo?: boolean | undefined
}
