/** What a line of a payout is of. */
export const PAYOUT_LINE_KINDS = [
  'payment',
  'refund',
  'refund_failed',
  'dispute',
  'dispute_won',
  'opening_balance',
  'adjustment_up',
  'adjustment_down',
  'advance_settled',
  'advance_reopened',
  'fees_settled',
  'credit_note',
  'debit_note',
  'tds_certificate',
] as const
export type PayoutLineKind = (typeof PAYOUT_LINE_KINDS)[number]

/** Kinds that are neither payments nor refunds. */
export const ADJUSTING: ReadonlySet<PayoutLineKind> = new Set([
  'opening_balance',
  'adjustment_up',
  'adjustment_down',
  'advance_settled',
  'advance_reopened',
  'fees_settled',
  'credit_note',
  'debit_note',
  'tds_certificate',
])

/** Adjustments that take from what the merchant gets. */
export const ADJUSTING_DOWN: ReadonlySet<PayoutLineKind> = new Set([
  'adjustment_down',
  'advance_reopened',
  'debit_note',
])

/** Lines that take from what the merchant gets. */
export const TAKEN: ReadonlySet<PayoutLineKind> = new Set(['refund', 'dispute', ...ADJUSTING_DOWN])

/** SQL: whether the kind of a line, `l.kind`, is one of them. */
export const isOneOf = (kinds: Iterable<PayoutLineKind>): string =>
  `l.kind in (${[...kinds].map((kind) => `'${kind}'`).join(', ')})`

/** Kinds that give back what an earlier line repaid of an advance, or that was repaid outside. */
export const ADVANCING: ReadonlySet<PayoutLineKind> = new Set([
  'refund_failed',
  'dispute_won',
  'advance_settled',
])

/** Lines that name a journal. */
export const OF_JOURNALS: ReadonlySet<PayoutLineKind> = new Set([
  'opening_balance',
  'advance_settled',
  'advance_reopened',
  'fees_settled',
])

/** Lines that name a tax document. */
export const OF_DOCUMENTS: ReadonlySet<PayoutLineKind> = new Set(['credit_note', 'debit_note'])
