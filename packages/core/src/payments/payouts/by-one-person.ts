import { type ByTenant, byTenant } from '@svc/kernel/by-tenant'
import type { Tx } from '@svc/platform/db/database'
import { columns, statement } from '@svc/platform/db/statement'

interface Sum {
  readonly merchantId: string
  readonly paymentId: string
  readonly paise: bigint
}
type OfPayment = Pick<Sum, 'merchantId' | 'paymentId'>

/** By payment, what operators have moved of it without a second person: it counts against the limit (decision R10). */
export type Moved = Map<string, bigint>

const REFUNDED = statement<Sum>(
  'refunded_by_operators',
  `select r.merchant_id as "merchantId", r.payment_id as "paymentId", sum(r.amount_paise)::bigint as paise
   from merchant_refunds r
   where (r.merchant_id, r.payment_id) in (select * from unnest($1::text[], $2::text[]))
     and r.requested_by is not null and r.status <> 'FAILED'
     and not exists (select from approvals p
       where p.tenant_id = r.merchant_id and p.journal_id = 'jrn_' || substr(r.refund_id, 5))
   group by r.merchant_id, r.payment_id`,
)
const ADJUSTED = statement<Sum>(
  'adjusted_without_approval',
  `select a.merchant_id as "merchantId", a.payment_id as "paymentId", sum(abs(a.change_paise))::bigint as paise
   from payment_adjustments a
   where (a.merchant_id, a.payment_id) in (select * from unnest($1::text[], $2::text[]))
     and not exists (select from approvals p
       where p.tenant_id = a.merchant_id and p.journal_id = 'jrn_' || substr(a.adjustment_id, 5))
   group by a.merchant_id, a.payment_id`,
)

const moved =
  (sums: typeof REFUNDED) =>
  async (tx: Pick<Tx, 'query'>, payments: readonly OfPayment[]): Promise<ByTenant<Moved>> => {
    const paymentKeys = columns(
      payments,
      ({ merchantId }) => merchantId,
      ({ paymentId }) => paymentId,
    )
    return byTenant(
      payments.length === 0 ? [] : await tx.query(sums, paymentKeys),
      ({ merchantId }) => merchantId,
      ({ paymentId }) => paymentId,
      ({ paise }) => paise,
    )
  }

/** What operators, not the merchant itself, have refunded; not what failed, which the merchant has again. */
export const refundedByOperators = moved(REFUNDED)

/** What was adjusted in either direction without the approval of a second person. */
export const adjustedByOnePerson = moved(ADJUSTED)

export function addMoved(to: Moved, paymentId: string, amountPaise: bigint): void {
  to.set(paymentId, (to.get(paymentId) ?? 0n) + amountPaise)
}
