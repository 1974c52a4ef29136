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

/** What was posted for lines: by the platform, and by tenants. */
interface Posted {
  readonly charged: Journal | undefined
  readonly unmatched: Journal | undefined
  readonly matched: Journal | undefined
  readonly ofTenants: ReadonlyMap<string, Journal | undefined>
}

const isChargeOf = ({ rail }: SettlingDocuments, { line }: Placed): boolean =>
  RAIL_BOOKS[rail].charges[line.kind] !== undefined

function journalsOf(todo: readonly Placed[], of: SettlingDocuments): Posted {
  const { charges, clearing, unmatched } = RAIL_BOOKS[of.rail]
  const post = (as: PostingOf['as'], tenantId: string, moved: Parameters<typeof settlementPosting>[1]) =>
    settlementPosting({ ...of, as, tenantId, at: of.atOf(tenantId) }, moved)
  const isCharge = (each: Placed) => isChargeOf(of, each)
  const charged = todo.filter(isCharge)
  const loose = todo.filter((each) => !each.fit && !isCharge(each))
  const freed = todo.flatMap(({ before }) => before ?? [])
  const fitting = groupBy(
    todo.filter(({ fit }) => fit),
    ({ fit }) => fit!.tenantId,
  )
  return {
    charged: post(
      'charged',
      PLATFORM_TENANT,
      charged.map(({ line }) => ({ kind: charges[line.kind]!, amountPaise: line.amountPaise })),
    ),
    unmatched: post(
      'unmatched',
      PLATFORM_TENANT,
      loose.map(({ line }) => ({ kind: unmatched, amountPaise: line.amountPaise })),
    ),
    matched: post(
      'matched',
      PLATFORM_TENANT,
      freed.map(({ amountPaise }) => ({ kind: unmatched, amountPaise: 0n - amountPaise })),
    ),
    ofTenants: new Map(
      [...fitting].map(([tenantId, its]) => {
        const moved = its.map(({ line }) => ({ kind: clearing, amountPaise: line.amountPaise }))
        return [tenantId, post('settled', tenantId, moved)]
      }),
    ),
  }
}

function rowOf(each: Placed, posted: Posted, of: SettlingDocuments): BatchLineRow {
  const { line, key, before, fit } = each
  const isCharge = isChargeOf(of, each)
  const first = isCharge ? posted.charged : posted.unmatched
  return {
    tenantId: PLATFORM_TENANT,
    batchId: of.batchId,
    lineKey: key,
    kind: line.kind,
    reference: line.reference ?? null,
    amountPaise: line.amountPaise,
    occurredOn: line.date ?? null,
    note: line.note ?? null,
    status: fit ? 'MATCHED' : isCharge ? 'POSTED' : 'UNMATCHED',
    ofTenant: fit?.tenantId ?? null,
    documentId: fit?.documentId ?? null,
    journalId: before?.journalId ?? (fit ? null : (first?.journalId ?? null)),
    matchedJournalId: fit ? (posted.ofTenants.get(fit.tenantId)?.journalId ?? null) : null,
    recordedAt: before?.recordedAt ?? of.at,
  }
}

function posted(
  todo: readonly Placed[],
  of: SettlingDocuments,
): Omit<SettledDocuments, 'conflicting' | 'repeated'> {
  const made = journalsOf(todo, of)
  const rowsOf = (some: readonly Placed[]) => some.map((each) => rowOf(each, made, of))
  const all = [made.charged, made.unmatched, made.matched, ...made.ofTenants.values()]
  return {
    inserted: rowsOf(todo.filter(({ before }) => !before)),
    changed: rowsOf(todo.filter(({ before }) => before)),
    linesPaise: todo.reduce(
      (sum, { line, before }) => sum + line.amountPaise - (before?.amountPaise ?? 0n),
      0n,
    ),
    journals: all.flatMap((journal) => journal ?? []),
  }
}
