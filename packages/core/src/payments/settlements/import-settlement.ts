import { formatRupees, type Paise, paise } from '@svc/kernel/money'
import type { Database } from '@svc/platform/db/database'
import { statement } from '@svc/platform/db/statement'
import type { LineKind } from '../../bank-files/file-format.ts'
import type { LineProblem } from '../../bank-files/line-reader.ts'
import { problemsToWire } from '../../bank-files/read-bank-file.ts'
import type { SettlementRow } from '../../bank-files/settlement-rows.ts'
import type { SettlementSummary } from '../../bank-files/settlement-summary.ts'
import { WaitingApproval } from '../../ledger/money-command.ts'
import {
  type BatchCounts,
  type BatchHead,
  type BatchLine,
  type SettlementBatch,
  type SettlementRail,
  settlementBatchToWire,
} from './batch.ts'
import type { RecordBatch, RecordedBatch } from './record-batch.ts'
import { LINES_A_CALL } from './settlement-notice.ts'

const SHOWN_MAX = 100

/** A line that is posted and waits for what it fits. */
export interface UnfittingLine {
  readonly batchUtr: string
  /** Where it stands in the file, of payments. */
  readonly line: number | null
  readonly kind: LineKind
  readonly reference: string | null
  readonly amountPaise: Paise
  /** What it is of is here, with another amount. */
  readonly differs: boolean
  /** The payment that has another amount. */
  readonly paymentId: string | null
}

/** A transfer whose lines from here on wait for a second person. */
export interface WaitingTransfer {
  readonly batchUtr: string
  readonly approvalId: string
  readonly amountPaise: bigint
}

/** What became of the lines of a file. */
export interface SettlementImport {
  readonly lines: number
  /** Lines of payments that were matched now, and their sum. */
  readonly matched: number
  readonly matchedPaise: bigint
  readonly differing: number
  readonly unknown: number
  /** Lines that were recorded before. */
  readonly repeated: number
  /** The first hundred lines that were recorded before with another amount. */
  readonly conflicting: readonly BatchLine[]
  /** The first hundred lines that fit nothing, or something of another amount. */
  readonly unfitting: readonly UnfittingLine[]
  readonly waiting: readonly WaitingTransfer[]
  /** How many journals are entered. */
  readonly journals: number
  /** The transfers, as they are now. */
  readonly batches: readonly SettlementBatch[]
  /** Of each transfer, what this import did or would do. */
  readonly done: ReadonlyMap<string, BatchCounts>
}

export interface FileOfTransfers {
  readonly rail: SettlementRail
  readonly fileId: string
  /** How many lines each transfer has in the file, and what they state of it. */
  readonly summary: Pick<SettlementSummary, 'linesOf' | 'statedOf'>
}

/** The transfer of a line; a file that names none has one for each day. */
function headOf(
  { batchUtr, settledOn }: SettlementRow,
  { rail, fileId, summary }: FileOfTransfers,
): BatchHead {
  const { netPaise, valueDate } = summary.statedOf(batchUtr)
  return {
    rail,
    batchUtr: batchUtr ?? `${fileId} ${settledOn}`,
    valueDate: valueDate ?? settledOn,
    isDayStated: valueDate !== undefined,
    netPaise,
    isAwaited: batchUtr !== undefined,
  }
}

const lineOf = ({ line, kind, reference, amountPaise, date, note }: SettlementRow): BatchLine => ({
  line,
  kind,
  reference,
  amountPaise,
  date,
  note,
})

/** Lines of a transfer that stand near each other in the file. */
interface Part {
  readonly head: BatchHead
  readonly lines: BatchLine[]
}

/**
 * Records the transfers of a settlement file, in bounded memory. Importing it again changes nothing but that lines are
 * matched whose payment, refund or dispute has become known meanwhile. A transfer that waits for a second person goes on with
 * the lines behind, if it has so many, once it is imported again.
 */
export async function importSettlement(
  record: (batch: RecordBatch) => Promise<RecordedBatch | WaitingApproval>,
  of: FileOfTransfers,
  rows: AsyncIterable<SettlementRow>,
): Promise<SettlementImport> {
  const sum = new ImportSum()
  const waiting = new Map<string, Part>()
  const done = new Map<string, number>()
  const recordAll = async (parts: readonly Part[]) => {
    for (const { head, lines } of parts) {
      if (sum.waits(head)) continue
      const recorded = (done.get(head.batchUtr) ?? 0) + lines.length
      done.set(head.batchUtr, recorded)
      const isLast = !head.isAwaited || recorded >= of.summary.linesOf(head.batchUtr)
      sum.add(head, await record({ ...head, fileId: of.fileId, lines, isLast }))
    }
  }
  let recording: Promise<void> = Promise.resolve()
  // One part after the other; meanwhile the next lines are read.
  const flush = async () => {
    const parts = [...waiting.values()]
    waiting.clear()
    await recording
    recording = recordAll(parts)
    recording.catch(() => undefined)
  }
  let held = 0
  try {
    for await (const row of rows) {
      const head = headOf(row, of)
      const part = waiting.get(head.batchUtr) ?? { head, lines: [] }
      waiting.set(head.batchUtr, part)
      part.lines.push(lineOf(row))
      if (++held < LINES_A_CALL) continue
      await flush()
      held = 0
    }
    await flush()
  } finally {
    await recording
  }
  return sum.result()
}

/** What each part of a file came to, added up. */
class ImportSum {
  readonly #counts = {
    lines: 0,
    matched: 0,
    matchedPaise: 0n,
    differing: 0,
    unknown: 0,
    repeated: 0,
    journals: 0,
  }
  readonly #conflicting: BatchLine[] = []
  readonly #unfitting: UnfittingLine[] = []
  readonly #batches = new Map<string, SettlementBatch>()
  readonly #done = new Map<string, BatchCounts>()
  readonly #waiting = new Map<string, WaitingTransfer>()

  waits = ({ batchUtr }: BatchHead): boolean => this.#waiting.has(batchUtr)

  add({ batchUtr }: BatchHead, outcome: RecordedBatch | WaitingApproval): void {
    if (!(outcome instanceof WaitingApproval)) return this.#add(outcome)
    const { amountPaise, approvalId } = outcome.approval
    this.#waiting.set(batchUtr, { batchUtr, approvalId, amountPaise })
  }

  #add({ batch, payments, others, conflicting, journals, repeated }: RecordedBatch): void {
    const counts = this.#counts
    this.#batches.set(batch.batchId, batch)
    for (const { said } of payments) {
      const matched = said.filter(({ status }) => status === 'MATCHED')
      counts.lines += said.length
      counts.matched += matched.length
      counts.matchedPaise += matched.reduce((total, { amountPaise }) => total + amountPaise, 0n)
      counts.differing += said.filter(({ status }) => status === 'DIFFERS').length
      counts.unknown += said.filter(({ status }) => status === 'UNKNOWN').length
    }
    const rows = [...others.inserted, ...others.changed]
    counts.lines += rows.length + conflicting.length + repeated
    counts.unknown += rows.filter(({ status }) => status === 'UNMATCHED').length
    counts.repeated += repeated
    counts.journals += journals.length
    this.#count(batch.batchId, [...payments.flatMap(({ said }) => said), ...rows])
    this.#conflicting.push(...conflicting.slice(0, SHOWN_MAX - this.#conflicting.length))
    const ofOthers = rows.filter(({ status }) => status === 'UNMATCHED')
    const unfitting = [
      ...unfittingPayments(payments),
      ...ofOthers.map((row) => ({ ...row, line: null, paymentId: null })),
    ]
    for (const { status, ...line } of unfitting.slice(0, SHOWN_MAX - this.#unfitting.length)) {
      const { amountPaise, kind, paymentId, reference } = line
      this.#unfitting.push({
        batchUtr: batch.batchUtr,
        line: line.line,
        kind,
        reference,
        amountPaise,
        differs: status === 'DIFFERS',
        paymentId,
      })
    }
  }

  #count(batchId: string, made: readonly { readonly status: string }[]): void {
    const { lines, matched, unmatched } = this.#done.get(batchId) ?? { lines: 0, matched: 0, unmatched: 0 }
    const fitting = made.filter(({ status }) => status === 'MATCHED' || status === 'POSTED').length
    this.#done.set(batchId, {
      lines: lines + made.length,
      matched: matched + fitting,
      unmatched: unmatched + made.length - fitting,
    })
  }

  result(): SettlementImport {
    const batches = [...this.#batches.values()]
    return {
      ...this.#counts,
      conflicting: this.#conflicting,
      unfitting: this.#unfitting,
      waiting: [...this.#waiting.values()],
      batches,
      done: this.#done,
    }
  }
}

const unfittingPayments = (payments: RecordedBatch['payments']) =>
  payments
    .flatMap(({ said }) => said)
    .filter(({ status }) => status !== 'MATCHED')
    .map((line) => ({ ...line, kind: 'payment' as const, reference: line.utr }))

const COUNTS = statement<{ lines: bigint; matched: bigint; unmatched: bigint }>(
  'directory_settlement_batch',
  'select * from directory_settlement_batch($1)',
)

/** How many lines a transfer has, and what they are. */
export async function countBatch(database: Database, batchId: string): Promise<BatchCounts> {
  const [row] = await database.directory(COUNTS, [batchId])
  return { lines: Number(row!.lines), matched: Number(row!.matched), unmatched: Number(row!.unmatched) }
}

/** A file of transfers, what became of it, and how each transfer is now. */
export interface ImportedSettlement {
  readonly fileId: string
  readonly done: SettlementImport
  readonly batches: readonly (readonly [SettlementBatch, BatchCounts])[]
  readonly read: {
    readonly skipped: number
    readonly unreadable: number
    readonly problems: readonly LineProblem[]
  }
}

/** As operators see it. */
export const importedSettlementToWire = ({ fileId, done, batches, read }: ImportedSettlement) => ({
  fileId,
  lines: done.lines,
  matched: done.matched,
  differing: done.differing,
  unknown: done.unknown,
  repeated: done.repeated,
  conflicting: done.conflicting.length,
  matchedAmount: formatRupees(done.matchedPaise),
  skipped: read.skipped,
  unreadable: read.unreadable,
  batches: batches.map(([batch, of]) => settlementBatchToWire(batch, of)),
  waiting: done.waiting.map(({ amountPaise, ...transfer }) => ({
    ...transfer,
    amount: formatRupees(paise(amountPaise)),
  })),
  problems: problemsToWire(read.problems),
})
