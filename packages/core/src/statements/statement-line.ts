import { formatRupees } from '@svc/kernel/money'
import { instantOfDay } from '@svc/kernel/time'
import {
  day,
  generated,
  instant,
  integer,
  nullable,
  paise,
  type RowOf,
  table,
  text,
  textOf,
} from '@svc/platform/db/table'
import { type Purpose } from './bank-account.ts'

export const LINE_STATUSES = ['UNMATCHED', 'MATCHED', 'DIFFERS', 'RESOLVED'] as const
export type LineStatus = (typeof LINE_STATUSES)[number]

/** What people find a line to be that fits nothing. */
export const RESOLUTIONS = ['charge', 'charge_gst', 'interest', 'suspense', 'exception', 'own_funds'] as const
export type Resolution = (typeof RESOLUTIONS)[number]

/** Files of banks, each imported once. */
export const bankStatements = table('bank_statements', 's', ['tenantId', 'statementId'], {
  tenantId: text,
  statementId: text,
  bankAccountId: text,
  openingPaise: paise,
  closingPaise: paise,
  /** The day that it ends with, and the place of its last line in that day. */
  through: nullable(day),
  lastPlace: integer,
  lines: integer,
  newLines: integer,
  importedBy: text,
  importedAt: instant,
})
export type BankStatement = RowOf<typeof bankStatements>

/** What banks say of our accounts, line by line. */
export const statementLines = table('statement_lines', 'l', ['tenantId', 'lineId'], {
  tenantId: text,
  lineId: text,
  bankAccountId: text,
  purpose: textOf<Purpose>(),
  statementId: text,
  bookedOn: day,
  /** 1, 2, 3 … within the day. */
  place: integer,
  /** Above zero it is money to us. */
  amountPaise: paise,
  /** Of the account, after the line. */
  balancePaise: paise,
  reference: text,
  narration: text,
  status: textOf<LineStatus>(),
  /** The movement in the books that it is. */
  documentId: nullable(text),
  /** What was posted because of it, and in whose books. */
  journalId: nullable(text),
  journalTenant: nullable(text),
  resolvedAs: generated(nullable(textOf<Resolution>())),
  /** Who is to find out what it is. */
  owner: text,
  recordedAt: instant,
})
export type StatementLine = RowOf<typeof statementLines>

const DAY_MS = 86_400_000

/** Whole days from one business day to another. */
export const daysBetween = (from: string, to: string): number =>
  Math.max(
    0,
    Math.round((instantOfDay(to, 0, 'UTC').getTime() - instantOfDay(from, 0, 'UTC').getTime()) / DAY_MS),
  )

/** As operators see it. */
export const statementLineToWire = (line: StatementLine, today: string) => ({
  lineId: line.lineId,
  purpose: line.purpose,
  date: line.bookedOn,
  amount: formatRupees(line.amountPaise),
  reference: line.reference,
  status: line.status,
  documentId: line.documentId ?? '',
  journalId: line.journalId ?? '',
  ageDays: daysBetween(line.bookedOn, today),
  owner: line.owner,
  narration: line.narration,
})
