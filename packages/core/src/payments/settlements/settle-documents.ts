import { groupBy } from '@svc/kernel/group-by'
import type { Journal } from '../../ledger/journals.ts'
import { PLATFORM_TENANT } from '../../tenants/tenant.ts'
import type { BatchHead, BatchLine, BatchLineRow } from './batch.ts'
import { fitOf, type SettledDocument } from './documents.ts'
import { type PostingOf, RAIL_BOOKS, settlementPosting } from './postings.ts'

export interface KnownDocuments {
  /** Lines of the transfer that are recorded, by key. */
  readonly lines: ReadonlyMap<string, BatchLineRow>
  /** By reference, what lines may be of. */
  readonly documents: ReadonlyMap<string, readonly SettledDocument[]>
  /** What other lines have settled, by `settledKey`. */
  readonly settled: ReadonlySet<string>
}

export interface SettlingDocuments extends Pick<BatchHead, 'rail' | 'valueDate'> {
  readonly batchId: string
  readonly at: Date
  /** The same by the clock of a tenant. */
  readonly atOf: (tenantId: string) => Date
  readonly transferId: () => string
}

export interface SettledDocuments {
  readonly inserted: readonly BatchLineRow[]
  readonly changed: readonly BatchLineRow[]
  readonly conflicting: readonly BatchLine[]
  readonly repeated: number
  readonly linesPaise: bigint
  readonly journals: readonly Journal[]
}

/** A line is known by its kind and reference; charges without one by their number among those of the file. */
export function keysOf(lines: readonly BatchLine[]): Map<BatchLine, string> {
  const numbers = new Map<string, number>()
  return new Map(
    lines.map((line) => {
      const { kind, reference, date = '', note = '' } = line
      if (reference !== undefined) return [line, `${kind} ${reference}`]
      const of = `${kind} ${date} ${note}`
      const number = (numbers.get(of) ?? 0) + 1
      numbers.set(of, number)
      return [line, `${of} #${number}`]
    }),
  )
}

export const settledKey = ({ kind, documentId }: { kind: string; documentId: string | null }): string =>
  `${kind} ${documentId}`

/** A line with what it is of, if that is known. */
interface Placed {
  readonly line: BatchLine
  readonly key: string
  readonly before: BatchLineRow | undefined
  readonly fit: SettledDocument | undefined
}

/**
 * Posts lines that are no payments: charges at once, what settles a known document to its tenant, and the rest to the
 * platform until its document comes. A repeat changes nothing; another amount only replaces one that fitted nothing by one
 * that fits.
 */
export function settleDocuments(
  known: KnownDocuments,
  lines: readonly BatchLine[],
  of: SettlingDocuments,
): SettledDocuments {
  const keys = keysOf(lines)
  const settled = new Set(known.settled)
  const todo: Placed[] = []
  const conflicting: BatchLine[] = []
  const seen = new Set<string>()
  for (const line of lines) {
    const key = keys.get(line)!
    const before = known.lines.get(key)
    const documents = line.reference === undefined ? [] : known.documents.get(line.reference)
    const isFree = before === undefined || before.status === 'UNMATCHED'
    const fit = isFree
      ? fitOf(
          line,
          documents,
          (document) => document.kind !== 'adjustment' && settled.has(settledKey(document)),
        )
      : undefined
    const isOther = before !== undefined && before.amountPaise !== line.amountPaise
    if (seen.has(key) || (before && !fit)) {
      if (isOther) conflicting.push(line)
      continue
    }
    seen.add(key)
    if (fit) settled.add(settledKey(fit))
    todo.push({ line, key, before, fit })
  }
  return { ...posted(todo, of), conflicting, repeated: lines.length - todo.length - conflicting.length }
}

function posted(
  todo: readonly Placed[],
  of: SettlingDocuments,
): Omit<SettledDocuments, 'conflicting' | 'repeated'> {
  const { rail, batchId, at } = of
  const { charges, clearing, unmatched } = RAIL_BOOKS[rail]
  const isCharge = ({ line }: Placed) => charges[line.kind] !== undefined
  const post = (as: PostingOf['as'], tenantId: string, moved: Parameters<typeof settlementPosting>[1]) =>
    settlementPosting({ ...of, as, tenantId, at: of.atOf(tenantId) }, moved)
  const loose = todo.filter((each) => !each.fit && !isCharge(each))
  const journals = {
    charged: post(
      'charged',
      PLATFORM_TENANT,
      todo.filter(isCharge).map(({ line }) => ({ kind: charges[line.kind]!, amountPaise: line.amountPaise })),
    ),
    unmatched: post(
      'unmatched',
      PLATFORM_TENANT,
      loose.map(({ line }) => ({ kind: unmatched, amountPaise: line.amountPaise })),
    ),
    matched: post(
      'matched',
      PLATFORM_TENANT,
      todo.flatMap(({ before }) =>
        before ? [{ kind: unmatched, amountPaise: 0n - before.amountPaise }] : [],
      ),
    ),
  }
  const ofTenants = new Map(
    [
      ...groupBy(
        todo.filter(({ fit }) => fit),
        ({ fit }) => fit!.tenantId,
      ),
    ].map(([tenantId, its]) => [
      tenantId,
      post(
        'settled',
        tenantId,
        its.map(({ line }) => ({ kind: clearing, amountPaise: line.amountPaise })),
      ),
    ]),
  )
  const rowOf = (each: Placed): BatchLineRow => {
    const { line, key, before, fit } = each
    return {
      tenantId: PLATFORM_TENANT,
      batchId,
      lineKey: key,
      kind: line.kind,
      reference: line.reference ?? null,
      amountPaise: line.amountPaise,
      occurredOn: line.date ?? null,
      note: line.note ?? null,
      status: fit ? 'MATCHED' : isCharge(each) ? 'POSTED' : 'UNMATCHED',
      ofTenant: fit?.tenantId ?? null,
      documentId: fit?.documentId ?? null,
      journalId:
        before?.journalId ??
        (fit ? null : ((isCharge(each) ? journals.charged : journals.unmatched)?.journalId ?? null)),
      matchedJournalId: fit ? (ofTenants.get(fit.tenantId)?.journalId ?? null) : null,
      recordedAt: before?.recordedAt ?? at,
    }
  }
  return {
    inserted: todo.filter(({ before }) => !before).map(rowOf),
    changed: todo.filter(({ before }) => before).map(rowOf),
    linesPaise: todo.reduce(
      (sum, { line, before }) => sum + line.amountPaise - (before?.amountPaise ?? 0n),
      0n,
    ),
    journals: [...Object.values(journals), ...ofTenants.values()].flatMap((journal) => journal ?? []),
  }
}
