-- Coins: what an event awards, lots, and what became of them.

-- Coins are a unit of their own in the ledger. How many an event awards, and to whom (decisions K1, K4).
create table coin_configs (
  coin_config_id text collate "C" not null,
  partner_id     text collate "C" not null references partners,
  configuration  text not null check (configuration in ('DEFAULT', 'CUSTOM')),
  company_id     text collate "C",
  event          text collate "C" not null,
  amount         bigint not null check (amount > 0),
  title          text not null,
  description    text,
  status         text not null check (status in ('ACTIVE', 'INACTIVE')),
  valid_from     timestamptz not null,
  valid_to       timestamptz,
  per_user_daily_limit    bigint,
  coins_expire_after_days integer check (coins_expire_after_days > 0),
  revision       integer not null check (revision > 0),
  created_at     timestamptz not null,
  modified_at    timestamptz not null,
  -- Whose event it is, as a number: ranges of numbers need no extension in an exclusion constraint, texts would.
  scope          bigint generated always as
    (hashtextextended(partner_id || ' ' || coalesce(company_id, '') || ' ' || event, 0) >> 1) stored,
  -- Awards that become active later (decision K10): when the partner confirms them, or after days.
  activation     text,
  activate_after_days integer,
  constraint company_is_the_partners foreign key (partner_id, company_id) references companies (partner_id, company_id),
  constraint company_of_custom check ((configuration = 'CUSTOM') = (company_id is not null)),
  constraint validity_in_order check (valid_to > valid_from),
  constraint daily_limit_fits_one_award check (per_user_daily_limit >= amount),
  -- Deferred: one batch may deactivate a configuration for another (decision K6).
  constraint one_active_configuration exclude using gist
    (int8range(scope, scope, '[]') with &&, tstzrange(valid_from, valid_to) with &&)
    where (status = 'ACTIVE') deferrable initially deferred,
  constraint activation_known check (activation = 'CONFIRMATION'),
  constraint activation_by_one_rule check (activation is null or activate_after_days is null),
  constraint activate_after_days_positive check (activate_after_days > 0)
);
create index coin_configs_by_id on coin_configs (coin_config_id);
create index coin_configs_newest on coin_configs (partner_id, created_at desc, coin_config_id desc);
create index coin_configs_by_event on coin_configs (partner_id, event);
alter table coin_configs add primary key (partner_id, coin_config_id);
select secure_tenants('coin_configs', 'partner_id');
-- Not the event, nor whose it is: those never change.
grant select, insert, update (amount, title, description, status, valid_from, valid_to, per_user_daily_limit,
  coins_expire_after_days, revision, modified_at, activation, activate_after_days) on coin_configs to svc_service;
grant select on coin_configs to svc_operator;

-- What a configuration was from each revision on.
create table coin_config_revisions (
  coin_config_id text collate "C" not null,
  revision       integer not null,
  partner_id     text collate "C" not null,
  amount         bigint not null,
  title          text not null,
  description    text,
  status         text not null,
  valid_from     timestamptz not null,
  valid_to       timestamptz,
  per_user_daily_limit    bigint,
  coins_expire_after_days integer,
  modified_at    timestamptz not null,
  activation     text,
  activate_after_days integer,
  primary key (partner_id, coin_config_id, revision),
  constraint config_is_the_partners
    foreign key (partner_id, coin_config_id) references coin_configs (partner_id, coin_config_id)
);
select secure_tenants('coin_config_revisions', 'partner_id');
grant select, insert on coin_config_revisions to svc_service;
grant select on coin_config_revisions to svc_operator;

-- One row for each user who ever got coins: what commands lock, and the totals that the balance is read from.
create table coin_wallets (
  user_id    text collate "C" not null,
  partner_id text collate "C" not null,
  -- Entries of the history so far; numbers lots too, so that first in, first out is a total order.
  entries    bigint not null,
  allocated  bigint not null,
  spent      bigint not null,
  expired    bigint not null,
  -- `allocated` counts what became active and was not voided.
  pending    bigint not null default 0,
  voided     bigint not null default 0,
  primary key (partner_id, user_id),
  constraint totals_not_negative check (spent >= 0 and expired >= 0 and allocated >= spent + expired),
  constraint user_is_the_partners foreign key (partner_id, user_id) references users (partner_id, user_id),
  constraint pending_and_voided_not_negative check (pending >= 0 and voided >= 0)
);
select secure_tenants('coin_wallets', 'partner_id');
grant select, insert, update (entries, allocated, spent, expired, pending, voided) on coin_wallets to svc_service;
grant select on coin_wallets to svc_operator;

-- One lot for each allocation. Its coins are spent, expired or remain; none is ever two of these.
create table coin_lots (
  lot_id         text collate "C" not null,
  partner_id     text collate "C" not null,
  user_id        text collate "C" not null,
  company_id     text collate "C" not null,
  entry          bigint not null,
  request_id     text collate "C" not null,
  request_hash   bytea not null,
  event          text collate "C" not null,
  coin_config_id text collate "C" not null,
  revision       integer not null,
  amount         bigint not null check (amount > 0),
  remaining      bigint not null check (remaining >= 0),
  spent          bigint not null default 0 check (spent >= 0),
  expired        bigint not null default 0 check (expired >= 0),
  occurred_at    timestamptz not null,
  -- Day of `occurred_at` in the business time zone.
  business_day   date not null,
  expires_at     timestamptz,
  -- When `coins.expiring` was published for it.
  announced_at   timestamptz default null,
  -- The user's active coins right after it.
  balance_after  bigint not null,
  created_at     timestamptz not null,
  -- A pending lot has nothing that remains: what reads remaining coins does not find it.
  pending        bigint not null default 0,
  voided         bigint not null default 0,
  -- Of a lot that was pending at first: its activation, which happens once.
  activation_id  text collate "C",
  -- When it becomes active by itself; null where it waits for the partner's confirmation.
  activates_at   timestamptz,
  confirmed_at   timestamptz,
  -- The user's active coins right after its activation.
  activated_balance bigint,
  constraint announced_before_it_expires check (announced_at is null or coalesce(announced_at < expires_at, false)),
  constraint one_allocation_per_request unique (partner_id, request_id),
  constraint config_is_the_partners
    foreign key (partner_id, coin_config_id) references coin_configs (partner_id, coin_config_id),
  constraint company_is_the_partners foreign key (partner_id, company_id) references companies (partner_id, company_id),
  constraint user_is_the_partners foreign key (partner_id, user_id) references users (partner_id, user_id),
  constraint lot_adds_up check (amount = remaining + pending + spent + expired + voided),
  constraint pending_or_active check (pending = 0 or (pending = amount and activated_balance is null)),
  constraint pending_and_voided_not_negative check (pending >= 0 and voided >= 0),
  constraint activation_of_pending check (
    activation_id is not null or (pending = 0 and activates_at is null and activated_balance is null)),
  constraint confirmed_or_scheduled check (confirmed_at is null or activates_at is null)
);
alter table coin_lots add primary key (partner_id, lot_id);
-- Soonest to expire first: what redemptions take first, and what is due.
create index coin_lots_open on coin_lots (user_id, expires_at, entry) where remaining > 0;
create index coin_lots_due on coin_lots (expires_at) where remaining > 0;
create index coin_lots_to_announce on coin_lots (expires_at)
  where remaining > 0 and announced_at is null and expires_at is not null;
create index coin_lots_of_day on coin_lots (user_id, business_day);
create index coin_lots_pending on coin_lots (user_id, activates_at) where pending > 0;
create index coin_lots_pending_due on coin_lots (activates_at) where pending > 0;
select secure_tenants('coin_lots', 'partner_id');
grant select, insert, update (remaining, spent, expired, expires_at, announced_at, pending, voided, confirmed_at,
  activated_balance) on coin_lots to svc_service;
grant select on coin_lots to svc_operator;

-- A lot is what its configuration awards, and the ledger has its coins.
create function require_awarded_lots() returns trigger
  language plpgsql security definer set search_path = svc, pg_temp
  as $$
  begin
    if exists (
      select from added a
        left join coin_configs c on c.partner_id = a.partner_id and c.coin_config_id = a.coin_config_id and c.event = a.event
          and coalesce(c.company_id, a.company_id) = a.company_id
        left join coin_config_revisions r on r.partner_id = c.partner_id and r.coin_config_id = c.coin_config_id
          and r.revision = a.revision and r.status = 'ACTIVE' and r.amount = a.amount
        left join ledger_transfers t on t.tenant_id = a.partner_id and t.object_id = a.lot_id and t.kind = 'coin_allocation'
          and t.amount = a.amount
      where r.revision is null or t.transfer_id is null)
    then
      raise exception 'a lot of coins is not what a configuration awards'
        using errcode = 'integrity_constraint_violation', constraint = tg_name, table = tg_table_name;
    end if;
    return null;
  end $$;
create trigger lots_are_awarded after insert on coin_lots referencing new table as added
  for each statement execute function require_awarded_lots();

create table coin_redemptions (
  redemption_id text collate "C" not null,
  partner_id    text collate "C" not null,
  user_id       text collate "C" not null,
  request_id    text collate "C" not null,
  request_hash  bytea not null,
  amount        bigint not null check (amount > 0),
  balance_after bigint not null,
  created_at    timestamptz not null,
  constraint one_redemption_per_request unique (partner_id, request_id),
  constraint user_is_the_partners foreign key (partner_id, user_id) references users (partner_id, user_id)
);
alter table coin_redemptions add primary key (partner_id, redemption_id);
select secure_tenants('coin_redemptions', 'partner_id');
grant select, insert on coin_redemptions to svc_service;
grant select on coin_redemptions to svc_operator;

-- From which lots a redemption took its coins.
create table coin_lot_uses (
  redemption_id text collate "C" not null,
  lot_id        text collate "C" not null,
  partner_id    text collate "C" not null,
  amount        bigint not null check (amount > 0),
  constraint lot_is_the_partners foreign key (partner_id, lot_id) references coin_lots (partner_id, lot_id),
  constraint redemption_is_the_partners
    foreign key (partner_id, redemption_id) references coin_redemptions (partner_id, redemption_id)
);
alter table coin_lot_uses add primary key (partner_id, redemption_id, lot_id);
create index coin_lot_uses_of_lot on coin_lot_uses (lot_id);
select secure_tenants('coin_lot_uses', 'partner_id');
grant select, insert on coin_lot_uses to svc_service;
grant select on coin_lot_uses to svc_operator;

-- An allocation that the partner or an operator took back.
create table coin_voids (
  partner_id    text collate "C" not null,
  void_id       text collate "C" not null,
  user_id       text collate "C" not null,
  lot_id        text collate "C" not null,
  request_id    text collate "C" not null,
  request_hash  bytea not null,
  reason        text not null check (length(reason) <= 255),
  actor         text not null check (actor in ('partner', 'operator')),
  -- Whether the allocation was pending, so that no active coins were taken.
  was_pending   boolean not null,
  amount        bigint not null check (amount >= 0),
  -- Spent coins of the allocation that were not taken from others.
  shortfall     bigint not null check (shortfall >= 0),
  balance_after bigint not null check (balance_after >= 0),
  created_at    timestamptz not null,
  primary key (partner_id, void_id),
  constraint one_void_per_request unique (partner_id, request_id),
  constraint one_void_per_allocation unique (partner_id, lot_id),
  constraint lot_is_the_partners foreign key (partner_id, lot_id) references coin_lots (partner_id, lot_id),
  constraint user_is_the_partners foreign key (partner_id, user_id) references users (partner_id, user_id)
);
create index coin_voids_of_user on coin_voids (user_id);
create trigger erased_users_have_no_reasons after insert or update of reason on coin_voids for each row
  when (new.reason <> '') execute function refuse_text_of_erased();
select secure_tenants('coin_voids', 'partner_id');
grant select, insert on coin_voids to svc_service;
grant select on coin_voids to svc_operator;

-- From which lots a void took its coins: the allocation's own first.
create table coin_void_takes (
  partner_id text collate "C" not null,
  void_id    text collate "C" not null,
  lot_id     text collate "C" not null,
  amount     bigint not null check (amount > 0),
  primary key (partner_id, void_id, lot_id),
  constraint lot_is_the_partners foreign key (partner_id, lot_id) references coin_lots (partner_id, lot_id),
  constraint void_is_the_partners foreign key (partner_id, void_id) references coin_voids (partner_id, void_id)
);
create index coin_void_takes_of_lot on coin_void_takes (lot_id);
select secure_tenants('coin_void_takes', 'partner_id');
grant select, insert on coin_void_takes to svc_service;
grant select on coin_void_takes to svc_operator;

-- The history that explains a balance: every entry with the active coins after it.
create table coin_entries (
  user_id       text collate "C" not null,
  entry         bigint not null,
  partner_id    text collate "C" not null,
  kind          text not null check (kind in
    ('ALLOCATED', 'PENDING', 'ACTIVATED', 'REDEEMED', 'EXPIRED', 'VOIDED', 'PENDING_VOIDED')),
  amount        bigint not null,
  balance_after bigint not null check (balance_after >= 0),
  -- The lot that was allocated or expired, or the redemption.
  object_id     text collate "C" not null,
  created_at    timestamptz not null,
  primary key (partner_id, user_id, entry),
  constraint coin_entries_amount_check check (amount > 0 or (kind = 'VOIDED' and amount = 0)),
  constraint user_is_the_partners foreign key (partner_id, user_id) references users (partner_id, user_id)
);
select secure_tenants('coin_entries', 'partner_id');
grant select, insert on coin_entries to svc_service;
grant select on coin_entries to svc_operator;

-- For the sweep, which serves all tenants: whose coins are to expire or to become active.
create function directory_coins_due(due timestamptz, most integer, only_tenants text[])
  returns table (partner_id text, user_id text)
  language sql stable security definer set search_path = svc, pg_temp
  as $$
    select distinct l.partner_id, l.user_id from (
      (select o.partner_id, o.user_id from coin_lots o where o.remaining > 0 and o.expires_at <= due
        and (only_tenants is null or o.partner_id = any (only_tenants))
      order by o.expires_at limit most)
      union all
      (select o.partner_id, o.user_id from coin_lots o where o.pending > 0 and o.activates_at <= due
        and (only_tenants is null or o.partner_id = any (only_tenants))
      order by o.activates_at limit most)) l
  $$;

-- The same for what is to be announced.
create function directory_coins_expiring(since timestamptz, until timestamptz, most integer, only_tenants text[])
  returns table (partner_id text, user_id text)
  language sql stable security definer set search_path = svc, pg_temp
  as $$
    select distinct l.partner_id, l.user_id from (
      select * from coin_lots where remaining > 0 and announced_at is null and expires_at > since and expires_at <= until
        and (only_tenants is null or partner_id = any (only_tenants))
      order by expires_at limit most) l
  $$;

-- For the sweep: users of all partners whose last card ended before the instant, and who got no coins since.
create function directory_users_forgotten(before timestamptz, after_id text, most integer, only_tenants text[])
  returns table (partner_id text, user_id text)
  language sql stable security definer set search_path = svc, pg_temp
  as $$
    select u.partner_id, u.user_id from users u
    where u.user_id > after_id and u.erased_at is null and u.created_at < before
      and (only_tenants is null or u.partner_id = any (only_tenants))
      and not exists (
        select from cards c
        where c.partner_id = u.partner_id and c.user_id = u.user_id and (c.ended_at is null or c.ended_at >= before))
      and not exists (
        select from coin_entries e
        where e.partner_id = u.partner_id and e.user_id = u.user_id and e.created_at >= before)
    order by u.user_id limit most
  $$;

revoke execute on all functions in schema svc from public;
grant execute on function directory_coins_due, directory_coins_expiring, directory_users_forgotten to svc_service;
