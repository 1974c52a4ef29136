import { allEventsKept, type Check, check, subjects } from '../ledger/reconcile.ts'

const WALLETS = subjects('wallets', 'coin_wallets')
const LOTS = subjects('lots of coins', 'coin_lots')
const VOIDS = subjects('voids of coins', 'coin_voids')
const REDEMPTIONS = subjects('redemptions of coins', 'coin_redemptions')

/** What must be true between lots, wallets, histories and the ledger; the checks that `svc admin reconcile` adds for coins. */
export const COIN_CHECKS: readonly Check[] = [
  check(
    'coin_balances',
    WALLETS,
    'The coins that remain in a user’s lots are the balance of the user’s ledger account',
    (
      chosen,
    ) => `with lots as (select user_id, sum(remaining) as coins from coin_lots where ${chosen('user_id')} group by user_id),
         accounts as (select substr(account_id, 7) as user_id, balance from ledger_accounts
           where kind = 'coins' and ${chosen('substr(account_id, 7)')})
       select coalesce(l.user_id, a.user_id) as subject,
         'in lots ' || coalesce(l.coins, 0) || ', in the ledger ' || coalesce(a.balance, 0) as detail
       from lots l full join accounts a using (user_id) where coalesce(l.coins, 0) <> coalesce(a.balance, 0) limit 100`,
  ),
  check(
    'coin_pending',
    WALLETS,
    'The coins that are pending in a user’s lots are the balance of the user’s account of pending coins',
    (
      chosen,
    ) => `with lots as (select user_id, sum(pending) as coins from coin_lots where ${chosen('user_id')} group by user_id),
         accounts as (select substr(account_id, 15) as user_id, balance from ledger_accounts
           where kind = 'coins_pending' and ${chosen('substr(account_id, 15)')})
       select coalesce(l.user_id, a.user_id) as subject,
         'in lots ' || coalesce(l.coins, 0) || ', in the ledger ' || coalesce(a.balance, 0) as detail
       from lots l full join accounts a using (user_id) where coalesce(l.coins, 0) <> coalesce(a.balance, 0) limit 100`,
  ),
  check(
    'coin_wallets',
    WALLETS,
    'The totals of a wallet are those of its lots',
    (chosen) => `with lots as (
         select user_id, sum(amount - pending - voided) as allocated, sum(pending) as pending, sum(spent) as spent,
           sum(expired) as expired, sum(voided) as voided
         from coin_lots where ${chosen('user_id')} group by 1),
       wallets as (select * from coin_wallets where ${chosen('user_id')})
       select coalesce(l.user_id, w.user_id) as subject, 'wallet ' ||
         concat_ws(' ', w.allocated, w.pending, w.spent, w.expired, w.voided) || ', lots ' ||
         concat_ws(' ', l.allocated, l.pending, l.spent, l.expired, l.voided) as detail
       from lots l full join wallets w using (user_id)
       where (l.allocated, l.pending, l.spent, l.expired, l.voided)
         is distinct from (w.allocated, w.pending, w.spent, w.expired, w.voided) limit 100`,
  ),
  check(
    'coin_uses',
    LOTS,
    'What a lot says is spent is what redemptions took from it',
    (
      chosen,
    ) => `select l.lot_id as subject, 'spent ' || l.spent || ', used ' || coalesce(sum(u.amount), 0) as detail
       from coin_lots l left join coin_lot_uses u using (lot_id, partner_id) where ${chosen('l.user_id')}
       group by l.lot_id, l.partner_id having l.spent <> coalesce(sum(u.amount), 0) limit 100`,
  ),
  check(
    'coin_redemptions',
    REDEMPTIONS,
    'The coins of a redemption are those that it took from lots of the same user',
    (
      chosen,
    ) => `select r.redemption_id as subject, 'redeemed ' || r.amount || ', taken ' || coalesce(sum(l.taken), 0) as detail
       from coin_redemptions r left join lateral (
         select u.amount as taken from coin_lot_uses u join coin_lots o using (lot_id, partner_id)
         where u.redemption_id = r.redemption_id and u.partner_id = r.partner_id and o.user_id = r.user_id) as l on true
       where ${chosen('r.user_id')}
       group by r.redemption_id, r.partner_id having r.amount <> coalesce(sum(l.taken), 0) limit 100`,
  ),
  check(
    'coin_transfers',
    WALLETS,
    'Every allocation, activation, redemption, expiry and void of coins has its one transfer, of the same amount and user',
    (chosen) => `with moves as (
         select 'coin_allocation' as kind, lot_id as object_id, user_id, amount from coin_lots where ${chosen('user_id')}
         union all select 'coin_redemption', redemption_id, user_id, amount from coin_redemptions where ${chosen('user_id')}
         union all select 'coin_expiry', lot_id, user_id, expired from coin_lots where expired > 0 and ${chosen('user_id')}
         union all select 'coin_activation', lot_id, user_id, amount from coin_lots
           where activated_balance is not null and ${chosen('user_id')}
         union all select 'coin_void', void_id, user_id, amount from coin_voids where amount > 0 and ${chosen('user_id')}),
         transfers as (
         select kind, object_id, amount, split_part(case kind when 'coin_allocation' then credit_account_id
           else debit_account_id end, ':', 2) as user_id
         from ledger_transfers where unit = 'COIN' and (${chosen(`split_part(debit_account_id, ':', 2)`)}
           or ${chosen(`split_part(credit_account_id, ':', 2)`)}))
       select coalesce(m.object_id, t.object_id) as subject, coalesce(m.kind, t.kind) || ': moved ' ||
         coalesce(m.amount, 0) || ', transferred ' || coalesce(t.amount, 0) as detail
       from moves m full join transfers t using (kind, object_id, user_id, amount)
       where m.object_id is null or t.object_id is null limit 100`,
  ),
  check(
    'coin_history',
    WALLETS,
    'A user’s history has no gaps and adds up, line by line, to the balance',
    (chosen) => `with lines as (
         select user_id, entry, balance_after, row_number() over w as place,
           sum(case when kind in ('ALLOCATED', 'ACTIVATED') then amount
             when kind in ('PENDING', 'PENDING_VOIDED') then 0 else -amount end) over w as balance
         from coin_entries where ${chosen('user_id')} window w as (partition by user_id order by entry))
       select user_id || ' ' || entry as subject, 'says ' || balance_after || ', adds up to ' || balance as detail
       from lines where entry <> place or balance_after <> balance limit 100`,
  ),
  check(
    'coin_late_uses',
    REDEMPTIONS,
    'No redemption took coins from a lot past its time',
    (
      chosen,
    ) => `select u.redemption_id || ' ' || u.lot_id as subject, 'expired ' || l.expires_at || ', spent ' || r.created_at as detail
       from coin_lot_uses u join coin_lots l using (partner_id, lot_id)
         join coin_redemptions r using (partner_id, redemption_id)
       where l.expires_at <= r.created_at and ${chosen('r.user_id')} limit 100`,
  ),
  check(
    'coin_early_uses',
    REDEMPTIONS,
    'No redemption took coins from a lot before it was active',
    // By the order of the user's history: the database's clock may have been set back in between.
    (chosen) => `select u.redemption_id || ' ' || u.lot_id as subject,
         'active from ' || coalesce(l.activates_at, l.confirmed_at) || ', activated as entry ' || coalesce(a.entry, 0)
           || ', spent as entry ' || d.entry as detail
       from coin_lot_uses u join coin_lots l using (partner_id, lot_id)
         join coin_redemptions r using (partner_id, redemption_id)
         join coin_entries d on d.partner_id = r.partner_id and d.user_id = r.user_id
           and d.object_id = r.redemption_id and d.kind = 'REDEEMED'
         left join coin_entries a on a.partner_id = l.partner_id and a.user_id = l.user_id
           and a.object_id = l.lot_id and a.kind = 'ACTIVATED' and a.entry < d.entry
           and a.created_at >= coalesce(l.activates_at, l.confirmed_at, 'infinity')
       where l.activation_id is not null and a.entry is null and ${chosen('r.user_id')} limit 100`,
  ),
  check(
    'coin_voided',
    LOTS,
    'What a lot says is voided is what voids took from it',
    (
      chosen,
    ) => `select l.lot_id as subject, 'voided ' || l.voided || ', taken ' || coalesce(sum(k.amount), 0) as detail
       from coin_lots l left join coin_void_takes k using (lot_id, partner_id) where ${chosen('l.user_id')}
       group by l.lot_id, l.partner_id having l.voided <> coalesce(sum(k.amount), 0) limit 100`,
  ),
  check(
    'coin_voids',
    VOIDS,
    'The coins of a void are those that it took from lots of the same user; with its shortfall they are at least what was spent of the voided lot',
    (
      chosen,
    ) => `select v.void_id as subject, 'voided ' || v.amount || ', taken ' || coalesce(sum(l.taken), 0) || ', shortfall ' ||
         v.shortfall as detail
       from coin_voids v join coin_lots w on w.partner_id = v.partner_id and w.lot_id = v.lot_id
       left join lateral (
         select k.amount as taken from coin_void_takes k join coin_lots o using (lot_id, partner_id)
         where k.void_id = v.void_id and k.partner_id = v.partner_id and o.user_id = v.user_id) as l on true
       where ${chosen('v.user_id')}
       group by v.void_id, v.partner_id, w.spent, w.user_id
       having v.amount <> coalesce(sum(l.taken), 0) or v.amount + v.shortfall < w.spent or w.user_id <> v.user_id limit 100`,
  ),
  check(
    'erased_void_reasons',
    VOIDS,
    'No void of coins of an erased user has a reason',
    (
      chosen,
    ) => `select v.void_id as subject, 'user ' || v.user_id || ' was erased at ' || u.erased_at as detail
       from coin_voids v join users u on u.partner_id = v.partner_id and u.user_id = v.user_id
       where u.erased_at is not null and v.reason <> '' and ${chosen('v.user_id')} limit 100`,
  ),
  check(
    'coin_daily_limits',
    WALLETS,
    'No user got more of a configuration in a day than the limit of the revision that awarded it',
    (chosen) => `with days as (
         select l.user_id, l.coin_config_id, l.business_day, l.entry, r.per_user_daily_limit,
           sum(l.amount) over (partition by l.user_id, l.coin_config_id, l.business_day order by l.entry) as coins
         from coin_lots l join coin_config_revisions r using (partner_id, coin_config_id, revision)
         where ${chosen('l.user_id')})
       select user_id || ' ' || coin_config_id || ' ' || business_day as subject,
         'awarded ' || coins || ', limit ' || per_user_daily_limit as detail
       from days where coins > per_user_daily_limit limit 100`,
  ),
  check(
    'coin_events',
    WALLETS,
    'An event was published once for each allocation, activation, redemption and void of coins, and for each expiry at least with others',
    (chosen) => `with happened as (
         select user_id, count(*) filter (where kind = 'ALLOCATED') as allocated,
           count(*) filter (where kind = 'REDEEMED') as redeemed, count(*) filter (where kind = 'EXPIRED') as expired,
           count(*) filter (where kind = 'PENDING') as pending, count(*) filter (where kind = 'ACTIVATED') as activated,
           count(*) filter (where kind in ('VOIDED', 'PENDING_VOIDED')) as voided
         from coin_entries where ${chosen('user_id')} group by partner_id, user_id
         having ${allEventsKept('partner_id', 'min(created_at)')}),
       published as (
         select object_id as user_id, count(*) filter (where type = 'coins.allocated') as allocated,
           count(*) filter (where type = 'coins.redeemed') as redeemed,
           coalesce(sum(jsonb_array_length(payload->'allocations')) filter (where type = 'coins.expired'), 0) as expired,
           count(*) filter (where type = 'coins.pending') as pending,
           count(*) filter (where type = 'coins.activated') as activated,
           count(*) filter (where type = 'coins.voided') as voided
         from outbox where type like 'coins.%' and type <> 'coins.expiring' and ${chosen('object_id')}
         group by object_id)
       select user_id as subject, 'happened: ' || h::text || ', published: ' || coalesce(t::text, 'nothing') as detail
       from happened h left join published t using (user_id)
       where (h.allocated, h.redeemed, h.expired, h.pending, h.activated, h.voided)
         is distinct from (t.allocated, t.redeemed, t.expired, t.pending, t.activated, t.voided) limit 100`,
  ),
  check(
    'coin_announcements',
    WALLETS,
    'Every lot that is marked as announced is in one `coins.expiring` event of its user',
    (chosen) => `with marked as (
         select user_id, count(announced_at) as lots from coin_lots where ${chosen('user_id')}
         group by partner_id, user_id having ${allEventsKept('partner_id', 'min(created_at)')}),
       published as (
         select object_id as user_id, sum(jsonb_array_length(payload->'allocations')) as lots
         from outbox where type = 'coins.expiring' and ${chosen('object_id')} group by object_id)
       select user_id as subject, 'marked ' || m.lots || ', published ' || coalesce(p.lots, 0) as detail
       from marked m left join published p using (user_id) where m.lots <> coalesce(p.lots, 0) limit 100`,
  ),
]
