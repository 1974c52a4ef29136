import { lastOfEach } from '@svc/kernel/by-tenant'
import type { OutboxEvent } from '@svc/platform/outbox'
import type { Journal } from '../../ledger/journals.ts'
import { PLATFORM_TENANT } from '../../tenants/tenant.ts'
import { type CodeFacts, type Payment, paymentRecordToWire } from '../payment.ts'
import type { Known, KnownLines, LinesOfTenant } from './known-lines.ts'
import { type PostingOf, settlementPosting } from './postings.ts'
import { placeOf, settlementReversal } from './settlement-journals.ts'
import type { FileLine, SettlementLine } from './settlement-line.ts'
import {
  type PlacedLine,
  type PreviousLine,
  type SortedFor,
  sortLines,
  statusOf,
} from './sort-settlement-lines.ts'

/** What settling needs of its transfer: which it is, and ids. */
export interface Settling extends SortedFor {
  readonly batchUtr: string
  readonly valueDate: string
  readonly at: Date
  readonly transferId: () => string
  readonly eventId: () => string
  readonly timeZone: string
  /** The journal of the platform for lines that fit nothing, which is made last. */
  readonly unmatchedJournalId: string
}

/** What becomes of the lines of payments of one tenant. */
export interface SettledPayments {
  readonly inserted: readonly SettlementLine[]
  readonly changed: readonly SettlementLine[]
  /** Lines of files that named no transfer. */
  readonly adopted: readonly Pick<SettlementLine, 'tenantId' | 'utr' | 'batchId'>[]
  /** The platform's lines whose money went to the tenant. */
  readonly freed: readonly Pick<SettlementLine, 'tenantId' | 'utr' | 'unmatchedJournalId'>[]
  /** What each of its new lines was taken for, before another one corrected it. */
  readonly said: readonly Pick<SettlementLine, 'status' | 'amountPaise' | 'utr' | 'line' | 'paymentId'>[]
  readonly conflicting: readonly FileLine[]
  readonly paidTwice: readonly FileLine[]
  readonly repeated: number
  /** What the platform has from now on for lines that fit nothing. */
  readonly unmatchedPaise: bigint
  /** Less what it had before, by the transfer whose journal it was in. */
  readonly freedPaise: ReadonlyMap<string, bigint>
  /** By how much the lines of the transfer add up to more. */
  readonly linesPaise: bigint
  readonly journals: readonly Journal[]
  readonly events: readonly OutboxEvent[]
}

/**
 * Settles what the bank has paid for one tenant's payments: of each line whose payment is known with this amount the money
 * goes from the clearing account to the bank account; of any other it is the platform's until it fits. A repeat changes
 * nothing; where the bank had paid another amount, a line with that of the payment takes the place of the first. A line that
 * fitted because the payment was adjusted differs again when the bank corrects it (decision Q18).
 */
export function settlePayments(
  { known, reversed }: KnownLines,
  { tenantId, lines }: LinesOfTenant,
  settling: Settling,
): SettledPayments {
  const { at, batchId, fileId, transferId } = settling
  const sorted = sortLines(lines, settling, known, reversed)
  const { fresh, corrected, reopened, conflicting, adopted, paidTwice } = sorted
  const matched = [...fresh, ...corrected].filter(
    (line) => statusOf(line, known.get(line.utr)?.payment) === 'MATCHED',
  )
  const journal = settlementPosting(
    {
      ...postingOf(settling),
      tenantId,
      as: 'settled',
      ...(matched[0] && { reference: placeOf({ ...matched[0], fileId }) }),
    },
    matched.map(({ amountPaise }) => ({ kind: 'upi_clearing', amountPaise })),
  )
  const record = (line: PlacedLine) =>
    recorded({ ...line, tenantId }, known.get(line.utr), settling, journal?.journalId)
  const said = [...fresh, ...corrected, ...reopened.map(({ line }) => line)].map(record)
  // Of lines of one file that correct each other the last one is recorded.
  const all = lastOfEach(
    said,
    () => '',
    ({ utr }) => utr,
  )
  const inserted = all.filter(({ utr }) => !known.get(utr)?.previous)
  const changed = all.filter(({ utr }) => known.get(utr)?.previous)
  return {
    inserted,
    changed,
    adopted: adopted.map(({ utr }) => ({ tenantId, utr, batchId })),
    freed: inserted.flatMap(({ utr }) =>
      known.get(utr)?.ofPlatform?.unmatchedJournalId
        ? [{ tenantId: PLATFORM_TENANT, utr, unmatchedJournalId: null }]
        : [],
    ),
    conflicting,
    paidTwice,
    said,
    repeated: lines.length - said.length - conflicting.length - paidTwice.length,
    ...unmatchedOf(all, known, settling.unmatchedJournalId),
    linesPaise: linesOf(all, adopted, { known, batchId }),
    journals: [
      ...(journal ? [journal] : []),
      ...reopened.map(({ previous }) =>
        settlementReversal(previous, { transferId: transferId(), tenantId, createdAt: at }),
      ),
    ],
    events: matched.map(({ utr }) => settledEvent(known.get(utr)!.payment!, settling, settling.eventId())),
  }
}

/** A line as it is recorded: with the journal that has its money, the tenant's or the platform's. */
function recorded(
  line: PlacedLine & { readonly tenantId: string },
  known: Known | undefined,
  { at, batchId, fileId, unmatchedJournalId }: Settling,
  journalId: string | undefined,
): SettlementLine {
  const status = statusOf(line, known?.payment)
  const isMatched = status === 'MATCHED'
  return {
    ...line,
    fileId,
    status,
    paymentId: known?.payment?.paymentId ?? null,
    journalId: isMatched ? (journalId ?? null) : null,
    batchId,
    unmatchedJournalId: isMatched ? null : (keptOf(line, known) ?? unmatchedJournalId),
    recordedAt: at,
  }
}

/** Of a line whose money is posted without a match already, the journal that posted it. */
const keptOf = ({ amountPaise }: FileLine, known: Known | undefined): string | null | undefined => {
  const before = known?.previous ?? known?.ofPlatform
  return before?.amountPaise === amountPaise && before.status !== 'MATCHED'
    ? before.unmatchedJournalId
    : undefined
}

/** What the platform gets and gives up for lines that fit nothing. */
function unmatchedOf(
  lines: readonly SettlementLine[],
  known: ReadonlyMap<string, Known>,
  journalId: string,
): Pick<SettledPayments, 'unmatchedPaise' | 'freedPaise'> {
  let unmatchedPaise = 0n
  const freedPaise = new Map<string, bigint>()
  for (const { utr, amountPaise, unmatchedJournalId } of lines) {
    const { previous, ofPlatform } = known.get(utr) ?? {}
    if (unmatchedJournalId === journalId) unmatchedPaise += amountPaise
    const before = previous ?? ofPlatform
    if (before?.unmatchedBatchId && unmatchedJournalId !== before.unmatchedJournalId)
      freedPaise.set(
        before.unmatchedBatchId,
        (freedPaise.get(before.unmatchedBatchId) ?? 0n) + before.amountPaise,
      )
  }
  return { unmatchedPaise, freedPaise }
}

/** By how much the lines of the transfer add up to more. */
function linesOf(
  lines: readonly SettlementLine[],
  adopted: readonly FileLine[],
  { known, batchId }: { readonly known: ReadonlyMap<string, Known>; readonly batchId: string },
): bigint {
  const before = (utr: string): PreviousLine | undefined =>
    known.get(utr)?.previous ?? known.get(utr)?.ofPlatform
  const earlier = (utr: string): bigint => {
    const line = before(utr)
    return line?.batchId === batchId ? line.amountPaise : 0n
  }
  const changed = lines.reduce((sum, { utr, amountPaise }) => sum + amountPaise - earlier(utr), 0n)
  return changed + adopted.reduce((sum, { amountPaise }) => sum + amountPaise, 0n)
}

export const postingOf = ({
  valueDate,
  batchId,
  at,
  transferId,
}: Settling): Omit<PostingOf, 'tenantId' | 'as'> => ({
  rail: 'upi',
  valueDate,
  batchId,
  at,
  transferId,
})

/** The merchant's money is with our bank. */
export const settledEvent = (
  payment: Payment & CodeFacts,
  {
    at,
    timeZone,
    batchUtr,
    isAwaited,
  }: Pick<Settling, 'at' | 'timeZone' | 'isAwaited'> & { readonly batchUtr?: string },
  eventId: string,
): OutboxEvent => ({
  eventId,
  tenantId: payment.merchantId,
  type: 'payment.settled',
  objectId: payment.paymentId,
  payload: { ...paymentRecordToWire(payment, timeZone), ...(isAwaited && { batchUtr }) },
  createdAt: at,
})

/** The transfer that had brought it was recorded by mistake. */
export const takenBackEvent = (...of: Parameters<typeof settledEvent>): OutboxEvent => ({
  ...settledEvent(...of),
  type: 'payment.settlement_reversed',
})
