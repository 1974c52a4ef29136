import { allEventsKept, type Check, check, subjects } from '../ledger/reconcile.ts'
import { NOTICE_CHECKS } from '../rails/reconcile-notices.ts'
import { ADJUSTMENT_CHECKS } from './adjustments/reconcile-adjustments.ts'
import { DISPUTE_CHECKS } from './disputes/reconcile-disputes.ts'
import { ACCRUAL_CHECKS } from './fees/reconcile-accruals.ts'
import { OWN_FUNDS_CHECKS } from './own-funds/reconcile-own-funds.ts'
import { PAYOUT_CHECKS } from './payouts/reconcile-payouts.ts'
import { LATE_PAYMENT_CHECKS } from './reconcile-late-payments.ts'
import { REFUND_CHECKS } from './refunds/reconcile-refunds.ts'
import { SETTLEMENT_CHECKS } from './settlements/reconcile-settlements.ts'
import { SUSPENSE_CHECKS } from './suspense/reconcile-suspense.ts'
import { TDS_CHECKS } from './tds/reconcile-certificates.ts'

const CODES = subjects('QR codes', 'qr_codes')
const PAYMENTS = subjects('payments', 'payments')

/** What must be true between codes, payments, events and the ledger; the checks that `svc admin reconcile` adds for this area. */
export const PAYMENT_CHECKS: readonly Check[] = [
  check(
    'credits',
    PAYMENTS,
    'Every payment has its one credit in the ledger, of the same amount and on the right account',
    (
      chosen,
    ) => `select p.payment_id as subject, p.status || ' with ' || count(t.transfer_id) || ' fitting credits' as detail
       from payments p left join ledger_transfers t on t.object_id = p.payment_id and t.kind = 'upi_credit'
         and t.amount = p.amount_paise and t.tenant_id = p.merchant_id
         and t.credit_account_id = case when p.assigned_from is not null then 'payable:'
           when p.qr_code_id is null then 'suspense:'
           when p.reason is null then 'payable:' else 'upi_refunds:' end || p.merchant_id
       where ${chosen('p.payment_id')}
       group by p.merchant_id, p.payment_id having count(t.transfer_id) <> 1 limit 100`,
  ),
  check(
    'refunds',
    PAYMENTS,
    'A refund is in the ledger once if the payment is refunded, and not at all otherwise',
    (
      chosen,
    ) => `select p.payment_id as subject, p.status || ' with ' || count(t.transfer_id) || ' refunds' as detail
       from payments p left join ledger_transfers t on t.object_id = p.payment_id and t.kind = 'upi_refund'
         and t.amount = p.amount_paise
       where ${chosen('p.payment_id')}
       group by p.merchant_id, p.payment_id having count(t.transfer_id) <> (p.status = 'REFUNDED')::integer limit 100`,
  ),
  check(
    'codes',
    CODES,
    'The counters of a code equal its accepted payments',
    (
      chosen,
    ) => `select q.qr_code_id as subject, 'counted ' || q.accepted_count || ', found ' || count(p.payment_id) as detail
       from qr_codes q
       left join payments p on p.qr_code_id = q.qr_code_id and p.merchant_id = q.merchant_id and p.reason is null
       where ${chosen('q.qr_code_id')}
       group by q.qr_code_id, q.merchant_id
       having q.accepted_count <> count(p.payment_id) or q.accepted_paise <> coalesce(sum(p.amount_paise), 0) limit 100`,
  ),
  check(
    'closed_merchants',
    CODES,
    'No code of a closed merchant is active',
    (chosen) => `select q.qr_code_id as subject, 'closed at ' || t.closed_at as detail
       from tenants t join qr_codes q on q.merchant_id = t.tenant_id
       where t.closed_at is not null and q.status = 'ACTIVE' and ${chosen('q.qr_code_id')} limit 100`,
  ),
  check(
    'single_use',
    CODES,
    'A single-use code has at most one accepted payment',
    (chosen) => `select q.qr_code_id as subject, count(*) || ' accepted payments' as detail
       from qr_codes q
       join payments p on p.qr_code_id = q.qr_code_id and p.merchant_id = q.merchant_id and p.status = 'ACCEPTED'
       where not q.multiple_use and ${chosen('q.qr_code_id')} group by q.qr_code_id, q.merchant_id having count(*) > 1 limit 100`,
  ),
  check(
    'cancelled',
    CODES,
    'No payment was accepted after its code was cancelled',
    (
      chosen,
    ) => `select p.payment_id as subject, 'accepted ' || p.created_at || ', cancelled ' || q.modified_at as detail
       from qr_codes q join payments p on p.qr_code_id = q.qr_code_id and p.merchant_id = q.merchant_id
       where p.status = 'ACCEPTED' and q.status = 'CANCELLED' and p.created_at > q.modified_at
         and ${chosen('q.qr_code_id')} limit 100`,
  ),
  check(
    'code_revisions',
    CODES,
    'The revision of a code counts its accepted payments and its closing, and it is closed if it is cancelled',
    (chosen) => `select q.qr_code_id as subject,
         'revision ' || q.revision || ', accepted ' || q.accepted_count || ', closed: ' || coalesce(q.close_reason, 'no')
           as detail
       from qr_codes q
       where ${chosen('q.qr_code_id')}
         and (q.revision <> q.accepted_count + (coalesce(q.close_reason, 'paid') <> 'paid')::integer
           or (q.status = 'CANCELLED' and q.close_reason is null) or (q.close_reason is null) <> (q.closed_at is null))
       limit 100`,
  ),
  check(
    'payment_events',
    PAYMENTS,
    'Each credit that was not accepted has its event, and each refund of one, from the version on that keeps notices',
    (chosen) => `with happened as (
         select p.payment_id, (p.qr_code_id is not null and p.reason is not null
             or p.resolved_at is not null and p.status in ('REFUND_PENDING', 'REFUNDED'))::integer as refund_pending,
           (p.qr_code_id is null)::integer as suspended, (p.status = 'REFUNDED')::integer as refunded
         from payments p
         where ${chosen('p.payment_id')} and p.notice is not null and ${allEventsKept('p.merchant_id', 'p.created_at')}),
       published as (
         select object_id as payment_id, count(*) filter (where type = 'payment.refund_pending') as refund_pending,
           count(*) filter (where type = 'payment.suspended') as suspended,
           count(*) filter (where type = 'payment.refunded') as refunded
         from outbox where ${chosen('object_id')} and type like 'payment.%' and not payload ? 'refund' group by object_id)
       select h.payment_id as subject, 'happened: ' || h::text || ', published: ' || coalesce(e::text, 'nothing') as detail
       from happened h left join published e using (payment_id)
       where (h.refund_pending, h.suspended, h.refunded) is distinct from
         (coalesce(e.refund_pending, 0), coalesce(e.suspended, 0), coalesce(e.refunded, 0)) limit 100`,
  ),
  ...SETTLEMENT_CHECKS,
  check(
    'code_events',
    CODES,
    'An event was published when each code was created, when it was cancelled, and for each accepted payment',
    (chosen) => `with happened as (
         select q.qr_code_id, 1 as created, (q.status = 'CANCELLED')::integer as cancelled, q.accepted_count as credited
         from qr_codes q
         where ${chosen('q.qr_code_id')} and ${allEventsKept('q.merchant_id', 'q.created_at')}),
       published as (
         select object_id as qr_code_id, count(*) filter (where type = 'qr_code.created') as created,
           count(*) filter (where type = 'qr_code.cancelled') as cancelled,
           count(*) filter (where type = 'qr_code.credited') as credited
         from outbox where ${chosen('object_id')} group by object_id)
       select qr_code_id as subject, 'happened: ' || h::text || ', published: ' || coalesce(t::text, 'nothing') as detail
       from happened h left join published t using (qr_code_id)
       where (h.created, h.cancelled, h.credited) is distinct from (t.created, t.cancelled, t.credited) limit 100`,
  ),
  ...NOTICE_CHECKS,
  ...ADJUSTMENT_CHECKS,
  ...SUSPENSE_CHECKS,
  ...REFUND_CHECKS,
  ...DISPUTE_CHECKS,
  ...PAYOUT_CHECKS,
  ...ACCRUAL_CHECKS,
  ...OWN_FUNDS_CHECKS,
  ...TDS_CHECKS,
  ...LATE_PAYMENT_CHECKS,
]
