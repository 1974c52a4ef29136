import { ACCOUNTS, allEventsKept, type Check, check, subjects } from '../../ledger/reconcile.ts'
import { BANK_CREDIT_CHECKS } from '../account/reconcile-bank-credits.ts'
import { CARD_END_CHECKS } from '../end/reconcile-card-ends.ts'
import { CARD_RAIL_CHECKS, CARDS } from '../rail/reconcile-card-rail.ts'

// The journals of the card rail have kinds of their own.
const atTerminal = (kind: string) =>
  `exists (select from journals j where j.tenant_id = t.tenant_id and j.journal_id = t.journal_id and j.kind = '${kind}')`
const KEPT_ORDERS = subjects('kept orders', 'idempotency_keys where ciphertext_hash is not null')

const FITTING_LOAD = `t.transfer_id = c.load_transfer_id and t.amount = c.load_paise and t.tenant_id = c.partner_id
  and t.credit_account_id = 'card:' || c.svc_card_id
  and t.debit_account_id = coalesce('card:' || c.replaces, 'card_funding:' || c.card_account_id)`

/** What must be true between cards and the ledger; the checks that `svc admin reconcile` adds for this area. */
export const CARD_CHECKS: readonly Check[] = [
  check(
    'card_loads',
    CARDS,
    'Every card was loaded once, with its load, from its card account or the card that it replaced',
    (chosen) => `select c.svc_card_id as subject, count(t.transfer_id) || ' loads, ' ||
         count(t.transfer_id) filter (where ${FITTING_LOAD}) || ' of them fitting' as detail
       from cards c left join ledger_transfers t on t.object_id = c.svc_card_id
         and (t.kind = 'card_load' or t.kind = 'card_replacement' and t.transfer_id = c.load_transfer_id)
       where ${chosen('c.svc_card_id')}
       group by c.svc_card_id, c.partner_id
       having count(t.transfer_id) <> 1 or count(t.transfer_id) filter (where ${FITTING_LOAD}) <> 1 limit 100`,
  ),
  check(
    'card_balances',
    CARDS,
    'Every card has its loads less what it spent, more what it was refunded, less what went to its replacement or back to its card account, and never less than nothing',
    (
      chosen,
    ) => `select c.svc_card_id as subject, 'balance ' || coalesce(l.balance::text, 'missing') || ', load ' || c.load_paise
         || ', loaded again ' || u.reloaded || ', unloaded ' || u.unloaded || ', spent ' || u.spent || ', refunded ' || u.refunded || ', replaced ' || r.gone || ', followed ' || u.followed
         || ', returned ' || b.gone as detail
       from cards c left join ledger_accounts l on l.account_id = 'card:' || c.svc_card_id and l.tenant_id = c.partner_id
       cross join lateral (
         select coalesce(sum(t.amount) filter (where t.kind = 'card_spend'
             and t.debit_account_id = 'card:' || c.svc_card_id), 0) as spent,
           coalesce(sum(t.amount) filter (where t.kind = 'card_refund'
             and t.credit_account_id = 'card:' || c.svc_card_id), 0) as refunded,
           coalesce(sum(t.amount) filter (where t.kind = 'card_reload'), 0) as reloaded,
           coalesce(sum(t.amount) filter (where t.kind = 'card_unload'), 0) as unloaded,
           coalesce(sum(t.amount) filter (where t.kind = 'card_replacement'
             and t.transfer_id <> c.load_transfer_id), 0) as followed
         from ledger_transfers t where t.object_id = c.svc_card_id) u
       cross join lateral (
         select coalesce(sum(t.amount), 0) as gone from ledger_transfers t
         where t.object_id = c.replaced_by and t.kind = 'card_replacement'
           and t.debit_account_id = 'card:' || c.svc_card_id) r
       cross join lateral (
         select coalesce(sum(b.amount_paise), 0) as gone from card_returns b
         where b.partner_id = c.partner_id and b.svc_card_id = c.svc_card_id and b.status <> 'REVERSED') b
       where ${chosen('c.svc_card_id')}
         and (l.balance is distinct from c.load_paise + u.reloaded - u.unloaded - u.spent + u.refunded + u.followed - r.gone - b.gone
           or l.balance < 0 or u.refunded > u.spent)
       limit 100`,
  ),
  check(
    'card_reloads',
    CARDS,
    'Every load after the first and every unload is a journal of its amount between the card and the card account that funded it, of an account type that may',
    (
      chosen,
    ) => `select c.svc_card_id as subject, count(*) || ' loads or unloads and journals that do not fit' as detail
       from cards c join card_accounts a on a.partner_id = c.partner_id and a.card_account_id = c.card_account_id
       cross join lateral (
         select from (select * from card_loads l where l.partner_id = c.partner_id and l.svc_card_id = c.svc_card_id) l
           full join (select * from ledger_transfers t where t.tenant_id = c.partner_id and t.object_id = c.svc_card_id
             and t.kind in ('card_reload', 'card_unload')) t on substr(t.transfer_id, 5) = substr(l.load_id, 5)
         where l.amount_paise is distinct from t.amount or l.card_account_id is distinct from c.card_account_id
           or a.account_type = 'GIFT' or case l.kind when 'load' then 'card_funding:' || c.card_account_id
             else 'card:' || c.svc_card_id end is distinct from t.debit_account_id
           or case l.kind when 'load' then 'card:' || c.svc_card_id
             else 'card_funding:' || c.card_account_id end is distinct from t.credit_account_id) wrong
       where ${chosen('c.svc_card_id')} group by c.svc_card_id limit 100`,
  ),
  check(
    'card_accounts',
    ACCOUNTS,
    'Every card account of the ledger is a card’s',
    (chosen) => `select l.account_id as subject, 'balance ' || l.balance || ', and no card' as detail
       from ledger_accounts l left join cards c on l.account_id = 'card:' || c.svc_card_id and l.tenant_id = c.partner_id
       where l.kind = 'card' and c.svc_card_id is null and ${chosen('l.account_id')} limit 100`,
  ),
  check(
    'card_owners',
    CARDS,
    'Company, card account and user of a card belong together and to its partner',
    (
      chosen,
    ) => `select c.svc_card_id as subject, 'partner ' || c.partner_id || ', company ' || c.company_id || ', account '
         || c.card_account_id || ', user ' || c.user_id as detail
       from cards c join companies co using (company_id) join card_accounts a using (card_account_id)
         join users u using (user_id)
       where ${chosen('c.svc_card_id')} and (co.partner_id <> c.partner_id or a.partner_id <> c.partner_id or u.partner_id <> c.partner_id
         or a.company_id <> c.company_id or u.company_id <> c.company_id) limit 100`,
  ),
  check(
    'erased_holders',
    CARDS,
    'No card of an erased user has a holder, remarks or reasons in its history',
    (
      chosen,
    ) => `select c.svc_card_id as subject, 'user ' || c.user_id || ' was erased at ' || u.erased_at as detail
       from cards c join users u on u.partner_id = c.partner_id and u.user_id = c.user_id
       where u.erased_at is not null and ${chosen('c.svc_card_id')}
         and (c.holder <> '{}' or c.remarks <> '' or exists (
           select from card_changes h
           where h.partner_id = c.partner_id and h.svc_card_id = c.svc_card_id and h.reason <> '')) limit 100`,
  ),
  check(
    'card_history',
    CARDS,
    'The history of a card leads to the state that it has',
    (
      chosen,
    ) => `select c.svc_card_id as subject, h.field || ' is ' || s.value || ', its history ends with ' || h.to_value as detail
       from (select distinct on (svc_card_id, field) svc_card_id, field, to_value from card_changes
             where ${chosen('svc_card_id')}
             order by svc_card_id, field, created_at desc, change_id desc) h
       join cards c using (svc_card_id)
       cross join lateral (select case h.field when 'cardStatus' then c.status when 'kycStatus' then c.kyc_status
         when 'cardActivated' then c.activated::text
         when 'posAllowed' then c.pos_allowed::text when 'posAllowedAdmin' then c.pos_allowed_admin::text
         when 'atmAllowed' then c.atm_allowed::text when 'atmAllowedAdmin' then c.atm_allowed_admin::text
         when 'onlineAllowed' then c.online_allowed::text
         when 'onlineAllowedAdmin' then c.online_allowed_admin::text end as value) s
       where s.value is distinct from h.to_value limit 100`,
  ),
  check(
    'card_events',
    CARDS,
    'An event was published when each card was issued, and for each change of its status, each spend and each refund',
    (chosen) => `with happened as (
         select c.svc_card_id, 1 as created,
           (select count(*) from card_changes h where h.svc_card_id = c.svc_card_id and h.field = 'cardStatus') as changed,
           (select count(*) from ledger_transfers t where t.object_id = c.svc_card_id and ${atTerminal('card_spend')}) as spent,
           (select count(*) from ledger_transfers t where t.object_id = c.svc_card_id and ${atTerminal('card_refund')})
             + (select count(*) from card_messages m where m.svc_card_id = c.svc_card_id and m.event_type = 'card.refunded')
             as refunded,
           (select count(*) from card_loads l where l.partner_id = c.partner_id and l.svc_card_id = c.svc_card_id) as loaded
         from cards c
         where ${chosen('c.svc_card_id')} and ${allEventsKept('c.partner_id', 'c.created_at')}),
       published as (
         select object_id as svc_card_id, count(*) filter (where type = 'card.created') as created,
           count(*) filter (where type = 'card.status_changed') as changed,
           count(*) filter (where type = 'card.spent') as spent, count(*) filter (where type = 'card.refunded') as refunded,
           count(*) filter (where type in ('card.loaded', 'card.unloaded')) as loaded
         from outbox where ${chosen('object_id')} group by object_id)
       select svc_card_id as subject, 'happened: ' || h::text || ', published: ' || coalesce(t::text, 'nothing') as detail
       from happened h left join published t using (svc_card_id)
       where (h.created, h.changed, h.spent, h.refunded, h.loaded)
         is distinct from (t.created, t.changed, t.spent, t.refunded, t.loaded)
       limit 100`,
  ),
  ...CARD_RAIL_CHECKS,
  ...BANK_CREDIT_CHECKS,
  ...CARD_END_CHECKS,
  check(
    'card_answers',
    KEPT_ORDERS,
    'Every response that is kept to an encrypted order has its one card',
    (chosen) => `select k.key as subject, count(c.svc_card_id) || ' cards' as detail
       from idempotency_keys k left join (
         select partner_id, ciphertext_hash, svc_card_id from cards
         union all
         select partner_id, ciphertext_hash, svc_card_id from card_used_orders where svc_card_id is not null) c
         on c.partner_id = k.tenant_id and c.ciphertext_hash = k.ciphertext_hash
       where k.ciphertext_hash is not null and k.status = 200 and ${chosen('k.key')}
       group by k.tenant_id, k.route, k.key having count(c.svc_card_id) <> 1 limit 100`,
  ),
]
