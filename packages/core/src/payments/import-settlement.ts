import { groupBy } from '@svc/kernel/group-by'
import type { Paise } from '@svc/kernel/money'
import type { Database, Tx } from '@svc/platform/db/database'
import { statement } from '@svc/platform/db/statement'
import { PLATFORM_TENANT } from '../tenants/tenant.ts'
import { knownLines, type RecordSettlement } from './record-settlement.ts'
import type { FileLine, SettlementLine, SettlementStatus } from './settlement-line.ts'
import { sortLines, statusOf } from './sort-settlement-lines.ts'

const OWNERS = statement<{ utr: string; tenant_id: string }>(
  'settlement_owners',
  'select utr, tenant_id from directory_credits($1)',
)

const LINES_A_CHUNK = 1_000

export interface SettlementImport {
  readonly fileId: string
  readonly lines: number
  readonly matched: number
  /** The sum of the lines that were matched now. */
  readonly matchedPaise: bigint
  readonly differing: number
  readonly unknown: number
  /** Lines that were recorded before. */
  readonly repeated: number
  /** The first hundred lines whose reference was recorded before with another amount. */
  readonly conflicting: readonly FileLine[]
}

type Counted = Pick<SettlementLine, 'status' | 'amountPaise'>

/** What becomes of the lines of one tenant. */
interface SortedFile {
  readonly lines: readonly Counted[]
  readonly corrected: readonly Counted[]
  readonly reopened: readonly unknown[]
  readonly repeated: number
  readonly conflicting: readonly FileLine[]
}

interface Importing {
  readonly database: Database
  /** Records lines, or only finds out what would be done. */
  readonly record: (file: RecordSettlement) => Promise<SortedFile>
}

/** What recording would do, without doing it. */
export const previewOf =
  (database: Database) =>
  async (file: RecordSettlement): Promise<SortedFile> => {
    const { tenantId, fileId, lines } = file
    const state = await database.operate((tx) => knownLines(tx, [file]))
    const { known, reversed } = state.of(tenantId)
    const { fresh, corrected, reopened, conflicting } = sortLines(lines, fileId, known, reversed)
    const counted = (line: FileLine): Counted => ({
      status: statusOf(line, known.get(line.utr)?.payment),
      amountPaise: line.amountPaise,
    })
    const others = fresh.length + corrected.length + reopened.length + conflicting.length
    return {
      lines: fresh.map(counted),
      corrected: corrected.map(counted),
      reopened,
      repeated: lines.length - others,
      conflicting,
    }
  }

/**
 * Records a settlement file of the bank, line by line in bounded memory. Importing it again changes nothing but that lines
 * are matched whose payment has become known meanwhile.
 */
export async function importSettlement(
  { database, record }: Importing,
  fileId: string,
  lines: AsyncIterable<FileLine>,
): Promise<SettlementImport> {
  const sum = { matched: 0, matchedPaise: 0n, differing: 0, unknown: 0, repeated: 0, lines: 0 }
  const conflicting: FileLine[] = []
  const recordChunk = async (chunk: readonly FileLine[]) => {
    const owners = await database.directory(OWNERS, [chunk.map(({ utr }) => utr)])
    const ownerOf = new Map(owners.map((row) => [row.utr, row.tenant_id]))
    const ofTenants = groupBy(chunk, ({ utr }) => ownerOf.get(utr) ?? PLATFORM_TENANT)
    const recorded = await Promise.all(
      [...ofTenants].map(([tenantId, its]) => record({ tenantId, fileId, lines: its })),
    )
    for (const each of recorded) {
      const of = (status: SettlementStatus) =>
        [...each.lines, ...each.corrected].filter((line) => line.status === status)
      sum.matched += of('MATCHED').length
      sum.matchedPaise += of('MATCHED').reduce((total, { amountPaise }) => total + amountPaise, 0n)
      sum.differing += of('DIFFERS').length + each.reopened.length
      sum.unknown += of('UNKNOWN').length
      sum.repeated += each.repeated
      conflicting.push(...each.conflicting.slice(0, 100 - conflicting.length))
    }
    sum.lines += chunk.length
  }
  let chunk: FileLine[] = []
  for await (const line of lines) {
    chunk.push(line)
    if (chunk.length < LINES_A_CHUNK) continue
    await recordChunk(chunk)
    chunk = []
  }
  if (chunk.length > 0) await recordChunk(chunk)
  return { fileId, ...sum, conflicting }
}

/**
 * `unknown`: the bank paid, and no payment is here. `differs`: both have it, with other amounts. `missing`: a payment
 * is here, and the bank has not paid.
 */
export type DifferenceKind = 'unknown' | 'differs' | 'missing'

export interface SettlementDifference {
  readonly kind: DifferenceKind
  readonly utr: string
  readonly tenantId: string
  readonly paymentId: string | null
  readonly bankPaise: Paise | null
  readonly paymentPaise: Paise | null
  /** When the line was recorded or the payment was notified. */
  readonly since: Date
}

const DIFFERENCES = statement<SettlementDifference>(
  'settlement_differences',
  `select case l.status when 'UNKNOWN' then 'unknown' else 'differs' end as kind, l.utr, l.tenant_id as "tenantId",
     l.payment_id as "paymentId", l.amount_paise as "bankPaise", p.amount_paise + p.adjusted_paise as "paymentPaise", l.recorded_at as since
   from settlement_lines l
     left join payments p on p.merchant_id = l.tenant_id and p.payment_id = l.payment_id
   where l.status <> 'MATCHED' and not exists (
     select from settlement_lines m
     where m.utr = l.utr and (m.status = 'MATCHED' or l.status = 'UNKNOWN' and m.status <> 'UNKNOWN'))
   union all
   select 'missing', p.utr, p.merchant_id, p.payment_id, null, p.amount_paise + p.adjusted_paise, p.created_at
   from payments p
   where p.created_at < $1 and p.assigned_from is null and not exists (
     select from settlement_lines l where l.tenant_id = p.merchant_id and l.utr = p.utr)
   order by since desc, utr limit $2`,
)

/** What does not fit between payments and the bank's settlement files; payments count as missing from `before` back. */
export const settlementDifferences = (tx: Tx, before: Date, most: number): Promise<SettlementDifference[]> =>
  tx.query(DIFFERENCES, [before, most])
