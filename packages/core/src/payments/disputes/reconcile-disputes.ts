import { allEventsKept, type Check, check, subjects } from '../../ledger/reconcile.ts'

const PAYMENTS = subjects('disputed payments', 'payments where dispute_paise > 0')
const DISPUTES = subjects('disputes', 'disputes')

const moved = (kind: string) =>
  `coalesce((select sum(t.amount) from ledger_transfers t where t.object_id = d.dispute_id
     and t.tenant_id = d.merchant_id and t.kind = '${kind}'), 0)`

/** What must be true between disputes, their payments, events and the ledger. */
export const DISPUTE_CHECKS: readonly Check[] = [
  check(
    'dispute_totals',
    PAYMENTS,
    'The disputes of a payment that its merchant has not won add up to its disputed amount, and with its refunds to at most its amount',
    (
      chosen,
    ) => `select p.payment_id as subject, 'counted ' || p.dispute_paise || ', found ' || coalesce(sum(d.amount_paise), 0) as detail
       from payments p left join disputes d
         on d.merchant_id = p.merchant_id and d.payment_id = p.payment_id and d.status <> 'WON'
       where ${chosen('p.payment_id')}
         and (p.dispute_paise > 0 or exists (select from disputes o
           where o.merchant_id = p.merchant_id and o.payment_id = p.payment_id))
       group by p.merchant_id, p.payment_id
       having p.dispute_paise <> coalesce(sum(d.amount_paise), 0)
         or p.dispute_paise + p.refund_paise > p.amount_paise + p.adjusted_paise limit 100`,
  ),
  check(
    'dispute_journals',
    DISPUTES,
    'A dispute is in the ledger once, is reversed once if it was won, and is paid back once if it was lost or accepted and not won after all',
    (
      chosen,
    ) => `select f.subject, f.status || ' of ' || f.amount || ': opened ' || f.opened || ', won ' || f.won
           || ', lost ' || f.lost as detail
       from (
         select d.dispute_id as subject, d.status, d.amount_paise as amount, ${moved('dispute')} as opened,
           ${moved('dispute_won')} as won, ${moved('dispute_lost')}
             - ${moved('dispute_overturned')} as lost
         from disputes d where ${chosen('d.dispute_id')}) f
       where f.opened <> f.amount or f.won <> f.amount * (f.status = 'WON')::integer
         or f.lost <> f.amount * (f.status in ('LOST', 'ACCEPTED'))::integer limit 100`,
  ),
  check(
    'dispute_evidence',
    DISPUTES,
    'A dispute has the newest of its evidence, and says of it what is recorded of its sending',
    (chosen) => `select d.dispute_id as subject, 'has ' || coalesce(d.evidence_at::text, 'none') || ', sent '
           || coalesce(d.evidence_sent_at::text, 'not yet') as detail
       from disputes d left join lateral (
         select v.evidence, v.created_at, v.sent_at, v.receipt from dispute_evidence v
         where v.merchant_id = d.merchant_id and v.dispute_id = d.dispute_id
         order by v.created_at desc, v.evidence_id desc limit 1) newest on true
       where ${chosen('d.dispute_id')}
         and (d.evidence, d.evidence_at, d.evidence_sent_at, d.evidence_receipt) is distinct from
           (newest.evidence, newest.created_at, newest.sent_at, newest.receipt) limit 100`,
  ),
  check(
    'dispute_events',
    DISPUTES,
    'Each dispute has its event, and another for each end',
    (chosen) => `with published as (
         select o.payload ->> 'disputeId' as dispute_id,
           count(*) filter (where o.type = 'payment.disputed') as opened,
           count(*) filter (where o.type = 'dispute.won') as won,
           count(*) filter (where o.type = 'dispute.lost') as lost
         from outbox o
         where o.object_id in (select m.payment_id from disputes m where ${chosen('m.dispute_id')})
           and o.type in ('payment.disputed', 'dispute.won', 'dispute.lost')
         group by 1)
       select d.dispute_id as subject, d.status || ', published: ' || coalesce(e::text, 'nothing') as detail
       from disputes d left join published e using (dispute_id)
       where ${chosen('d.dispute_id')} and ${allEventsKept('d.merchant_id', 'd.created_at')}
         and (1, (d.status = 'WON')::integer,
           (d.status in ('LOST', 'ACCEPTED') or ${moved('dispute_overturned')} > 0)::integer) is distinct from
           (coalesce(e.opened, 0), coalesce(e.won, 0), coalesce(e.lost, 0)) limit 100`,
  ),
]
