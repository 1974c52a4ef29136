import {
  BATCH_STATUSES,
  type BatchCounts,
  SETTLEMENT_RAILS,
  type SettlementBatch,
  SettlementRecord,
  settlementBatches,
  settlementBatchToWire,
} from '@svc/core/payments/settlements/batch'
import type { SettlementLine } from '@svc/core/payments/settlements/settlement-line'
import { PLATFORM_TENANT } from '@svc/core/tenants/tenant'
import { canonicalReference } from '@svc/kernel/bank-reference'
import { formatRupees, type Paise } from '@svc/kernel/money'
import { rfc3339 } from '@svc/kernel/time'
import { Type } from 'typebox'
import { readDay } from '../http/fields.ts'
import { choiceFilter, exactFilter, type Resource } from '../http/resource.ts'

/** A transfer with its counts, and the line of a bank statement that shows it. */
export interface ListedSettlement extends SettlementBatch {
  readonly lines: bigint
  readonly matched: bigint
  readonly unmatched: bigint
  readonly statementLineId: string | null
  readonly statementDate: string | null
  readonly statementPaise: Paise | null
}

const countsOf = ({ lines, matched, unmatched }: ListedSettlement): BatchCounts => ({
  lines: Number(lines),
  matched: Number(matched),
  unmatched: Number(unmatched),
})

/** Transfers of the bank and the card network that name themselves; operators alone read them (decision R25). */
export const settlement = {
  titles: { operator: 'Settlement' },
  record: {
    schema: SettlementRecord,
    toWire: (row) => settlementBatchToWire(row, countsOf(row)),
  },
  from: {
    columns: `${settlementBatches.columns}, c.lines, c.matched, c.unmatched, s.line_id as "statementLineId",
      s.booked_on::text as "statementDate", s.amount_paise as "statementPaise"`,
    table: `(select * from settlement_batches where tenant_id = '${PLATFORM_TENANT}' and is_awaited) b`,
    alias: 'b',
    joins: `cross join lateral directory_settlement_batch(b.batch_id) c
      left join statement_lines s on s.tenant_id = b.tenant_id and s.document_id = b.batch_id
        and s.purpose = case b.rail when 'upi' then 'merchant_escrow' else 'ppi_escrow' end`,
  },
  tenant: 'b.tenant_id',
  keys: [
    { sql: 'b.value_date', type: 'date' },
    { sql: 'b.batch_id', type: 'text' },
  ],
  fields: {
    createdOn: {
      schema: Type.String({ description: 'When its first line came' }),
      of: ({ createdAt }, timeZone) => rfc3339(createdAt, timeZone),
    },
    statementLineId: {
      schema: Type.Optional(Type.String({ description: 'The line of a bank statement that shows it' })),
      of: ({ statementLineId }) => statementLineId,
    },
    statementDate: {
      schema: Type.Optional(Type.String({ description: 'Day of that line, `YYYY-MM-DD`' })),
      of: ({ statementDate }) => statementDate,
    },
    statementAmount: {
      schema: Type.Optional(Type.String({ description: 'Rupees with two decimals, of that line' })),
      of: ({ statementPaise }) => (statementPaise === null ? undefined : formatRupees(statementPaise)),
    },
  },
  filters: {
    q: {
      schema: exactFilter('The bank’s reference of the transfer, in any case, or its id'),
      sql: (filters, q) => {
        if (q.startsWith('stb_')) filters.add('b.batch_id = ?', q)
        else filters.add('b.batch_utr = ?', canonicalReference(q))
      },
    },
    status: { schema: choiceFilter(BATCH_STATUSES), sql: 'b.status = ?' },
    rail: { schema: choiceFilter(SETTLEMENT_RAILS, 'Only of this rail'), sql: 'b.rail = ?' },
    valueDate: {
      schema: exactFilter('Only of this day, `YYYY-MM-DD`', 10),
      sql: (filters, day) => filters.add('b.value_date = ?::date', readDay('valueDate', day, 'query')),
    },
  },
} satisfies Resource<ListedSettlement>

/** A line of a transfer, of whichever kind. */
export interface ListedSettlementLine {
  readonly batchId: string
  readonly batchUtr: string
  readonly valueDate: string
  readonly kind: string
  readonly reference: string
  readonly amountPaise: Paise
  readonly status: 'UNMATCHED' | 'POSTED' | SettlementLine['status']
  readonly tenantId: string | null
  readonly tenantName: string | null
  readonly documentId: string | null
  readonly recordedAt: Date
}

const LINE_STATUSES = ['UNMATCHED', 'UNKNOWN', 'DIFFERS', 'MATCHED', 'POSTED'] as const

const LINES = `(
  select l.batch_id, l.line_key, l.kind, coalesce(l.reference, '') as reference, l.amount_paise, l.status, l.of_tenant,
    l.document_id, l.recorded_at
  from settlement_batch_lines l where l.tenant_id = '${PLATFORM_TENANT}'
  union all
  select p.batch_id, 'payment ' || p.tenant_id || ' ' || p.utr, 'payment', p.utr, p.amount_paise, p.status,
    nullif(p.tenant_id, '${PLATFORM_TENANT}'), p.payment_id, p.recorded_at
  from settlement_lines p
  where p.batch_id is not null
    and (p.tenant_id <> '${PLATFORM_TENANT}' or p.status <> 'UNKNOWN' or p.unmatched_journal_id is not null)) l`

/** Those that wait for a person. */
export const OPEN_LINES = `(select * from ${LINES} where l.status not in ('MATCHED', 'POSTED')) l`

const listedLine = {
  titles: { operator: 'TransferLine' },
  tenant: 'l.of_tenant',
  from: {
    alias: 'l',
    table: LINES,
    columns: `l.batch_id as "batchId", b.batch_utr as "batchUtr", b.value_date::text as "valueDate", l.kind, l.reference,
      l.amount_paise as "amountPaise", l.status, l.of_tenant as "tenantId", coalesce(m.name, r.name) as "tenantName",
      l.document_id as "documentId", l.recorded_at as "recordedAt"`,
    joins: `join settlement_batches b on b.tenant_id = '${PLATFORM_TENANT}' and b.batch_id = l.batch_id
      left join merchants m on m.merchant_id = l.of_tenant left join partners r on r.partner_id = l.of_tenant`,
  },
  fields: {
    kind: { schema: Type.String({ description: 'Kind of line, such as `refund`' }), of: ({ kind }) => kind },
    reference: {
      schema: Type.String({ description: 'The bank’s reference; empty of charges that name none' }),
      of: ({ reference }) => reference,
    },
    amount: {
      schema: Type.String({ description: 'Rupees with two decimals; above zero it is money to us' }),
      of: ({ amountPaise }) => formatRupees(amountPaise),
    },
    status: {
      schema: Type.Enum([...LINE_STATUSES], {
        description:
          '`UNKNOWN` and `UNMATCHED`: it fits nothing; `DIFFERS`: what it is of has another amount; `POSTED`: a charge, which needs no match',
      }),
      of: ({ status }) => status,
    },
    tenantId: {
      schema: Type.String({ description: 'Whose it is; empty where that is not known' }),
      of: ({ tenantId }) => tenantId ?? '',
    },
    tenantName: {
      schema: Type.Optional(Type.String({ description: 'Name of that merchant or partner' })),
      of: ({ tenantName }) => tenantName,
    },
    documentId: {
      schema: Type.String({ description: 'The payment, refund or dispute; empty where that is not known' }),
      of: ({ documentId }) => documentId ?? '',
    },
    batchId: { schema: Type.String(), of: ({ batchId }) => batchId },
    batchUtr: {
      schema: Type.String({ description: 'The bank’s reference of the transfer' }),
      of: ({ batchUtr }) => batchUtr,
    },
    valueDate: {
      schema: Type.String({ description: 'Day of the transfer, `YYYY-MM-DD`' }),
      of: ({ valueDate }) => valueDate,
    },
    recordedOn: {
      schema: Type.String({ description: 'When the line came' }),
      of: ({ recordedAt }, timeZone) => rfc3339(recordedAt, timeZone),
    },
  },
} satisfies Partial<Resource<ListedSettlementLine>>

/** The lines of one transfer, by kind and reference. */
export const settlementLine = {
  ...listedLine,
  keys: [{ sql: 'l.line_key', type: 'text' }],
  filters: {
    batchId: { schema: exactFilter('Of this transfer'), sql: 'l.batch_id = ?' },
    status: { schema: choiceFilter(LINE_STATUSES), sql: 'l.status = ?' },
  },
} satisfies Resource<ListedSettlementLine>

/** Lines of all transfers that fit nothing, or something of another amount, newest first. */
export const openSettlementLine = {
  ...listedLine,
  titles: { operator: 'OpenTransferLine' },
  from: {
    ...listedLine.from,
    table: OPEN_LINES,
  },
  keys: [
    { sql: 'l.recorded_at', type: 'timestamptz' },
    { sql: 'l.line_key', type: 'text' },
  ],
  filters: {
    reference: {
      schema: exactFilter('The bank’s reference, in any case'),
      sql: (filters, text) => filters.add('l.reference = ?', canonicalReference(text)),
    },
  },
} satisfies Resource<ListedSettlementLine>
