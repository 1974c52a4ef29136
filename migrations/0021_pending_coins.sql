-- Awards that become active later, and allocations that are voided (decisions K10, K12).
alter table coin_configs add column activation text;
alter table coin_configs add column activate_after_days integer;
alter table coin_configs
  add constraint activation_known check (activation = 'CONFIRMATION') not valid,
  add constraint activation_by_one_rule check (activation is null or activate_after_days is null) not valid,
  add constraint activate_after_days_positive check (activate_after_days > 0) not valid;
grant update (activation, activate_after_days) on coin_configs to svc_service;
alter table coin_config_revisions add column activation text;
alter table coin_config_revisions add column activate_after_days integer;

-- `allocated` counts what became active and was not voided, so that balances of the previous version stay right.
alter table coin_wallets add column pending bigint not null default 0;
alter table coin_wallets add column voided bigint not null default 0;
alter table coin_wallets add constraint pending_and_voided_not_negative check (pending >= 0 and voided >= 0) not valid;
grant update (pending, voided) on coin_wallets to svc_service;

-- A pending lot has nothing that remains: what reads remaining coins does not find it.
alter table coin_lots add column pending bigint not null default 0;
alter table coin_lots add column voided bigint not null default 0;
-- Of a lot that was pending at first: its activation, which happens once.
alter table coin_lots add column activation_id text collate "C";
-- When it becomes active by itself; null where it waits for the partner's confirmation.
alter table coin_lots add column activates_at timestamptz;
alter table coin_lots add column confirmed_at timestamptz;
-- The user's active coins right after its activation.
alter table coin_lots add column activated_balance bigint;
alter table coin_lots drop constraint lot_adds_up;
alter table coin_lots
  add constraint lot_adds_up check (amount = remaining + pending + spent + expired + voided) not valid,
  add constraint pending_or_active check (pending = 0 or (pending = amount and activated_balance is null)) not valid,
  add constraint pending_and_voided_not_negative check (pending >= 0 and voided >= 0) not valid,
  add constraint activation_of_pending check (
    activation_id is not null or (pending = 0 and activates_at is null and activated_balance is null)) not valid,
  add constraint confirmed_or_scheduled check (confirmed_at is null or activates_at is null) not valid;
grant update (pending, voided, expires_at, confirmed_at, activated_balance) on coin_lots to svc_service;

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

alter table coin_entries drop constraint coin_entries_kind_check;
alter table coin_entries drop constraint coin_entries_amount_check;
alter table coin_entries
  add constraint coin_entries_kind_check check (kind in (
    'ALLOCATED', 'PENDING', 'ACTIVATED', 'REDEEMED', 'EXPIRED', 'VOIDED', 'PENDING_VOIDED')) not valid,
  add constraint coin_entries_amount_check check (amount > 0 or (kind = 'VOIDED' and amount = 0)) not valid;

-- For the sweep, which serves all tenants: whose coins are to expire or to become active.
create or replace function directory_coins_due(due timestamptz, most integer, only_tenants text[])
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

-- Erases what was written about erased users where their allocations were voided: the reasons, also in events. The
-- service's role may change neither voids nor events otherwise.
create function erase_coin_reasons(partner text, user_ids text[]) returns void
  language plpgsql volatile security definer set search_path = svc, pg_temp
  as $$
  begin
    if array_position(current_tenants(), partner) is null or exists (
      select from unnest(user_ids) as w (user_id)
      where not exists (
        select from users u where u.partner_id = partner and u.user_id = w.user_id and u.erased_at is not null)
    ) then
      raise exception 'only the voids of erased users lose their reason' using errcode = 'insufficient_privilege';
    end if;
    update outbox o set payload = o.payload || '{"reason": ""}'
      from coin_voids v
      where v.partner_id = partner and v.user_id = any (user_ids)
        and o.tenant_id = partner and o.event_id = 'evt_' || substr(v.void_id, 5);
    -- The digest of a request with a reason is one of personal data; what is put in its place equals no request.
    update coin_voids set reason = '', request_hash = sha256(void_id::bytea)
      where partner_id = partner and user_id = any (user_ids);
  end $$;

revoke execute on all functions in schema svc from public;
grant execute on function erase_coin_reasons to svc_service;
