import { formatRupees } from '@svc/kernel/money'
import { Type } from 'typebox'
import { type Journal, movedBy } from '../../ledger/journals.ts'
import { PLATFORM_TENANT } from '../../tenants/tenant.ts'
import { type SettlementBatch, SettlementRecord, settlementBatchToWire } from './batch.ts'
import { type Moved, type PostingOf, RAIL_BOOKS, settlementPosting } from './postings.ts'

/** What a transfer has moved of a tenant, with what was taken back of it; above zero it was money to us. */
export interface MovedOfBatch extends Omit<Moved, 'objectId'> {
  readonly tenantId: string
  /** Of a tenant's claims on the bank or network, the journal that moved them. */
  readonly journalId: string | null
}

export interface TakingBack extends Pick<PostingOf, 'at' | 'valueDate' | 'transferId'> {
  readonly batch: SettlementBatch
  readonly atOf: (tenantId: string) => Date
  readonly reason: string
}

/** Its journals are numbered from the second time on. */
export const takenBackReference = ({ batchId, takenBack }: SettlementBatch): string =>
  takenBack > 1 ? `${batchId}~${takenBack}` : batchId

const backOf = ({ kind, amountPaise }: MovedOfBatch): Moved => ({ kind, amountPaise: 0n - amountPaise })

/**
 * What a transfer has moved, the other way round: the whole first, of the platform, which one person or two decide; then
 * shares of the tenants, each against the journal that moved it, and the platform's of them all.
 */
export function takenBackJournals(
  moved: readonly MovedOfBatch[],
  { at, atOf, batch, reason, transferId, valueDate }: TakingBack,
): Journal[] {
  const { clearing } = RAIL_BOOKS[batch.rail]
  const post = (as: 'takenBack' | 'shared', tenantId: string, legs: readonly Moved[]) =>
    settlementPosting(
      {
        tenantId,
        rail: batch.rail,
        as,
        valueDate,
        batchId: batch.batchId,
        at: tenantId === PLATFORM_TENANT ? at : atOf(tenantId),
        transferId,
        reference: takenBackReference(batch),
      },
      legs,
    )
  const shares = new Map<string, Moved[]>([[PLATFORM_TENANT, []]])
  for (const each of moved.filter(({ kind }) => kind === clearing)) {
    const objectId = each.journalId ?? batch.batchId
    shares.set(each.tenantId, [...(shares.get(each.tenantId) ?? []), { ...backOf(each), objectId }])
    shares.get(PLATFORM_TENANT)!.push({ kind: each.kind, amountPaise: each.amountPaise })
  }
  return [
    post('takenBack', PLATFORM_TENANT, moved.map(backOf)),
    ...[...shares].map(([tenantId, legs]) => post('shared', tenantId, legs)),
  ].flatMap((journal) => (journal ? [{ ...journal, reason }] : []))
}

/** The journal of the whole, and what its legs add up to; `undefined` where nothing was left to move. */
export interface TakenBackWhole {
  readonly journalId: string
  readonly amountPaise: bigint
}

export const wholeOf = ([whole]: readonly Journal[]): TakenBackWhole | undefined =>
  whole && {
    journalId: whole.journalId,
    amountPaise: movedBy(whole),
  }

/** A transfer that was taken back, as operators see it. */
export const TakenBackRecord = Type.Object({
  ...SettlementRecord.properties,
  amount: Type.String({
    description: 'Rupees with two decimals: what came in and what went out by it, added up',
  }),
  journalId: Type.Union([Type.String(), Type.Null()], { description: 'The journal of the whole' }),
  isRepeat: Type.Boolean({ description: 'It was taken back before: nothing was posted' }),
})

const NONE = { lines: 0, matched: 0, unmatched: 0 }

export const takenBackToWire = (
  batch: SettlementBatch,
  whole: TakenBackWhole | undefined,
  isRepeat: boolean,
) => ({
  ...settlementBatchToWire(batch, NONE),
  amount: formatRupees(whole?.amountPaise ?? 0n),
  journalId: whole?.journalId ?? null,
  isRepeat,
})
