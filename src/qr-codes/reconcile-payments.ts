import type { Check } from '../ledger/reconcile.ts'
import { statement } from '../platform/db/statement.ts'

/** What must be true between codes, payments and the ledger; the checks that `svc reconcile` adds for this area. */
export const PAYMENT_CHECKS: readonly Check[] = [
  {
    check: 'Every payment has its one credit in the ledger, of the same amount and on the right account',
    differences: statement(
      'reconcile_credits',
      `select p.payment_id as subject, p.status || ' with ' || count(t.transfer_id) || ' fitting credits' as detail
       from payments p left join ledger_transfers t on t.object_id = p.payment_id and t.kind = 'upi_credit'
         and t.amount = p.amount_paise and t.tenant_id = p.merchant_id
         and t.credit_account_id = case when p.qr_code_id is null then 'suspense:'
           when p.reason is null then 'payable:' else 'upi_refunds:' end || p.merchant_id
       group by p.payment_id having count(t.transfer_id) <> 1 limit 100`,
    ),
  },
  {
    check: 'A refund is in the ledger once if the payment is refunded, and not at all otherwise',
    differences: statement(
      'reconcile_refunds',
      `select p.payment_id as subject, p.status || ' with ' || count(t.transfer_id) || ' refunds' as detail
       from payments p left join ledger_transfers t on t.object_id = p.payment_id and t.kind = 'upi_refund'
         and t.amount = p.amount_paise
       group by p.payment_id having count(t.transfer_id) <> (p.status = 'REFUNDED')::integer limit 100`,
    ),
  },
  {
    check: 'The counters of a code equal its accepted payments',
    differences: statement(
      'reconcile_codes',
      `select q.qr_code_id as subject, 'counted ' || q.accepted_count || ', found ' || count(p.payment_id) as detail
       from qr_codes q left join payments p on p.qr_code_id = q.qr_code_id and p.status = 'ACCEPTED'
       group by q.qr_code_id
       having q.accepted_count <> count(p.payment_id) or q.accepted_paise <> coalesce(sum(p.amount_paise), 0) limit 100`,
    ),
  },
  {
    check: 'A single-use code has at most one accepted payment',
    differences: statement(
      'reconcile_single_use',
      `select q.qr_code_id as subject, count(*) || ' accepted payments' as detail
       from qr_codes q join payments p on p.qr_code_id = q.qr_code_id and p.status = 'ACCEPTED'
       where not q.multiple_use group by q.qr_code_id having count(*) > 1 limit 100`,
    ),
  },
  {
    check: 'No payment was accepted after its code was cancelled',
    differences: statement(
      'reconcile_cancelled',
      `select p.payment_id as subject, 'accepted ' || p.created_at || ', cancelled ' || q.modified_at as detail
       from payments p join qr_codes q using (qr_code_id)
       where p.status = 'ACCEPTED' and q.status = 'CANCELLED' and p.created_at > q.modified_at limit 100`,
    ),
  },
]
