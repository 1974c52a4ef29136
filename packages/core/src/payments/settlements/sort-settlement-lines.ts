import type { Payment } from '../payment.ts'
import { correctedPaise } from '../payment.ts'
import { placeOf } from './settlement-journals.ts'
import type { FileLine, SettlementLine, SettlementStatus } from './settlement-line.ts'

export type PreviousLine = Pick<
  SettlementLine,
  'amountPaise' | 'status' | 'fileId' | 'line' | 'journalId' | 'superseded' | 'batchId' | 'unmatchedJournalId'
> & {
  /** Whose journal has its money as long as it fits no payment: a file's, where a transfer has taken the line over since. */
  readonly unmatchedBatchId: string | null
  /** Of a file that names no transfer: the transfer that has it too takes it over. */
  readonly isLoose: boolean
}

/** A line with the places of those that it takes the place of. */
export type PlacedLine = FileLine & Pick<SettlementLine, 'superseded'>

/** What is known of a reference: its payment, and the line that was recorded for it before. */
export interface KnownLine<P extends Payment = Payment> {
  readonly payment: P | undefined
  /** Whether what the payment amounts to was ever adjusted (decision Q18). */
  readonly isAdjusted: boolean
  readonly previous: PreviousLine | undefined
  /** The platform's line of it, from when no payment was known. */
  readonly ofPlatform?: PreviousLine | undefined
}

/** The transfer that lines are of. */
export interface SortedFor {
  readonly fileId: string
  readonly batchId: string
  readonly isAwaited: boolean
}

export interface Corrected {
  readonly line: PlacedLine
  readonly previous: PreviousLine
}

/** The lines of a file by what they are to those that were recorded before. */
export interface SortedLines {
  readonly fresh: readonly PlacedLine[]
  /** They correct one of another amount than the payment's, or one that was not here yet. */
  readonly corrected: readonly PlacedLine[]
  /** They correct one that fitted because the payment was adjusted: either may have been the mistake. */
  readonly reopened: readonly Corrected[]
  /** They contradict a previous one. */
  readonly conflicting: readonly FileLine[]
  /** Recorded before of a file that names no transfer; the transfer has them from now on. */
  readonly adopted: readonly FileLine[]
  /** Another transfer has paid them. */
  readonly paidTwice: readonly FileLine[]
}

export function statusOf({ amountPaise }: FileLine, payment: Payment | undefined): SettlementStatus {
  if (!payment) return 'UNKNOWN'
  return correctedPaise(payment) === amountPaise ? 'MATCHED' : 'DIFFERS'
}

type Superseded = Pick<SettlementLine, 'fileId' | 'line' | 'superseded'>

/** Every place of which a line says nothing any more, once this previous one is corrected. */
const supersededBy = (previous: Superseded | undefined): readonly string[] =>
  previous ? [...new Set([...previous.superseded, placeOf(previous)])] : []

/**
 * Lines that later ones have corrected count as recorded before. `reversed`: their places, where the settlement was taken
 * back; before version 0088 of the schema these alone were kept.
 */
export function sortLines(
  lines: readonly FileLine[],
  of: SortedFor,
  known: ReadonlyMap<string, KnownLine>,
  reversed: ReadonlySet<string>,
): SortedLines {
  const ofFile = new Map<string, Superseded & Pick<PreviousLine, 'amountPaise' | 'status'>>()
  const { fileId, isAwaited } = of
  const sorted = { fresh: [], corrected: [], reopened: [], conflicting: [], adopted: [], paidTwice: [] } as {
    fresh: PlacedLine[]
    corrected: PlacedLine[]
    reopened: Corrected[]
    conflicting: FileLine[]
    adopted: FileLine[]
    paidTwice: FileLine[]
  }
  for (const line of lines) {
    const { payment, isAdjusted = false, previous: recorded, ofPlatform } = known.get(line.utr) ?? {}
    const inFile = ofFile.get(line.utr)
    const previous = inFile ?? recorded
    const before = recorded ?? ofPlatform
    if (before && !inFile && !before.isLoose && before.batchId !== of.batchId) {
      if (isAwaited) sorted.paidTwice.push(line)
      else if (before.amountPaise !== line.amountPaise) sorted.conflicting.push(line)
      continue
    }
    const status = statusOf(line, payment)
    const isFound = previous?.status === 'UNKNOWN' && status !== 'UNKNOWN'
    if (previous?.amountPaise === line.amountPaise && !isFound) {
      if (isAwaited && recorded?.isLoose && recorded.batchId !== of.batchId && !inFile)
        sorted.adopted.push(line)
      continue
    }
    const place = placeOf({ fileId, line: line.line })
    if (previous && (reversed.has(place) || previous.superseded.includes(place))) continue
    const superseded = supersededBy(previous).filter((earlier) => earlier !== place)
    const placed = { ...line, superseded }
    if (!previous) sorted.fresh.push(placed)
    else if (isFound || (previous.status === 'DIFFERS' && status === 'MATCHED')) sorted.corrected.push(placed)
    else if (recorded?.status === 'MATCHED' && isAdjusted && !inFile)
      sorted.reopened.push({ line: placed, previous: recorded })
    else {
      sorted.conflicting.push(line)
      continue
    }
    ofFile.set(line.utr, { ...placed, fileId, status })
  }
  return sorted
}
