import { type Check, check, settledOutside, subjects } from '../ledger/reconcile.ts'

const ACCOUNTS = subjects(
  'payout and refund exception accounts',
  `ledger_accounts where kind in ('payout_exceptions', 'refund_exceptions')`,
)

/** What must be true of payouts and refunds that the bank paid after they had failed, and of what ended outside of them. */
export const LATE_PAYMENT_CHECKS: readonly Check[] = [
  check(
    'late_payments',
    ACCOUNTS,
    'What is open of payout and refund exceptions is what the bank paid late, less what was settled or written off',
    (
      chosen,
    ) => `select l.account_id as subject, 'balance ' || l.balance || ', paid late ' || e.amount || ', settled ' || s.amount as detail
       from ledger_accounts l
       cross join lateral (
         select coalesce(sum(y.amount), 0) as amount from (
           select y.amount_paise as amount from payouts y
           where l.kind = 'payout_exceptions' and y.merchant_id = l.tenant_id and y.paid_late_at is not null
           union all
           select r.amount_paise from merchant_refunds r
           where l.kind = 'refund_exceptions' and r.merchant_id = l.tenant_id and r.refunded_late_at is not null) y) e
       cross join lateral ${settledOutside('l')} s
       where l.kind in ('payout_exceptions', 'refund_exceptions') and l.balance <> s.amount - e.amount
         and ${chosen('l.account_id')} limit 100`,
  ),
]
