-- Bank holidays (decision R30): of the whole installation. Sundays, second and fourth Saturdays are known without them.
create table bank_holidays (
  day        date primary key,
  name       text not null check (char_length(name) between 1 and 100),
  set_by     text not null,
  created_at timestamptz not null
);
create constraint trigger audited after insert or update or delete on bank_holidays deferrable initially deferred
  for each row execute function audit_change('bank_holiday', 'day', '', 'day,name');
grant select on bank_holidays to svc_service;
grant select, insert, update (name, set_by), delete on bank_holidays to svc_operator;

-- When payouts to a merchant are prepared (decision R30): entered and never changed, each for periods from a day on.
create table payout_schedules (
  merchant_id   text collate "C" not null references merchants,
  valid_from    date not null,
  created_at    timestamptz not null,
  every         text not null check (every in ('day', 'week', 'month', 'never')),
  -- of a week 1 is Monday; of a month 31 is its last day
  on_day        smallint,
  -- bank days after the end of a period
  after_days    smallint not null check (after_days between 0 and 30),
  minimum_paise bigint not null check (minimum_paise >= 0),
  reason        text not null check (char_length(reason) between 1 and 255),
  -- may not approve what is prepared by it
  set_by        text not null,
  primary key (merchant_id, valid_from, created_at),
  constraint day_of_its_period check (case every when 'week' then coalesce(on_day between 1 and 7, false)
    when 'month' then coalesce(on_day between 1 and 31, false) else on_day is null end)
);
create constraint trigger audited after insert or update or delete on payout_schedules deferrable initially deferred
  for each row execute function audit_change('payout_schedule', 'valid_from', 'merchant_id',
    'valid_from,every,on_day,after_days,minimum_paise,reason');
select secure_tenants('payout_schedules', 'merchant_id');
grant select on payout_schedules to svc_service;
grant select, insert on payout_schedules to svc_operator;

create function name_who_set_schedule() returns trigger
  language plpgsql set search_path = svc, pg_temp
  as $$
  begin
    if tg_op <> 'INSERT' then
      raise exception 'a schedule is not changed: another one is entered' using errcode = 'check_violation';
    end if;
    new.created_at := clock_timestamp();
    new.set_by := coalesce(nullif(current_setting('svc.actor', true), ''), 'role ' || session_user);
    return new;
  end $$;
create trigger set_by_is_recorded before insert or update or delete on payout_schedules
  for each row execute function name_who_set_schedule();

-- The periods of a merchant with a schedule: the one that runs, or waits for its bank day, and what became of those before.
create table payout_periods (
  merchant_id  text collate "C" not null references merchants,
  ends_on      date not null,
  outcome      text check (outcome in ('PREPARED', 'NOTHING_DUE', 'BELOW_MINIMUM', 'CARRIED_FORWARD', 'NO_BANK_ACCOUNT')),
  payout_id    text collate "C",
  -- what was due
  amount_paise bigint,
  decided_at   timestamptz,
  primary key (merchant_id, ends_on),
  constraint payout_is_the_merchants foreign key (merchant_id, payout_id) references payouts deferrable initially deferred,
  constraint payout_of_one_period unique (merchant_id, payout_id),
  constraint prepared_is_a_payout check (coalesce(outcome = 'PREPARED', false) = (payout_id is not null)),
  constraint decided_as_a_whole check (num_nulls(outcome, amount_paise, decided_at) in (0, 3))
);
create unique index payout_periods_open on payout_periods (merchant_id) where outcome is null;
create index payout_periods_waiting on payout_periods (ends_on, merchant_id) where outcome is null;
select secure_tenants('payout_periods', 'merchant_id');
grant select, insert, update (outcome, payout_id, amount_paise, decided_at) on payout_periods to svc_service;
grant select, insert on payout_periods to svc_operator;

-- A period is decided once, by the operators' login, and its payout pays what was due until its end.
create function require_period_step() returns trigger
  language plpgsql security definer set search_path = svc, pg_temp
  as $$
  begin
    if not acts_for_operators() or tg_op = 'INSERT' and new.outcome is not null or tg_op = 'UPDATE' and (
        old.outcome is not null or new.outcome is null or new.merchant_id <> old.merchant_id or new.ends_on <> old.ends_on)
    then
      raise exception 'a period of payouts is decided once, for the operators'
        using errcode = 'integrity_constraint_violation', constraint = 'periods_are_decided_once', table = 'payout_periods';
    end if;
    return new;
  end $$;
create trigger periods_are_decided_once before insert or update on payout_periods
  for each row execute function require_period_step();

create function require_payout_of_period() returns trigger
  language plpgsql security definer set search_path = svc, pg_temp
  as $$
  begin
    if not exists (select from payouts p where p.merchant_id = new.merchant_id and p.payout_id = new.payout_id
      and p.business_day = new.ends_on and p.amount_paise = new.amount_paise)
    then
      raise exception 'the payout is not that of the period'
        using errcode = 'integrity_constraint_violation', constraint = 'payouts_are_of_their_period', table = 'payout_periods';
    end if;
    return null;
  end $$;
create constraint trigger payouts_are_of_their_period after insert or update on payout_periods deferrable initially deferred
  for each row when (new.payout_id is not null) execute function require_payout_of_period();

-- The bank has settled every payment up to this one, by their ids: what watches goes on from there.
alter table alert_watch add column settled_to text collate "C" not null default '';

revoke execute on all functions in schema svc from public;
