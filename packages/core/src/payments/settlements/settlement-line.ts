import {
  day,
  instant,
  integer,
  nullable,
  paise,
  type RowOf,
  table,
  text,
  textOf,
  texts,
} from '@svc/platform/db/table'

/**
 * `MATCHED`: the payment of this reference and amount is here, and its money in the ledger's bank account. `DIFFERS`: the
 * payment has another amount. `UNKNOWN`: no payment has this reference.
 */
export type SettlementStatus = 'MATCHED' | 'DIFFERS' | 'UNKNOWN'

/** Credits that the bank has paid us, one line of its transfers each. */
export const settlementLines = table('settlement_lines', 'l', ['tenantId', 'utr'], {
  tenantId: text,
  /** The bank's reference, in its canonical form. */
  utr: text,
  fileId: text,
  /** Where it stands in the file; the first line of a file is 1. */
  line: integer,
  amountPaise: paise,
  settledOn: day,
  status: textOf<SettlementStatus>(),
  paymentId: nullable(text),
  /** The journal that took its amount from the clearing account to the bank account. */
  journalId: nullable(text),
  /** Places of the lines that it has taken the place of: imported again, they change nothing (decision Q18). */
  superseded: texts<string>(),
  /** The transfer of the bank that it belongs to; `null`: recorded before transfers were. */
  batchId: nullable(text),
  /** The journal of the platform that has its money as long as it fits no payment. */
  unmatchedJournalId: nullable(text),
  recordedAt: instant,
})
export type SettlementLine = RowOf<typeof settlementLines>

/** A line as the bank's file has it. */
export type FileLine = Pick<SettlementLine, 'utr' | 'line' | 'amountPaise' | 'settledOn'>
