import { type Check, check, OPENING_BALANCES, subjects } from '../../ledger/reconcile.ts'
import { advancedOfNote } from '../fees/tax-document.ts'
import { ADJUSTING, ADJUSTING_DOWN, isOneOf, OF_DOCUMENTS } from './payout-line-kinds.ts'

const PAYOUTS = subjects('payouts', 'payouts')
const LINES = subjects('payout lines', 'payout_lines')
const ADVANCES = subjects('merchant advance accounts', `ledger_accounts where kind = 'merchant_advances'`)
const MERCHANTS = subjects('merchants with payouts', 'payout_positions')

const ADJUSTS = isOneOf(ADJUSTING)
const SETTLED = `j.kind in ('advance_repaid', 'advance_written_off')`
const SETTLED_FEES = `j.kind in ('exception_settled', 'exception_written_off')`
const STANDS = `y.status not in ('FAILED', 'CANCELLED')`

/** Whether something is in a payout that stands; as a number. */
const lined = (kind: string) =>
  `exists (select from payout_lines l where l.merchant_id = a.tenant_id and l.object_id = e.id and l.kind = ${kind}
     and not l.released)::integer`

const moved = (kind: string, condition = 'true') =>
  `coalesce((select sum(t.amount) from ledger_transfers t
     where t.object_id = y.payout_id and t.tenant_id = y.merchant_id and t.kind = '${kind}' and ${condition}), 0)`

const toMerchant = `t.credit_account_id = 'payouts_in_transit:' || y.merchant_id`
const fromMerchant = `t.debit_account_id = 'payouts_in_transit:' || y.merchant_id`

/** What must be true between payouts, their payments and refunds, and the ledger. */
export const PAYOUT_CHECKS: readonly Check[] = [
  check(
    'payout_totals',
    PAYOUTS,
    'A payout is the sum of its lines',
    (
      chosen,
    ) => `select y.payout_id as subject, 'payments ' || y.payment_paise || ' of ' || l.payments || ', refunds ' || y.refund_paise
           || ' of ' || l.refunds || ', adjustments ' || y.adjustment_paise || ' of ' || l.adjustments || ', fees ' || y.fee_paise || ' of ' || l.fees as detail
       from payouts y cross join lateral (
         select coalesce(sum(l.amount_paise) filter (where l.kind = 'payment'), 0) as payments,
           count(*) filter (where l.kind = 'payment') as payment_count,
           count(*) filter (where l.kind <> 'payment' and not ${ADJUSTS}) as refund_count,
           coalesce(sum(case when ${isOneOf(ADJUSTING_DOWN)} then -l.amount_paise else l.amount_paise end)
             filter (where ${ADJUSTS}), 0) as adjustments,
           count(*) filter (where ${ADJUSTS}) as adjustment_count,
           coalesce(sum(case when l.kind in ('refund', 'dispute') then l.amount_paise
             when l.kind in ('refund_failed', 'dispute_won') then -l.amount_paise end), 0)
             as refunds,
           coalesce(sum(l.fee_paise), 0) as fees, coalesce(sum(l.cgst_paise), 0) as cgst,
           coalesce(sum(l.sgst_paise), 0) as sgst, coalesce(sum(l.igst_paise), 0) as igst,
           coalesce(sum(l.amount_paise) filter (where l.kind = 'fees_settled'), 0) as settled_fees
         from payout_lines l where l.merchant_id = y.merchant_id and l.payout_id = y.payout_id) l
       where ${chosen('y.payout_id')} and (y.payment_paise, y.payment_count, y.adjustment_paise, y.adjustment_count, y.refund_paise, y.refund_count, y.fee_paise,
           y.cgst_paise, y.sgst_paise, y.igst_paise, y.settled_fees_paise)
         is distinct from (l.payments, l.payment_count, l.adjustments, l.adjustment_count, l.refunds, l.refund_count, l.fees, l.cgst, l.sgst, l.igst, l.settled_fees)
       limit 100`,
  ),
  check(
    'payout_lines',
    LINES,
    'A line of a payout is a payment, refund, dispute, correction, opening balance, settled advance or fee, credit note, debit note or certificate of its amount, and is released if and only if the payout failed or was cancelled',
    (
      chosen,
    ) => `select l.object_id as subject, l.kind || ' of ' || l.amount_paise || ', released: ' || l.released as detail
       from payout_lines l
         join payouts y on y.merchant_id = l.merchant_id and y.payout_id = l.payout_id
         left join payments p on l.kind = 'payment' and p.merchant_id = l.merchant_id and p.payment_id = l.object_id
         left join merchant_refunds r
           on l.kind <> 'payment' and r.merchant_id = l.merchant_id and r.refund_id = l.object_id
         left join disputes d
           on l.kind <> 'payment' and d.merchant_id = l.merchant_id and d.dispute_id = l.object_id
         left join payment_adjustments a on a.merchant_id = l.merchant_id and a.adjustment_id = l.object_id
           and l.kind = case when a.change_paise > 0 then 'adjustment_up' else 'adjustment_down' end
         left join opening_balances o
           on l.kind = 'opening_balance' and o.tenant_id = l.merchant_id and o.journal_id = l.object_id
         left join journals j on l.kind in ('advance_settled', 'advance_reopened') and j.tenant_id = l.merchant_id
           and j.journal_id = l.object_id and ${SETTLED}
           or l.kind = 'fees_settled' and j.tenant_id = l.merchant_id and j.journal_id = l.object_id and ${SETTLED_FEES}
         left join ledger_transfers t on t.tenant_id = j.tenant_id and t.journal_id = j.journal_id
         left join tax_documents n on ${isOneOf(OF_DOCUMENTS)} and n.merchant_id = l.merchant_id and n.document_id = l.object_id
         left join tds_certificates c on l.kind = 'tds_certificate' and c.merchant_id = l.merchant_id
           and c.certificate_id = l.object_id
       where ${chosen('l.object_id')} and (l.released = (${STANDS})
         or l.amount_paise is distinct from coalesce(p.amount_paise, r.amount_paise, d.amount_paise, o.amount_paise,
           abs(a.change_paise), t.amount, n.taxable_paise + n.cgst_paise + n.sgst_paise + n.igst_paise, c.amount_paise)) limit 100`,
  ),
  check(
    'payout_journals',
    PAYOUTS,
    'A payout is in the ledger once, is paid once if it is or was paid, came back once if it was returned, is reversed once if it failed or was cancelled, is there again if it was paid after all, and is an exception if its money was not there any more',
    (
      chosen,
    ) => `select f.subject, f.status || ' of ' || f.amount || ': prepared ' || f.prepared || ', paid ' || f.paid
           || ', returned ' || f.returned || ', reversed ' || f.reversed || ', restored ' || f.restored || ', paid late ' || f.late as detail
       from (
         select y.payout_id as subject, y.status, y.amount_paise as amount, ${moved('payout', toMerchant)} as prepared,
           ${moved('payout_paid')} as paid, ${moved('payout_returned')} as returned, ${moved('payout_released', fromMerchant)} as reversed,
           ${moved('payout_restored', toMerchant)} as restored, ${moved('payout_paid_late')} as late,
           (y.failed_at is not null)::integer as was_failed, (y.returned_at is not null)::integer as is_returned,
           (y.paid_late_at is not null)::integer as is_late
         from payouts y where ${chosen('y.payout_id')}) f
       where f.prepared <> f.amount or f.paid <> f.amount * ((f.status = 'PAID')::integer + f.is_returned) or f.returned <> f.amount * f.is_returned
         or f.reversed <> f.amount * ((f.status in ('FAILED', 'CANCELLED'))::integer + f.was_failed)
         or f.restored <> f.amount * f.was_failed or f.late <> f.amount * f.is_late limit 100`,
  ),
  check(
    'opening_balances_paid_out',
    OPENING_BALANCES,
    'An opening balance names the payout that has it, which is one that stands',
    (chosen) => `select o.journal_id as subject,
         'names ' || coalesce(o.payout_id, 'no payout') || ', is in ' || coalesce(l.payout_id, 'none') as detail
       from opening_balances o left join payout_lines l on l.merchant_id = o.tenant_id and l.object_id = o.journal_id
         and l.kind = 'opening_balance' and not l.released
       where ${chosen('o.journal_id')} and o.payout_id is distinct from l.payout_id limit 100`,
  ),
  check(
    'advances',
    ADVANCES,
    'What a merchant owes of advances is what its refunds, disputes, corrections and debit notes say that no payout has deducted, less what was settled otherwise',
    (chosen) => `select a.account_id as subject, 'balance ' || a.balance || ', owed ' || o.owed as detail
       from ledger_accounts a cross join lateral (
         select coalesce(sum(e.advanced * (e.stands::integer - ${lined('e.taken')} + ${lined('e.given')})), 0) as owed
         from (
           select r.advanced_paise as advanced, r.status <> 'FAILED' as stands, r.refund_id as id, 'refund' as taken,
             'refund_failed' as given
           from merchant_refunds r where r.merchant_id = a.tenant_id
           union all
           select d.advanced_paise, d.status <> 'WON', d.dispute_id, 'dispute', 'dispute_won'
           from disputes d where d.merchant_id = a.tenant_id
           union all
           select c.advanced_paise, true, c.adjustment_id, 'adjustment_down', ''
           from payment_adjustments c where c.merchant_id = a.tenant_id
           union all
           select ${advancedOfNote('n')}, true, n.document_id, 'debit_note', ''
           from tax_documents n where n.merchant_id = a.tenant_id and n.kind = 'DEBIT_NOTE'
           union all
           select -t.amount, not exists (
               select from journals v where v.tenant_id = j.tenant_id and v.reverses = j.journal_id),
             j.journal_id, 'advance_settled', 'advance_reopened'
           from journals j join ledger_transfers t on t.tenant_id = j.tenant_id and t.journal_id = j.journal_id
           where j.tenant_id = a.tenant_id and ${SETTLED}) e) o
       where a.kind = 'merchant_advances' and ${chosen('a.account_id')} and a.balance <> -o.owed limit 100`,
  ),
  check(
    'payouts_complete',
    MERCHANTS,
    'Every accepted payment before the position of its merchant is in one payout that stands',
    (chosen) => `select p.payment_id as subject, 'accepted ' || p.created_at || ', in no payout' as detail
       from payout_positions o join payments p on p.merchant_id = o.merchant_id and p.created_at < o.due_from
       where ${chosen('o.merchant_id')} and p.status = 'ACCEPTED' and not exists (
         select from payout_lines l where l.merchant_id = p.merchant_id and l.object_id = p.payment_id
           and l.kind = 'payment' and not l.released) limit 100`,
  ),
  check(
    'payout_periods',
    MERCHANTS,
    'A period of a payout schedule has the payout that it names, of its day and amount, and a merchant with a schedule has a period that runs',
    (
      chosen,
    ) => `select q.merchant_id as subject, q.ends_on || ' has ' || q.amount_paise || ', its payout ' || coalesce(y.business_day || ' has ' || y.amount_paise, 'is not there') as detail
       from payout_periods q left join payouts y on y.merchant_id = q.merchant_id and y.payout_id = q.payout_id
       where ${chosen('q.merchant_id')} and q.payout_id is not null
         and (y.business_day, y.amount_paise) is distinct from (q.ends_on, q.amount_paise)
       union all
       select s.merchant_id, 'every ' || s.every || ' from ' || s.valid_from || ', and no period runs'
       from (
         select distinct on (s.merchant_id) s.* from payout_schedules s where ${chosen('s.merchant_id')}
         order by s.merchant_id, s.valid_from desc, s.created_at desc) s
       where s.every <> 'never' and not exists (
         select from payout_periods q where q.merchant_id = s.merchant_id and q.outcome is null)
       limit 100`,
  ),
]
