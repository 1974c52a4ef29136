/**
 * What persons post by hand, by the kind of their approvals. It is the kind of the journal where the database checks the
 * approval with it (decision R10); `notice_assigned` has the journal of any credit, `upi_credit`, `payout_failed` that of a
 * released or returned payout, and `settlement_recorded` all of a transfer that fits nothing here.
 */
export const POSTING_KINDS = [
  'card_funding',
  'card_withdrawal',
  'suspense_assigned',
  'suspense_returned',
  'suspense_unassigned',
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
  'dispute_lost',
  'notice_assigned',
  'payout_failed',
  'card_load',
  'card_reload',
  'card_unload',
  'statement_resolved',
  'settlement_recorded',
  'settlement_taken_back',
  'own_funds_swept',
  'gst_paid',
  'owner_paid',
  'escrow_paid',
  'own_funds_taken_back',
  'year_end',
  'tds_certified',
  'tds_refunded',
  'credit_note',
  'debit_note',
] as const
export type PostingKind = (typeof POSTING_KINDS)[number]

/** What a person does by each, for those who approve it and for the page of all ways by which money moves. */
export const POSTING_TITLES: Readonly<Record<PostingKind, string>> = {
  card_funding: 'Enter money that a partner paid in for a card account',
  card_withdrawal: 'Enter money of a card account that was paid back to its partner',
  suspense_assigned: 'Assign a credit in suspense to a merchant',
  suspense_returned: 'Return a credit in suspense to its payer',
  suspense_unassigned: 'Take back the assignment of a credit to a merchant',
  journal_reversal: 'Take back a posting by hand',
  opening_balance: 'Enter what an account was owed in the system before',
  payment_adjustment: 'Correct the amount of a payment',
  exception_settled:
    'Enter that an exception, fees, deducted tax or lines without a match were settled outside',
  exception_written_off: 'Write off what of these is given up',
  advance_repaid: 'Enter that a merchant repaid an advance',
  advance_written_off: 'Write an advance off',
  merchant_refund: 'Refund a payment on behalf of its merchant',
  merchant_refund_failed: 'Say that the bank could not make a refund, without a notice of it',
  dispute_won: 'Say that a dispute was won, without a notice of it',
  dispute_lost: 'Accept a dispute on behalf of its merchant, or say that it was lost, without a notice of it',
  notice_assigned: 'Record the credit that an operator reads in a notice in quarantine',
  payout_failed:
    'Say that the bank could not make a payout, or that its money came back, without a file of the bank',
  card_load: 'Issue a gift card on behalf of its partner',
  card_reload: 'Load a card on behalf of its partner',
  card_unload: 'Take money of a card back to its card account on behalf of its partner',
  statement_resolved: 'Say what a line of a bank statement is that fits nothing',
  settlement_recorded:
    'Record a transfer of the bank or the card network from a file, with charges or lines that fit nothing',
  settlement_taken_back: 'Take back a transfer of the bank or the card network that was recorded by mistake',
  own_funds_swept: 'Move fees and GST from the escrow of merchants to our account',
  gst_paid: 'Pay the GST of a month',
  owner_paid: 'Pay the owner, or enter capital of the owner',
  escrow_paid: 'Pay from our account into the escrow of merchants',
  own_funds_taken_back: 'Take back a movement of our own money that was entered by mistake',
  year_end: 'Close income and expenses of a financial year',
  tds_certified: 'Enter tax that a merchant deducted on our fees, which is payable to it',
  tds_refunded: 'Enter that the tax office refunded tax deducted on our fees',
  credit_note: 'Give fees of an invoice back to the merchant, with their tax',
  debit_note: 'Take a credit note back by a debit note',
}

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
