import { createHash } from 'node:crypto'
import { base32 } from '@svc/kernel/ids'
import { formatRupees, paise as inPaise, type Paise } from '@svc/kernel/money'
import {
  bigint,
  day,
  flag,
  instant,
  nullable,
  paise,
  type RowOf,
  smallint,
  table,
  text,
  textOf,
} from '@svc/platform/db/table'
import { Type } from 'typebox'
import { KINDS_OF_RAIL, type LineKind, type SettlementRail } from '../../bank-files/file-format.ts'

export type { SettlementRail }
export const SETTLEMENT_RAILS = Object.keys(KINDS_OF_RAIL) as readonly SettlementRail[]

/**
 * `INCOMPLETE`: its lines do not add up to its net amount yet. `POSTED`: they do. `CONFIRMED`: the bank's statement shows it;
 * `DIFFERS`: with another amount. `REVERSED`: it was taken back, and can be recorded again.
 */
export const BATCH_STATUSES = ['INCOMPLETE', 'POSTED', 'CONFIRMED', 'DIFFERS', 'REVERSED'] as const

/** Transfers of the bank and of the card network, the platform's (decision R25). */
export const settlementBatches = table('settlement_batches', 'b', ['tenantId', 'batchId'], {
  tenantId: text,
  batchId: text,
  rail: textOf<SettlementRail>(),
  batchUtr: text,
  valueDate: day,
  netPaise: nullable(paise),
  /** A statement will show it: not so of files with three columns, which name no transfer. */
  isAwaited: flag,
  status: textOf<(typeof BATCH_STATUSES)[number]>(),
  linesPaise: bigint,
  /** What of the net amount is in no line yet, as posted. */
  remainderPaise: bigint,
  /** How often it was taken back; the journals that did it are numbered with it. */
  takenBack: smallint,
  createdAt: instant,
})
export type SettlementBatch = RowOf<typeof settlementBatches>

/** `POSTED`: a charge, which needs no match. */
export type BatchLineStatus = 'UNMATCHED' | 'MATCHED' | 'POSTED'

/** Lines of transfers but for payments, which are `settlement_lines` of their merchants. */
export const batchLines = table('settlement_batch_lines', 'l', ['tenantId', 'batchId', 'lineKey'], {
  tenantId: text,
  batchId: text,
  lineKey: text,
  kind: textOf<LineKind>(),
  reference: nullable(text),
  amountPaise: paise,
  occurredOn: nullable(day),
  note: nullable(text),
  status: textOf<BatchLineStatus>(),
  ofTenant: nullable(text),
  documentId: nullable(text),
  journalId: nullable(text),
  matchedJournalId: nullable(text),
  recordedAt: instant,
})
export type BatchLineRow = RowOf<typeof batchLines>

/** The same transfer has the same id in each process. */
export const batchIdOf = (rail: SettlementRail, batchUtr: string): string =>
  `stb_${base32(createHash('sha256').update(`${rail}\n${batchUtr}`).digest().subarray(0, 16)).toLowerCase()}`

/** What is read of one line, whichever way it came; above zero it is money to us. */
export interface BatchLine {
  /** Where it stands in its file or message, from 1. */
  readonly line: number
  readonly kind: LineKind
  /** Absent of charges that name none. */
  readonly reference: string | undefined
  readonly amountPaise: Paise
  readonly date?: string | undefined
  readonly note?: string | undefined
}

/** What is said of a transfer as a whole. */
export interface BatchHead {
  readonly rail: SettlementRail
  readonly batchUtr: string
  readonly valueDate: string
  /** Otherwise the day is that of a line. */
  readonly isDayStated: boolean
  readonly netPaise: Paise | undefined
  readonly isAwaited: boolean
}

export interface BatchCounts {
  readonly lines: number
  readonly matched: number
  readonly unmatched: number
}

const Rupees = Type.String({ description: 'Rupees with two decimals', pattern: '^-?\\d+\\.\\d{2}$' })
export const BatchRecord = Type.Object({
  batchId: Type.String(),
  batchUtr: Type.String({ description: 'The bank’s reference of the transfer' }),
  status: Type.Enum([...BATCH_STATUSES]),
  lines: Type.Integer(),
  matched: Type.Integer({
    description: 'Lines whose payment, refund, dispute or message is here, and charges',
  }),
  unmatched: Type.Integer({ description: 'Lines that are posted and fit nothing yet' }),
  remainder: Rupees,
})

export const batchToWire = (
  { batchId, batchUtr, status, remainderPaise }: SettlementBatch,
  counts: BatchCounts,
) => ({
  batchId,
  batchUtr,
  status,
  lines: counts.lines,
  matched: counts.matched,
  unmatched: counts.unmatched,
  remainder: formatRupees(inPaise(remainderPaise)),
})

/** A transfer as operators see it, in files and in lists. */
export const SettlementRecord = Type.Object({
  ...BatchRecord.properties,
  rail: Type.Enum([...SETTLEMENT_RAILS]),
  valueDate: Type.String({ description: 'Day of the transfer, `YYYY-MM-DD`' }),
  netAmount: Rupees,
})

export const settlementBatchToWire = (batch: SettlementBatch, counts: BatchCounts) => ({
  ...batchToWire(batch, counts),
  rail: batch.rail,
  valueDate: batch.valueDate,
  netAmount: formatRupees(batch.netPaise ?? inPaise(batch.linesPaise)),
})
