import { allEventsKept, type Check, check, subjects } from '../../ledger/reconcile.ts'
import { CARDS } from '../rail/reconcile-card-rail.ts'

const UNCLAIMED_ACCOUNTS = subjects('unclaimed accounts', `ledger_accounts where kind = 'unclaimed'`)

/** What must be true of ended cards and of what was left on them (decision C21). */
export const CARD_END_CHECKS: readonly Check[] = [
  check(
    'card_ends',
    CARDS,
    'Money that is not held leaves a blocked or expired card within a day of when it is unclaimed, and a replaced one within a day; until then the card is due',
    (
      chosen,
    ) => `select c.svc_card_id as subject, 'balance ' || l.balance || ', held ' || h.held || ', unclaimed since '
         || c.unclaimed_at || ', replaced by ' || coalesce(c.replaced_by, 'none') as detail
       from cards c join ledger_accounts l on l.account_id = 'card:' || c.svc_card_id and l.tenant_id = c.partner_id
       cross join lateral (
         select coalesce(sum(a.held_paise), 0) as held from card_authorizations a
         where a.partner_id = c.partner_id and a.svc_card_id = c.svc_card_id and a.status = 'OPEN') h
       where l.balance > h.held and ${chosen('c.svc_card_id')}
         and (c.unclaimed_at < clock_timestamp() - interval '1 day'
             and not exists (select from card_returns b where b.partner_id = c.partner_id
               and b.svc_card_id = c.svc_card_id and b.status = 'WAITING')
           or c.replaced_by is not null and coalesce(c.due_at, '-infinity') < clock_timestamp() - interval '1 day'
           or c.ended_at is not null and c.due_at is null)
       limit 100`,
  ),
  check(
    'card_replacements',
    CARDS,
    'A replaced card and its replacement name each other, and are of one card account and user',
    (chosen) => `select c.svc_card_id as subject, 'replaced by ' || c.replaced_by || ', which replaces '
         || coalesce(n.replaces, 'none') as detail
       from cards c left join cards n on n.partner_id = c.partner_id and n.svc_card_id = c.replaced_by
       where c.replaced_by is not null and ${chosen('c.svc_card_id')}
         and (n.replaces, n.card_account_id, n.user_id) is distinct from (c.svc_card_id, c.card_account_id, c.user_id)
       limit 100`,
  ),
  check(
    'card_returns',
    UNCLAIMED_ACCOUNTS,
    'The account of unclaimed money has what waits to return to card accounts',
    (chosen) => `select l.account_id as subject, 'balance ' || l.balance || ', waiting ' || r.amount as detail
       from ledger_accounts l
       cross join lateral (
         select coalesce(sum(r.amount_paise), 0) as amount from card_returns r
         where r.partner_id = l.tenant_id and r.status = 'WAITING') r
       where l.kind = 'unclaimed' and l.balance <> r.amount and ${chosen('l.account_id')} limit 100`,
  ),
  check(
    'card_returns_due',
    CARDS,
    'No return waits for more than a day beyond its time, and its card is due by then',
    (chosen) => `select c.svc_card_id as subject, 'return ' || r.return_id || ' due at ' || r.due_at
         || ', card ' || coalesce(c.due_at::text, 'never') as detail
       from card_returns r join cards c on c.partner_id = r.partner_id and c.svc_card_id = r.svc_card_id
       where r.status = 'WAITING' and ${chosen('c.svc_card_id')}
         and (r.due_at < clock_timestamp() - interval '1 day' or coalesce(c.due_at, 'infinity') > r.due_at)
       limit 100`,
  ),
  check(
    'card_end_events',
    CARDS,
    'An event was published for each expiry, each movement to a replacement and each step of a return',
    (chosen) => `with happened as (
         select c.svc_card_id, (c.expired_at is not null)::int as expired,
           (select count(*) from ledger_transfers t where t.object_id = c.replaced_by and t.tenant_id = c.partner_id
             and t.kind = 'card_replacement' and t.debit_account_id = 'card:' || c.svc_card_id) as replaced,
           (select count(*) + count(r.closed_at) from card_returns r where r.partner_id = c.partner_id
             and r.svc_card_id = c.svc_card_id) as returns
         from cards c
         where ${chosen('c.svc_card_id')} and ${allEventsKept('c.partner_id', 'c.created_at')}),
       published as (
         select object_id as svc_card_id, count(*) filter (where type = 'card.expired') as expired,
           count(*) filter (where type = 'card.replaced') as replaced,
           count(*) filter (where type in ('card.return_waiting', 'card.returned', 'card.return_reversed')) as returns
         from outbox where ${chosen('object_id')} group by object_id)
       select svc_card_id as subject, 'happened: ' || h::text || ', published: ' || coalesce(t::text, 'nothing') as detail
       from happened h left join published t using (svc_card_id)
       where (h.expired, h.replaced, h.returns)
         is distinct from (coalesce(t.expired, 0), coalesce(t.replaced, 0), coalesce(t.returns, 0))
       limit 100`,
  ),
]
