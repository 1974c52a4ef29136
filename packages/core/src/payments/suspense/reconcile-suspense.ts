import { statement } from '@svc/platform/db/statement'
import { ACCOUNTS, type Check, check, subjects } from '../../ledger/reconcile.ts'

const PAYMENTS = subjects(
  'payments out of suspense',
  'payments where resolved_at is not null or assigned_from is not null',
)

/** What must be true of suspense: what waits there, and what was assigned or returned. */
export const SUSPENSE_CHECKS: readonly Check[] = [
  check(
    'suspense',
    ACCOUNTS,
    'A suspense account has what its payments in suspense, and lines of bank statements, add up to',
    (
      chosen,
    ) => `select a.account_id as subject, 'balance ' || a.balance || ', payments ' || p.waiting as detail
       from ledger_accounts a cross join lateral (
         select coalesce(sum(p.amount_paise), 0) + (
             select coalesce(sum(case when t.credit_account_id = a.account_id then t.amount else -t.amount end), 0)
             from ledger_transfers t where t.tenant_id = a.tenant_id and t.object_id like 'stl\\_%'
               and t.kind in ('statement_resolved', 'journal_reversal')
               and a.account_id in (t.debit_account_id, t.credit_account_id)) as waiting
         from payments p where p.merchant_id = a.tenant_id and p.status = 'SUSPENSE') p
       where a.kind = 'suspense' and a.balance <> p.waiting and ${chosen('a.account_id')} limit 100`,
  ),
  check(
    'assigned_payments',
    PAYMENTS,
    'Each payment that was assigned out of another tenant’s suspense is one payment of a merchant, of its amount',
    (chosen) => `select coalesce(p.payment_id, m.payment_id) as subject,
         'assigned ' || coalesce(p.amount_paise::text, 'nothing') || ', received '
           || coalesce(m.amount_paise::text, 'nothing') as detail
       from (select * from payments where status = 'ASSIGNED') p
         full join (
           select * from payments where assigned_from is not null and status <> 'UNASSIGNED') m on m.assigned_from = p.payment_id
       where ${chosen('coalesce(p.payment_id, m.payment_id)')}
         and (p.amount_paise, p.utr) is distinct from (m.amount_paise, m.utr) limit 100`,
  ),
  check(
    'unassignments',
    PAYMENTS,
    'Each assignment that was taken back has its journal, of the amount of its payment, and none is without a record',
    (
      chosen,
    ) => `select coalesce(u.payment_id, t.object_id) as subject, 'taken back ' || coalesce(u.amount_paise::text, 'nothing')
           || ', moved ' || coalesce(t.amount::text, 'nothing') || ', ' || coalesce(p.status, 'no payment') as detail
       from unassignments u full join (
           select * from ledger_transfers where kind in ('suspense_unassigned')) t
           on t.tenant_id = u.tenant_id and t.journal_id = u.journal_id
         left join payments p on p.merchant_id = u.tenant_id and p.payment_id = u.payment_id
       where ${chosen('coalesce(u.payment_id, t.object_id)')}
         and ((u.payment_id, u.amount_paise) is distinct from (t.object_id, t.amount)
           or u.amount_paise is distinct from p.amount_paise
           or (u.origin_journal_id is not null) <> (p.status = 'UNASSIGNED')) limit 100`,
  ),
  {
    check: 'What is between tenants adds up to zero',
    of: ACCOUNTS,
    differences: statement(
      'reconcile_inter_tenant',
      `select 'inter_tenant' as subject, 'the balances add up to ' || sum(balance) as detail
        from ledger_accounts where kind = 'inter_tenant' having sum(balance) <> 0`,
    ),
  },
]
