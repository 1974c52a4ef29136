import { formatRupees, type Paise, paise } from '@svc/kernel/money'
import type { Tx } from '@svc/platform/db/database'
import { statement } from '@svc/platform/db/statement'
import { PLATFORM_TENANT } from '../../tenants/tenant.ts'
import {
  type BatchCounts,
  batchToWire,
  type SettlementBatch,
  type SettlementRail,
  settlementBatches,
} from './batch.ts'

/** A transfer as operators see it. */
export const settlementBatchToWire = (batch: SettlementBatch, counts: BatchCounts) => ({
  ...batchToWire(batch, counts),
  rail: batch.rail,
  valueDate: batch.valueDate,
  netAmount: formatRupees(batch.netPaise ?? paise(batch.linesPaise)),
})

const LIST = statement<SettlementBatch & { lines: bigint; matched: bigint; unmatched: bigint }>(
  'settlement_batches_list',
  `select ${settlementBatches.columns}, c.lines, c.matched, c.unmatched
   from settlement_batches b cross join lateral directory_settlement_batch(b.batch_id) c
   where b.tenant_id = '${PLATFORM_TENANT}' and ($1::text is null or b.status = $1) and b.is_awaited
     and ($2::text is null or b.rail = $2)
   order by b.value_date desc, b.batch_id limit $3`,
)
const FIND = statement<SettlementBatch>(
  'settlement_batch_find',
  `select ${settlementBatches.columns} from settlement_batches b
   where b.tenant_id = '${PLATFORM_TENANT}' and (b.batch_id = $1 or b.batch_utr = $1) order by b.rail limit 1`,
)
const LINES = statement<SettlementBatchLine>(
  'settlement_batch_lines_list',
  `select l.kind, l.reference, l.amount_paise as "amountPaise", l.status, l.of_tenant as "tenantId",
     l.document_id as "documentId"
   from settlement_batch_lines l where l.tenant_id = '${PLATFORM_TENANT}' and l.batch_id = $1
   union all
   select 'payment', s.utr, s.amount_paise, s.status, nullif(s.tenant_id, '${PLATFORM_TENANT}'), s.payment_id
   from settlement_lines s where s.batch_id = $1
     and (s.tenant_id <> '${PLATFORM_TENANT}' or s.status <> 'UNKNOWN' or s.unmatched_journal_id is not null)
   order by 1, 2 limit $2`,
)

/** A line of a transfer, of whichever kind. */
export interface SettlementBatchLine {
  readonly kind: string
  readonly reference: string | null
  readonly amountPaise: Paise
  readonly status: string
  readonly tenantId: string | null
  readonly documentId: string | null
}

export interface BatchesWanted {
  readonly status?: string | undefined
  readonly rail?: SettlementRail | undefined
  readonly limit: number
}

/** For operators: transfers that name themselves, newest first, as records. */
export async function listBatches(tx: Tx, { status, rail, limit }: BatchesWanted) {
  const found = await tx.query(LIST, [status ?? null, rail ?? null, limit])
  return found.map(({ lines, matched, unmatched, ...batch }) =>
    settlementBatchToWire(batch, {
      lines: Number(lines),
      matched: Number(matched),
      unmatched: Number(unmatched),
    }),
  )
}

/** For operators: a transfer by its id or reference. */
export const findBatch = async (tx: Tx, idOrUtr: string): Promise<SettlementBatch | undefined> =>
  (await tx.query(FIND, [idOrUtr]))[0]

/** Lines of a transfer, at most so many. */
export const linesOfBatch = (tx: Tx, batchId: string, most: number): Promise<SettlementBatchLine[]> =>
  tx.query(LINES, [batchId, most])

export const batchLineToWire = ({ amountPaise, ...line }: SettlementBatchLine) => ({
  ...line,
  reference: line.reference ?? '',
  tenantId: line.tenantId ?? '',
  documentId: line.documentId ?? '',
  amount: formatRupees(amountPaise),
})
