import { allEventsKept, type Check, check, subjects } from '../../ledger/reconcile.ts'

const PAYMENTS = subjects('adjusted payments', 'payments where adjusted_paise <> 0')
const ADJUSTMENTS = subjects('adjustments of payments', 'payment_adjustments')

/** What must be true between adjustments, their payments, events and the ledger. */
export const ADJUSTMENT_CHECKS: readonly Check[] = [
  check(
    'adjustment_totals',
    PAYMENTS,
    'The adjustments of a payment add up to what it was adjusted by',
    (
      chosen,
    ) => `select p.payment_id as subject, 'counted ' || p.adjusted_paise || ', found ' || coalesce(sum(a.change_paise), 0) as detail
       from payments p
         left join payment_adjustments a on a.merchant_id = p.merchant_id and a.payment_id = p.payment_id
       where ${chosen('p.payment_id')}
         and (p.adjusted_paise <> 0 or exists (select from payment_adjustments o
           where o.merchant_id = p.merchant_id and o.payment_id = p.payment_id))
       group by p.merchant_id, p.payment_id having p.adjusted_paise <> coalesce(sum(a.change_paise), 0) limit 100`,
  ),
  check(
    'adjustment_journals',
    ADJUSTMENTS,
    'An adjustment changes the clearing account by its change, and what is payable by that less its advance',
    (
      chosen,
    ) => `select f.subject, f.change || ': clearing ' || f.clearing || ', payable ' || f.payable as detail
       from (
         select a.adjustment_id as subject, a.change_paise as change, a.advanced_paise as advanced,
           ${moved('upi_clearing')} as clearing, ${moved('payable')} as payable
         from payment_adjustments a where ${chosen('a.adjustment_id')}) f
       where f.clearing <> - f.change or f.payable <> f.change + f.advanced limit 100`,
  ),
  check(
    'adjustment_events',
    ADJUSTMENTS,
    'Each adjustment has its event',
    (chosen) => `select a.adjustment_id as subject, count(o.event_id) || ' events' as detail
       from payment_adjustments a left join outbox o on o.tenant_id = a.merchant_id and o.object_id = a.payment_id
         and o.type = 'payment.adjusted' and o.payload -> 'adjustment' ->> 'adjustmentId' = a.adjustment_id
       where ${chosen('a.adjustment_id')} and ${allEventsKept('a.merchant_id', 'a.created_at')}
       group by a.merchant_id, a.adjustment_id having count(o.event_id) <> 1 limit 100`,
  ),
]

/** Credits less debits of an account by one adjustment. */
function moved(kind: string): string {
  const account = `'${kind}:' || a.merchant_id`
  return `coalesce((select sum(case when t.credit_account_id = ${account} then t.amount
      when t.debit_account_id = ${account} then -t.amount end)
    from ledger_transfers t where t.tenant_id = a.merchant_id and t.object_id = a.adjustment_id
      and t.kind = 'payment_adjustment'), 0)`
}
