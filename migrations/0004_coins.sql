-- Coins are a unit of their own in the ledger: both sides of a transfer have the transfer's unit, or it is not written.
alter table ledger_accounts add constraint ledger_accounts_with_unit unique (account_id, unit);
alter table ledger_transfers
  drop constraint ledger_transfers_debit_account_id_fkey,
  drop constraint ledger_transfers_credit_account_id_fkey,
  add constraint debit_side_has_the_unit foreign key (debit_account_id, unit) references ledger_accounts (account_id, unit),
  add constraint credit_side_has_the_unit foreign key (credit_account_id, unit) references ledger_accounts (account_id, unit);
-- What is left of a lot expires at most once.
create unique index ledger_transfers_one_expiry on ledger_transfers (object_id) where kind = 'coin_expiry';

-- How many coins an event awards, and to whom (decisions K1, K4).
create table coin_configs (
  coin_config_id text collate "C" primary key,
  partner_id     text collate "C" not null references partners,
  configuration  text not null check (configuration in ('DEFAULT', 'CUSTOM')),
  company_id     text collate "C" references companies,
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
  constraint company_of_custom check ((configuration = 'CUSTOM') = (company_id is not null)),
  constraint validity_in_order check (valid_to > valid_from),
  constraint daily_limit_fits_one_award check (per_user_daily_limit >= amount),
  -- Deferred: one batch may take a configuration out of the way of another.
  constraint one_active_configuration exclude using gist
    (int8range(scope, scope, '[]') with &&, tstzrange(valid_from, valid_to) with &&)
    where (status = 'ACTIVE') deferrable initially deferred
);
create index coin_configs_newest on coin_configs (partner_id, created_at desc, coin_config_id desc);
create index coin_configs_by_event on coin_configs (partner_id, event);

-- What a configuration was from each revision on.
create table coin_config_revisions (
  coin_config_id text collate "C" not null references coin_configs,
  revision       integer not null,
  partner_id     text collate "C" not null references partners,
  amount         bigint not null,
  title          text not null,
  description    text,
  status         text not null,
  valid_from     timestamptz not null,
  valid_to       timestamptz,
  per_user_daily_limit    bigint,
  coins_expire_after_days integer,
  modified_at    timestamptz not null,
  primary key (coin_config_id, revision)
);

-- One row for each user who ever got coins: what commands lock, and the totals that the balance is read from.
create table coin_wallets (
  user_id    text collate "C" primary key references users,
  partner_id text collate "C" not null references partners,
  -- Entries of the history so far; numbers lots too, so that first in, first out has one answer.
  entries    bigint not null,
  allocated  bigint not null,
  spent      bigint not null,
  expired    bigint not null,
  constraint totals_not_negative check (spent >= 0 and expired >= 0 and allocated >= spent + expired)
);

-- One lot for each allocation. Its coins are spent, expired or remain; none is ever two of these.
create table coin_lots (
  lot_id         text collate "C" primary key,
  partner_id     text collate "C" not null references partners,
  user_id        text collate "C" not null references users,
  company_id     text collate "C" not null references companies,
  entry          bigint not null,
  request_id     text collate "C" not null,
  request_hash   bytea not null,
  event          text collate "C" not null,
  coin_config_id text collate "C" not null references coin_configs,
  revision       integer not null,
  amount         bigint not null check (amount > 0),
  remaining      bigint not null check (remaining >= 0),
  spent          bigint not null default 0 check (spent >= 0),
  expired        bigint not null default 0 check (expired >= 0),
  occurred_at    timestamptz not null,
  -- Day of `occurred_at` in the business time zone.
  business_day   date not null,
  expires_at     timestamptz,
  -- The user's active coins right after it.
  balance_after  bigint not null,
  created_at     timestamptz not null,
  constraint lot_adds_up check (amount = remaining + spent + expired),
  constraint one_allocation_per_request unique (partner_id, request_id)
);
create index coin_lots_open on coin_lots (user_id, entry) where remaining > 0;
create index coin_lots_due on coin_lots (expires_at) where remaining > 0;
create index coin_lots_of_day on coin_lots (user_id, business_day);

create table coin_redemptions (
  redemption_id text collate "C" primary key,
  partner_id    text collate "C" not null references partners,
  user_id       text collate "C" not null references users,
  request_id    text collate "C" not null,
  request_hash  bytea not null,
  amount        bigint not null check (amount > 0),
  balance_after bigint not null,
  created_at    timestamptz not null,
  constraint one_redemption_per_request unique (partner_id, request_id)
);

-- Which lots a redemption took its coins from.
create table coin_lot_uses (
  redemption_id text collate "C" not null references coin_redemptions,
  lot_id        text collate "C" not null references coin_lots,
  partner_id    text collate "C" not null references partners,
  amount        bigint not null check (amount > 0),
  primary key (redemption_id, lot_id)
);
create index coin_lot_uses_of_lot on coin_lot_uses (lot_id);

-- The history that explains a balance: every entry with the active coins after it.
create table coin_entries (
  user_id       text collate "C" not null references users,
  entry         bigint not null,
  partner_id    text collate "C" not null references partners,
  kind          text not null check (kind in ('ALLOCATED', 'REDEEMED', 'EXPIRED')),
  amount        bigint not null check (amount > 0),
  balance_after bigint not null check (balance_after >= 0),
  -- The lot that was allocated or expired, or the redemption.
  object_id     text collate "C" not null,
  created_at    timestamptz not null,
  primary key (user_id, entry)
);

do $$
declare
  secured text;
begin
  foreach secured in array array['coin_configs', 'coin_config_revisions', 'coin_wallets', 'coin_lots',
    'coin_redemptions', 'coin_lot_uses', 'coin_entries']
  loop
    execute format('alter table %I enable row level security', secured);
    execute format(
      'create policy tenant on %I to svc_service using (partner_id = any ((select current_tenants())::text[]))', secured);
    execute format('create policy operator on %I to svc_operator using (true)', secured);
    execute format('grant select on %I to svc_service, svc_operator', secured);
    execute format('grant insert on %I to svc_service', secured);
  end loop;
end $$;

-- Not the event, nor whose it is: those never change.
grant update (amount, title, description, status, valid_from, valid_to, per_user_daily_limit, coins_expire_after_days,
  revision, modified_at) on coin_configs to svc_service;
grant update (entries, allocated, spent, expired) on coin_wallets to svc_service;
grant update (remaining, spent, expired) on coin_lots to svc_service;

-- For the sweep, which serves all tenants: whose coins are past their time.
create function directory_coins_due(due timestamptz, most integer)
  returns table (partner_id text, user_id text)
  language sql stable security definer set search_path = svc
  as $$
    select distinct l.partner_id, l.user_id from (
      select * from coin_lots where remaining > 0 and expires_at <= due order by expires_at limit most) l
  $$;
revoke execute on function directory_coins_due from public;
grant execute on function directory_coins_due to svc_service, svc_operator;
