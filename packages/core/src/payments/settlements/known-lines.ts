import { ByTenant, byTenant, idsByTenant } from '@svc/kernel/by-tenant'
import type { Paise } from '@svc/kernel/money'
import type { Tx } from '@svc/platform/db/database'
import { columns, statement } from '@svc/platform/db/statement'
import { PLATFORM_TENANT } from '../../tenants/tenant.ts'
import { CODE_FACTS, type CodeFacts, type Payment, payments } from '../payment.ts'
import { reversedPlaces } from './settlement-journals.ts'
import type { FileLine, SettlementStatus } from './settlement-line.ts'
import type { KnownLine, PreviousLine } from './sort-settlement-lines.ts'

/** Lines of payments of one tenant; the platform's where no payment is known. */
export interface LinesOfTenant {
  readonly tenantId: string
  readonly fileId: string
  readonly lines: readonly FileLine[]
}

export type SettledPayment = Payment & CodeFacts
export type Known = KnownLine<SettledPayment>

export interface KnownLines {
  /** By reference. */
  readonly known: Map<string, Known>
  /** Places of lines whose settlement was taken back when later ones corrected them. */
  readonly reversed: Set<string>
}

interface PreviousColumns {
  previousPaise: Paise | null
  previousStatus: SettlementStatus | null
  previousFile: string
  previousPlace: number
  previousJournal: string | null
  previousSuperseded: readonly string[]
  previousBatch: string | null
  previousUnmatched: string | null
  unmatchedBatch: string | null
  isLoose: boolean
}
/** Its reference and tenant, beside the columns of its payment and of its line, which are null where there is none. */
type KnownRow = SettledPayment &
  PreviousColumns & { lineTenant: string; lineUtr: string; isAdjusted: boolean }

const PREVIOUS = `l.amount_paise as "previousPaise", l.status as "previousStatus", l.file_id as "previousFile",
     l.line as "previousPlace", l.journal_id as "previousJournal", l.superseded as "previousSuperseded",
     l.batch_id as "previousBatch", l.unmatched_journal_id as "previousUnmatched", (
       select t.object_id from ledger_transfers t
       where t.tenant_id = '${PLATFORM_TENANT}' and t.journal_id = l.unmatched_journal_id limit 1) as "unmatchedBatch", not exists (
       select from settlement_batches b
       where b.tenant_id = '${PLATFORM_TENANT}' and b.batch_id = l.batch_id and b.is_awaited) as "isLoose"`

// By the reference first, whatever the planner knows of the table: a merchant has very many payments.
const KNOWN = statement<KnownRow>(
  'settlement_known',
  `select w.tenant_id as "lineTenant", w.utr as "lineUtr", ${PREVIOUS}, exists (
       select from payment_adjustments a
       where a.merchant_id = p.merchant_id and a.payment_id = p.payment_id) as "isAdjusted",
     ${payments.columns}, ${CODE_FACTS}
   from unnest($1::text[], $2::text[]) as w (tenant_id, utr)
     left join lateral (
       select * from payments p where p.utr = w.utr and p.assigned_from is null offset 0) p on p.merchant_id = w.tenant_id
     left join qr_codes q on q.merchant_id = p.merchant_id and q.qr_code_id = p.qr_code_id
     left join settlement_lines l on l.tenant_id = w.tenant_id and l.utr = w.utr`,
)
const OF_PLATFORM = statement<PreviousColumns & { lineUtr: string }>(
  'settlement_lines_of_platform',
  `select l.utr as "lineUtr", ${PREVIOUS} from settlement_lines l
   where l.tenant_id = '${PLATFORM_TENANT}' and l.utr = any ($1) and l.status = 'UNKNOWN'`,
)

/** What is known of the lines, by tenant. */
export async function knownLines(tx: Tx, files: readonly LinesOfTenant[]): Promise<ByTenant<KnownLines>> {
  const wanted = files.flatMap(({ tenantId, lines }) => lines.map(({ utr }) => ({ tenantId, utr })))
  const places = files.flatMap(({ tenantId, fileId, lines }) =>
    lines.map(({ line }) => ({ tenantId, fileId, line })),
  )
  const [rows, ofPlatform, reversed] = await Promise.all([
    tx.query(
      KNOWN,
      columns(
        wanted,
        ({ tenantId }) => tenantId,
        ({ utr }) => utr,
      ),
    ),
    tx.query(OF_PLATFORM, [wanted.map(({ utr }) => utr)]),
    reversedPlaces(tx, places),
  ])
  const platforms = new Map(ofPlatform.map((row) => [row.lineUtr, previousOf(row)]))
  const known = byTenant(
    rows,
    ({ lineTenant }) => lineTenant,
    ({ lineUtr }) => lineUtr,
    (row) => knownOf(row, row.lineTenant === PLATFORM_TENANT ? undefined : platforms.get(row.lineUtr)),
  )
  const placesOf = idsByTenant(
    reversed,
    ({ tenantId }) => tenantId,
    ({ place }) => place,
  )
  return new ByTenant((tenantId) => ({ known: known.of(tenantId), reversed: placesOf.of(tenantId) }))
}

const previousOf = (row: PreviousColumns): PreviousLine | undefined =>
  row.previousPaise && row.previousStatus
    ? {
        amountPaise: row.previousPaise,
        status: row.previousStatus,
        fileId: row.previousFile,
        line: row.previousPlace,
        journalId: row.previousJournal,
        superseded: row.previousSuperseded,
        batchId: row.previousBatch,
        unmatchedJournalId: row.previousUnmatched,
        unmatchedBatchId: row.unmatchedBatch,
        isLoose: row.isLoose,
      }
    : undefined

const knownOf = (row: KnownRow, ofPlatform: PreviousLine | undefined): Known => ({
  payment: (row.paymentId as string | null) === null ? undefined : row,
  isAdjusted: row.isAdjusted,
  previous: previousOf(row),
  ofPlatform,
})
