import type { Paise } from '@svc/kernel/money'
import type { Tx } from '@svc/platform/db/database'
import { statement } from '@svc/platform/db/statement'
import { PLATFORM_TENANT } from '../../tenants/tenant.ts'

/**
 * `unknown`: a line of the bank fits nothing here. `differs`: both have it, with other amounts. `missing`: a payment is here,
 * and the bank has not paid. `remainder`: what of a transfer is in none of its lines.
 */
export type DifferenceKind = 'unknown' | 'differs' | 'missing' | 'remainder'

export interface SettlementDifference {
  readonly kind: DifferenceKind
  /** The line's reference, or that of the transfer. */
  readonly utr: string
  readonly batchUtr: string | null
  readonly lineKind: string | null
  readonly tenantId: string
  readonly paymentId: string | null
  readonly bankPaise: Paise | null
  readonly paymentPaise: Paise | null
  /** When the line was recorded or the payment was notified. */
  readonly since: Date
}

/** SQL: whether a payment `p` is one that the bank has to settle and has not. */
export const NOT_SETTLED = `p.assigned_from is null and not exists (
     select from settlement_lines l where l.tenant_id = p.merchant_id and l.utr = p.utr)`

const DIFFERENCES = statement<SettlementDifference>(
  'settlement_differences',
  `select case l.status when 'UNKNOWN' then 'unknown' else 'differs' end as kind, l.utr, b.batch_utr as "batchUtr",
     'payment' as "lineKind", l.tenant_id as "tenantId", l.payment_id as "paymentId", l.amount_paise as "bankPaise", p.amount_paise + p.adjusted_paise as "paymentPaise", l.recorded_at as since
   from settlement_lines l
     left join payments p on p.merchant_id = l.tenant_id and p.payment_id = l.payment_id
     left join settlement_batches b on b.tenant_id = '${PLATFORM_TENANT}' and b.batch_id = l.batch_id and b.is_awaited
   where l.status <> 'MATCHED' and not exists (
     select from settlement_lines m
     where m.utr = l.utr and (m.status = 'MATCHED' or l.status = 'UNKNOWN' and m.status <> 'UNKNOWN'))
   union all
   select 'unknown', coalesce(l.reference, b.batch_utr), b.batch_utr, l.kind, l.tenant_id, null, l.amount_paise, null, l.recorded_at
   from settlement_batch_lines l join settlement_batches b using (tenant_id, batch_id) where l.status = 'UNMATCHED'
   union all
   select 'remainder', b.batch_utr, b.batch_utr, null, b.tenant_id, null, b.net_paise - b.lines_paise, null, b.created_at
   from settlement_batches b where b.status = 'INCOMPLETE'
   union all
   select 'missing', p.utr, null, null, p.merchant_id, p.payment_id, null, p.amount_paise + p.adjusted_paise, p.created_at
   from payments p
   where p.created_at < $1 and ${NOT_SETTLED}
   order by since desc, utr limit $2`,
)

/** What does not fit between what the bank's transfers say and what is here; payments count as missing from `before` back. */
export const settlementDifferences = (tx: Tx, before: Date, most: number): Promise<SettlementDifference[]> =>
  tx.query(DIFFERENCES, [before, most])

/** A payment as it stands beside a file of the bank. */
export interface PaymentInBooks {
  readonly paymentId: string
  readonly utr: string
  readonly merchantName: string
  readonly amountPaise: Paise
}
const IN_BOOKS = `p.payment_id as "paymentId", p.utr, m.name as "merchantName",
  p.amount_paise + p.adjusted_paise as "amountPaise" from payments p join merchants m on m.merchant_id = p.merchant_id`
const PAYMENTS = statement<PaymentInBooks>(
  'settlement_payments_in_books',
  `select ${IN_BOOKS} where p.payment_id = any ($1)`,
)
const UNSETTLED = statement<PaymentInBooks>(
  'settlement_payments_unsettled',
  `select ${IN_BOOKS} where p.payment_id >= $1 and p.payment_id < $2 and p.status = 'ACCEPTED' and ${NOT_SETTLED}
   order by p.payment_id limit $3`,
)

export const paymentsInBooks = (tx: Tx, paymentIds: readonly string[]): Promise<PaymentInBooks[]> =>
  tx.query(PAYMENTS, [paymentIds])

/** Payments between two ids that the bank has to settle and has not. */
export const unsettledBetween = (
  tx: Tx,
  fromId: string,
  toId: string,
  most: number,
): Promise<PaymentInBooks[]> => tx.query(UNSETTLED, [fromId, toId, most])
