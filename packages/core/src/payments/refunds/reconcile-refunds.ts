import { allEventsKept, type Check, check, subjects } from '../../ledger/reconcile.ts'

const PAYMENTS = subjects('refunded payments', `payments where refund_paise > 0`)
const REFUNDS = subjects('refunds', 'merchant_refunds')

const legs = (kind: string) =>
  `coalesce((select sum(t.amount) from ledger_transfers t where t.object_id = r.refund_id and t.tenant_id = r.merchant_id
     and t.kind = '${kind}'), 0)`

/** What must be true between merchants' refunds, their payments, events and the ledger. */
export const REFUND_CHECKS: readonly Check[] = [
  check(
    'refund_totals',
    PAYMENTS,
    'The refunds of a payment that have not failed add up to its refunded amount, which is at most its amount',
    (
      chosen,
    ) => `select p.payment_id as subject, 'counted ' || p.refund_paise || ', found ' || coalesce(sum(r.amount_paise), 0) as detail
       from payments p left join merchant_refunds r
         on r.merchant_id = p.merchant_id and r.payment_id = p.payment_id and r.status <> 'FAILED'
       where ${chosen('p.payment_id')}
         and (p.refund_paise > 0 or exists (select from merchant_refunds o
           where o.merchant_id = p.merchant_id and o.payment_id = p.payment_id))
       group by p.merchant_id, p.payment_id
       having p.refund_paise <> coalesce(sum(r.amount_paise), 0) or p.refund_paise > p.amount_paise + p.adjusted_paise
         or (p.refund_paise > 0 and p.status <> 'ACCEPTED') limit 100`,
  ),
  check(
    'refund_journals',
    REFUNDS,
    'A refund is in the ledger once, is paid once if it is refunded, and is reversed once if it failed; one that was made after it failed is taken again, or an exception',
    (
      chosen,
    ) => `select f.subject, f.status || ' of ' || f.amount || ': requested ' || f.requested || ', paid ' || f.paid
           || ', reversed ' || f.reversed || ', restored ' || f.restored || ', late ' || f.late as detail
       from (
         select r.refund_id as subject, r.status, r.amount_paise as amount, ${legs('merchant_refund')} as requested,
           r.failed_at is not null as failed_before, r.refunded_late_at is not null as is_late,
           ${legs('merchant_refund_paid')} as paid, ${legs('merchant_refund_failed')} as reversed,
           ${legs('merchant_refund_restored')} as restored, ${legs('merchant_refund_late')} as late
         from merchant_refunds r where ${chosen('r.refund_id')}) f
       where f.requested <> f.amount or f.paid <> f.amount * (f.status = 'REFUNDED')::integer
         or f.reversed <> f.amount * (f.status = 'FAILED' or f.failed_before)::integer
         or f.restored <> f.amount * f.failed_before::integer or f.late <> f.amount * f.is_late::integer limit 100`,
  ),
  check(
    'refund_events',
    REFUNDS,
    'Each refund has its event, and another for its outcome',
    (chosen) => `with happened as (
         select r.refund_id, 1 as pending, (r.status = 'REFUNDED')::integer as refunded,
           (r.status = 'FAILED' or r.failed_at is not null)::integer as failed
         from merchant_refunds r where ${chosen('r.refund_id')} and ${allEventsKept('r.merchant_id', 'r.created_at')}),
       published as (
         select o.payload -> 'refund' ->> 'refundId' as refund_id,
           count(*) filter (where o.type = 'payment.refund_pending') as pending,
           count(*) filter (where o.type = 'payment.refunded') as refunded,
           count(*) filter (where o.type = 'payment.refund_failed') as failed
         from outbox o
         where o.object_id in (select m.payment_id from merchant_refunds m where ${chosen('m.refund_id')})
           and o.type like 'payment.%' and o.payload ? 'refund'
         group by 1)
       select h.refund_id as subject, 'happened: ' || h::text || ', published: ' || coalesce(e::text, 'nothing') as detail
       from happened h left join published e using (refund_id)
       where (h.pending, h.refunded, h.failed) is distinct from
         (coalesce(e.pending, 0), coalesce(e.refunded, 0), coalesce(e.failed, 0)) limit 100`,
  ),
]
