-- Payouts: what merchants are charged, when and where their money goes, and what each payout is made of.

-- Where the money of a merchant goes, and what state taxes its fees; as the operator who set them last entered them.
create table payout_details (
  merchant_id    text collate "C" primary key references merchants,
  account_holder text not null check (char_length(account_holder) between 1 and 100),
  account_number text not null check (account_number ~ '^[0-9]{6,18}$'),
  -- what people and the audit see of it
  account_ends   text not null generated always as (right(account_number, 4)) stored,
  ifsc           text not null check (ifsc ~ '^[A-Z]{4}0[A-Z0-9]{6}$'),
  -- GST state code of the merchant; null: not known, taxed as if it were the platform's
  gst_state      text check (gst_state ~ '^[0-9]{2}$'),
  updated_at     timestamptz not null,
  -- Who set it, by the name that the audit has: who set the bank account of a payout does not approve it.
  set_by         text
);
create constraint trigger audited after insert or update or delete on payout_details deferrable initially deferred
  for each row execute function audit_change('payout_details', 'merchant_id', 'merchant_id',
    'account_holder,account_ends,ifsc,gst_state,updated_at');
select secure_tenants('payout_details', 'merchant_id');
grant select on payout_details to svc_service;
grant select, insert, update on payout_details to svc_operator;

-- Who sets the tax state of a merchant, or the same account again, does not become who set its account: otherwise the one
-- who did could approve payouts to it.
create function name_who_set_account() returns trigger
  language plpgsql set search_path = svc, pg_temp
  as $$
  begin
    if tg_op = 'UPDATE' and (new.account_holder, new.account_number, new.ifsc)
      = (old.account_holder, old.account_number, old.ifsc) then
      new.set_by := old.set_by;
    else
      new.set_by := coalesce(nullif(current_setting('svc.actor', true), ''), 'role ' || session_user);
    end if;
    return new;
  end $$;
create trigger set_by_is_recorded before insert or update on payout_details
  for each row execute function name_who_set_account();

-- What a merchant asks for by itself: another bank account, payment address or fee (decision O8). An operator approves it;
-- until then what was before holds.
create table change_requests (
  merchant_id    text collate "C" not null references merchants,
  approval_id    text collate "C" not null,
  kind           text not null check (kind in ('bank_account', 'payment_address', 'fee')),
  account_holder text check (char_length(account_holder) between 1 and 100),
  account_number text check (account_number ~ '^[0-9]{6,18}$'),
  -- what people and the audit see of it
  account_ends   text generated always as (right(account_number, 4)) stored,
  ifsc           text check (ifsc ~ '^[A-Z]{4}0[A-Z0-9]{6}$'),
  vpa            text,
  basis_points   integer check (basis_points between 0 and 10000),
  fixed_paise    bigint check (fixed_paise between 0 and 100000),
  -- as the audit names them, by the trigger below
  requested_by   text not null default '',
  requested_at   timestamptz not null,
  outcome        text check (outcome in ('APPROVED', 'REJECTED', 'WITHDRAWN')),
  -- of a rejection
  reason         text check (char_length(reason) between 1 and 255),
  decided_by     text,
  decided_at     timestamptz,
  primary key (merchant_id, approval_id),
  constraint change_is_of_its_kind check (
    (kind = 'payment_address') = (vpa is not null)
    and (kind = 'bank_account') = (account_holder is not null and account_number is not null and ifsc is not null)
    and (kind = 'bank_account' or (account_holder, account_number, ifsc) is null)
    and (kind = 'fee') = (basis_points is not null and fixed_paise is not null)
    and (kind = 'fee' or (basis_points, fixed_paise) is null))
);
create unique index change_requests_one_open on change_requests (merchant_id, kind) where outcome is null;
create index change_requests_by_id on change_requests (approval_id);
create constraint trigger audited after insert or update on change_requests deferrable initially deferred
  for each row execute function audit_change('change_request', 'approval_id', 'merchant_id',
    'kind,account_holder,account_ends,ifsc,vpa,basis_points,fixed_paise,outcome,reason');
select secure_tenants('change_requests', 'merchant_id');
grant select, insert, update (outcome) on change_requests to svc_service;
grant select, update (outcome, reason) on change_requests to svc_operator;

-- Who asks and who decides is as the audit names them; it is decided once, and only operators approve or reject.
create function change_requests_are_decided_once() returns trigger
  language plpgsql set search_path = svc, pg_temp
  as $$
  declare
    decides boolean := has_column_privilege('svc.change_requests', 'reason', 'update');
    person  text := coalesce(
      case when decides then nullif(current_setting('svc.actor', true), '')
        else 'member ' || nullif(current_setting('svc.member', true), '') end,
      'role ' || session_user);
  begin
    if tg_op = 'INSERT' then
      new.requested_by := person;
      new.requested_at := clock_timestamp();
      new.outcome := null;
      new.reason := null;
      new.decided_by := null;
      new.decided_at := null;
      return new;
    end if;
    if old.outcome is not null or new.outcome is null
      or (new.kind, new.account_holder, new.account_number, new.ifsc, new.vpa, new.basis_points, new.fixed_paise,
          new.requested_by, new.requested_at)
        is distinct from (old.kind, old.account_holder, old.account_number, old.ifsc, old.vpa, old.basis_points, old.fixed_paise,
          old.requested_by, old.requested_at)
      or new.outcome <> 'WITHDRAWN' and not decides
    then
      raise exception 'a change that a merchant asks for is decided once, by an operator'
        using errcode = 'integrity_constraint_violation', constraint = tg_name, table = tg_table_name;
    end if;
    new.decided_by := person;
    new.decided_at := clock_timestamp();
    return new;
  end $$;
create trigger change_requests_are_decided_once before insert or update on change_requests
  for each row execute function change_requests_are_decided_once();

-- What a merchant is charged for each payment, from this business day on.
create table merchant_fees (
  merchant_id  text collate "C" not null references merchants,
  valid_from   date not null,
  basis_points integer not null check (basis_points between 0 and 10000),
  fixed_paise  bigint not null check (fixed_paise between 0 and 100000),
  created_at   timestamptz not null,
  -- payments accepted before it are not charged by it; null: nothing is charged because the merchant is closing
  charges_from timestamptz,
  primary key (merchant_id, valid_from, created_at)
);
create constraint trigger audited after insert or update or delete on merchant_fees deferrable initially deferred
  for each row execute function audit_change('merchant_fee', 'valid_from', 'merchant_id', 'valid_from,basis_points,fixed_paise');
select secure_tenants('merchant_fees', 'merchant_id');
grant select on merchant_fees to svc_service;
grant select, insert on merchant_fees to svc_operator;

-- A payment is charged by the fee that was in force when it was accepted (decision Q15): fees are entered and never
-- changed, and none is of a payment that came before it.
create function fee_is_of_later_payments() returns trigger
  language plpgsql set search_path = svc, pg_temp
  as $$
  begin
    if tg_op <> 'INSERT' then
      raise exception 'a fee is not changed: another one is entered' using errcode = 'check_violation';
    end if;
    new.created_at := clock_timestamp();
    new.charges_from := new.created_at;
    if new.basis_points = 0 and new.fixed_paise = 0 and exists (
      select from tenants where tenant_id = new.merchant_id and closing_at is not null) then
      new.charges_from := null;
    end if;
    return new;
  end $$;
create trigger fee_of_later_payments before insert or update or delete on merchant_fees
  for each row execute function fee_is_of_later_payments();

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

-- What is paid out to a merchant: payments less refunds, fees and the tax on fees.
create table payouts (
  merchant_id       text collate "C" not null references merchants,
  payout_id         text collate "C" not null,
  business_day      date not null,
  payment_count     integer not null check (payment_count >= 0),
  payment_paise     bigint not null check (payment_paise >= 0),
  refund_count      integer not null check (refund_count >= 0),
  -- refunds less those that failed after an earlier payout had deducted them
  refund_paise      bigint not null,
  -- the part of them that was advanced to the merchant and is repaid here
  advance_paise     bigint not null,
  fee_paise         bigint not null check (fee_paise >= 0),
  cgst_paise        bigint not null check (cgst_paise >= 0),
  sgst_paise        bigint not null check (sgst_paise >= 0),
  igst_paise        bigint not null check (igst_paise >= 0),
  amount_paise      bigint not null check (amount_paise > 0),
  account_holder    text not null,
  account_number    text not null,
  ifsc              text not null,
  status            text not null check (status in ('PREPARED', 'APPROVED', 'SENT', 'PAID', 'FAILED', 'CANCELLED')),
  prepared_by       text not null,
  approved_by       text,
  -- the run that sent it to the bank
  run_id            text collate "C",
  -- the bank's own reference of the payout
  utr               text collate "C" constraint one_payout_per_utr unique,
  failure_reason    text,
  -- the earliest payment or refund in it
  first_at          timestamptz not null,
  created_at        timestamptz not null,
  approved_at       timestamptz,
  sent_at           timestamptz,
  completed_at      timestamptz,
  -- what it adds to payments: opening balances, and corrections of payments, which may be below zero
  adjustment_count  integer not null default 0,
  adjustment_paise  bigint not null default 0,
  -- who set the bank account that the payout keeps
  account_set_by    text,
  -- of a payout that the bank reported as failed, and paid after all: when it had failed
  failed_at         timestamptz,
  -- when the bank reported that it had paid a failed payout whose money had been paid again, or was not there any more
  paid_late_at      timestamptz,
  -- when the bank reported that what it had paid came back
  returned_at       timestamptz,
  -- the bank's own reference of the return
  return_utr        text collate "C",
  -- fees and their tax that a merchant paid otherwise, or that were given up, and that it gives back
  settled_fees_paise bigint not null default 0,
  primary key (merchant_id, payout_id),
  constraint approved_by_another_person check (approved_by is null or approved_by <> prepared_by),
  constraint sent_when_approved check (status in ('PREPARED', 'CANCELLED') or approved_by is not null),
  constraint payout_completed_when_final check ((status in ('PAID', 'FAILED', 'CANCELLED')) = (completed_at is not null)),
  constraint payout_failed_with_reason check ((status in ('FAILED', 'CANCELLED')) = (failure_reason is not null)),
  constraint payout_adds_up check (amount_paise
  = payment_paise + adjustment_paise - refund_paise - fee_paise - cgst_paise - sgst_paise - igst_paise),
  constraint approved_by_another_than_set_the_account
  check (approved_by is null or account_set_by is null or approved_by <> account_set_by),
  constraint paid_late_when_failed check (paid_late_at is null or status = 'FAILED' and utr is not null),
  constraint failed_before_it_was_paid
    check (failed_at is null or status = 'PAID' or returned_at is not null),
  constraint returned_after_it_was_paid check ((returned_at is null) = (return_utr is null)
    and (returned_at is null or status = 'FAILED' and utr is not null and paid_late_at is null))
);
create index payouts_newest on payouts (merchant_id, created_at desc, payout_id desc);
create index payouts_by_id on payouts (payout_id);
create index payouts_of_day on payouts (business_day, payout_id);
create index payouts_open on payouts (status, created_at) where status in ('PREPARED', 'APPROVED', 'SENT');
create index payouts_of_run on payouts (run_id, payout_id) where run_id is not null;
create unique index one_payout_per_return on payouts (return_utr) where return_utr is not null;
create trigger approved_by_a_second_person after insert or update of approved_by on payouts
  for each row when (new.approved_by is not null) execute function require_second_person();
select secure_tenants('payouts', 'merchant_id');
grant select, insert, update (status, approved_by, run_id, utr, failure_reason, approved_at, sent_at, completed_at,
  failed_at, paid_late_at, returned_at, return_utr) on payouts to svc_service;
grant select on payouts to svc_operator;

-- From which status a payout comes to which (decision R19). A failed one may have been paid after all, a paid one may come
-- back.
create table payout_steps (
from_status text collate "C",
 to_status text collate "C",
 primary key (from_status, to_status)
);
grant select on payout_steps to svc_service, svc_operator;
insert into payout_steps values ('PREPARED', 'APPROVED'), ('PREPARED', 'CANCELLED'), ('APPROVED', 'SENT'),
  ('APPROVED', 'CANCELLED'), ('SENT', 'PAID'), ('SENT', 'FAILED'), ('FAILED', 'PAID'), ('PAID', 'FAILED');

create function require_payout_step() returns trigger
  language plpgsql security definer set search_path = svc, pg_temp
  as $$
  begin
    if not acts_for_operators() then
      raise exception 'payouts are the operators’'
        using errcode = 'integrity_constraint_violation', constraint = 'payouts_are_of_operators', table = 'payouts';
    end if;
    if tg_op = 'INSERT' and (new.status <> 'PREPARED' or num_nulls(new.approved_by, new.approved_at, new.run_id, new.utr,
        new.sent_at, new.completed_at, new.failed_at, new.paid_late_at, new.returned_at, new.return_utr) <> 10)
      or tg_op = 'UPDATE' and (new.status <> old.status and not exists (
          select from payout_steps s where s.from_status = old.status and s.to_status = new.status)
        or new.approved_by is distinct from old.approved_by and (old.status, new.status) <> ('PREPARED', 'APPROVED'))
    then
      raise exception 'a payout does not come to % like this', new.status
        using errcode = 'integrity_constraint_violation', constraint = 'payout_steps_are_taken', table = 'payouts';
    end if;
    -- What leaves is what its lines and its journal say, to the account that the merchant has had since it was prepared.
    if tg_op = 'UPDATE' and new.status in ('APPROVED', 'SENT') and new.status <> old.status and not exists (
      select from journals j
        join ledger_transfers t on t.tenant_id = j.tenant_id and t.journal_id = j.journal_id and t.kind = 'payout'
          and t.debit_account_id = 'payable:' || new.merchant_id
          and t.credit_account_id = 'payouts_in_transit:' || new.merchant_id and t.amount = new.amount_paise
      where j.tenant_id = new.merchant_id and j.journal_id = 'jrn_' || substr(new.payout_id, 5) and j.kind = 'payout'
        and new.amount_paise = (
          select coalesce(sum(case
            when l.kind in ('payment', 'opening_balance', 'adjustment_up', 'advance_settled', 'fees_settled', 'refund_failed', 'dispute_won',
                'credit_note', 'tds_certificate')
              then l.amount_paise else - l.amount_paise end - l.fee_paise - l.cgst_paise - l.sgst_paise - l.igst_paise), 0)
          from payout_lines l where l.merchant_id = new.merchant_id and l.payout_id = new.payout_id and not l.released))
    then
      raise exception 'the lines and the journal of the payout % do not say its amount', new.payout_id
        using errcode = 'integrity_constraint_violation', constraint = 'payouts_add_up', table = 'payouts';
    end if;
    return new;
  end $$;
create trigger payout_steps_are_taken before insert or update on payouts for each row
  execute function require_payout_step();
create trigger runs_are_named_once before update on payouts for each row
  when ((new.run_id, new.sent_at) is distinct from (old.run_id, old.sent_at) and not (old.status = 'APPROVED' and new.status = 'SENT'))
  execute function keep_run();

-- What a payout is made of. A payment or refund is in one payout, unless that one failed or was cancelled.
create table payout_lines (
  merchant_id   text collate "C" not null,
  payout_id     text collate "C" not null,
  -- the payment, refund or dispute
  object_id     text collate "C" not null,
  kind          text not null check (kind in ('payment', 'refund', 'refund_failed', 'dispute', 'dispute_won',
    'opening_balance', 'adjustment_up', 'adjustment_down', 'advance_settled', 'advance_reopened', 'fees_settled',
    'credit_note', 'debit_note', 'tds_certificate')),
  occurred_at   timestamptz not null,
  amount_paise  bigint not null check (amount_paise > 0),
  advance_paise bigint not null check (advance_paise between 0 and amount_paise),
  fee_paise     bigint not null check (fee_paise >= 0),
  cgst_paise    bigint not null check (cgst_paise >= 0),
  sgst_paise    bigint not null check (sgst_paise >= 0),
  igst_paise    bigint not null check (igst_paise >= 0),
  -- the payout failed or was cancelled: what it was made of is due again
  released      boolean not null default false,
  primary key (merchant_id, payout_id, object_id, kind),
  constraint payout_is_the_merchants foreign key (merchant_id, payout_id) references payouts (merchant_id, payout_id)
);
create unique index payout_lines_paid_once on payout_lines (merchant_id, object_id, kind) where not released;
create index payout_lines_in_order on payout_lines (merchant_id, payout_id, occurred_at, object_id);
select secure_tenants('payout_lines', 'merchant_id');
grant select, insert, update (released) on payout_lines to svc_service;
grant select on payout_lines to svc_operator;
create trigger by_an_operator before insert or update on payout_lines for each statement execute function require_operator();
create constraint trigger states_are_posted after update on payout_lines deferrable initially deferred for each row
  when (new.released and not old.released) execute function require_posted_state();

-- Every payment of a merchant before this instant is in a payout: the next one reads from here.
create table payout_positions (
  merchant_id text collate "C" primary key references merchants,
  due_from    timestamptz not null,
  -- Fees of every payment before this instant are entered, or are not charged; null: not known.
  accrued_to  timestamptz
);
select secure_tenants('payout_positions', 'merchant_id');
grant select, insert, update (due_from, accrued_to) on payout_positions to svc_service;
grant select on payout_positions to svc_operator;

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

-- A payout that a schedule prepared is requested by who set the schedule, for as long as it holds, whatever became of them.
create function is_scheduled(of_merchant text, of_payout text) returns boolean
  language sql stable
  as $$ select exists (select from payout_periods p where p.merchant_id = of_merchant and p.payout_id = of_payout) $$;

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

-- Fees and their GST belong to the business day of the payment (decision R22): entered once, and deducted by a payout.
create table fee_accruals (
  merchant_id      text collate "C" not null references merchants,
  payment_id       text collate "C" not null,
  business_day     date not null,
  -- what entered it; null: nothing is charged
  journal_id       text collate "C",
  fee_paise        bigint not null check (fee_paise >= 0),
  cgst_paise       bigint not null check (cgst_paise >= 0),
  sgst_paise       bigint not null check (sgst_paise >= 0),
  igst_paise       bigint not null check (igst_paise >= 0),
  -- GST in 1/100 percent
  tax_basis_points integer not null check (tax_basis_points >= 0),
  primary key (merchant_id, payment_id),
  constraint charged_by_a_journal check ((journal_id is null) = (fee_paise + cgst_paise + sgst_paise + igst_paise = 0)),
  constraint journal_is_the_merchants foreign key (merchant_id, journal_id) references journals (tenant_id, journal_id)
    deferrable initially deferred
);
create index fee_accruals_of_journal on fee_accruals (merchant_id, journal_id) where journal_id is not null;
select secure_tenants('fee_accruals', 'merchant_id');
grant select, insert on fee_accruals to svc_service, svc_operator;

-- What decides what a payment is charged beside its merchant's fees: where business days end, and GST. One row, of the settings;
-- the owner's login alone stores it, since who changes it changes what every merchant is charged.
create table charge_terms (
  only_row    boolean primary key default true check (only_row),
  -- minutes of the day in the zone
  day_ends_at integer not null check (day_ends_at between 1 and 1440),
  time_zone   text not null,
  -- state code of the company that runs the service
  state       text not null,
  -- GST in 1/100 percent, by the day from which on it is charged
  tax_rates   jsonb not null,
  -- for the audit
  what        text not null default 'charges'
);
insert into charge_terms values (true, 1440, 'Asia/Kolkata', '27', '{"2017-07-01": 1800}');
create constraint trigger audited after insert or update or delete on charge_terms deferrable initially deferred
  for each row execute function audit_change('charge_terms', 'what', '', 'day_ends_at,time_zone,state,tax_rates');
grant select on charge_terms to svc_service, svc_operator;

-- What a payment is charged follows from its merchant's fees and these terms, whoever enters it: by the fee of its business
-- day that was in force when it was accepted (decision Q15), rounded half up, and GST of it at the rate of that day: half and
-- half within one state, else integrated. Instants are compared as the program has them, in milliseconds.
create function require_charges_of_schedules() returns trigger
  language plpgsql security definer set search_path = svc, pg_temp
  as $$
  begin
    if exists (
      select from added a
        cross join charge_terms t
        left join payments p on p.merchant_id = a.merchant_id and p.payment_id = a.payment_id
          and p.status in ('ACCEPTED', 'UNASSIGNED') and a.business_day =
            ((p.created_at + (1440 - t.day_ends_at) * interval '1 minute') at time zone t.time_zone)::date
        left join lateral (
          select f.basis_points, f.fixed_paise from merchant_fees f
          where f.merchant_id = a.merchant_id and f.valid_from <= a.business_day
            and coalesce(date_trunc('milliseconds', f.charges_from) <= date_trunc('milliseconds', p.created_at), true)
          order by f.valid_from desc, f.created_at desc limit 1) f on true
        left join tax_registrations r on r.merchant_id = a.merchant_id
        left join payout_details d on d.merchant_id = a.merchant_id
        cross join lateral (
          select coalesce((p.amount_paise * f.basis_points + 5000) / 10000 + f.fixed_paise, 0) as fee,
            coalesce(r.state, d.gst_state, t.state) = t.state as is_within, coalesce((
              select g.rate::integer from jsonb_each_text(t.tax_rates) as g (since, rate)
              where g.since <= a.business_day::text order by g.since desc limit 1), 0) as rate) c
        cross join lateral (
          select case when c.is_within then (c.fee * c.rate + 10000) / 20000 else 0 end as half,
            case when c.is_within then 0 else (c.fee * c.rate + 5000) / 10000 end as integrated) g
      where p.payment_id is null or (a.fee_paise, a.cgst_paise, a.sgst_paise, a.igst_paise, a.tax_basis_points)
        <> (c.fee, g.half, g.half, g.integrated, c.rate)
    ) then
      raise exception 'a payment is charged what the fees of its merchant and the terms of charges say'
        using errcode = 'integrity_constraint_violation', constraint = tg_name, table = tg_table_name;
    end if;
    return null;
  end $$;
create trigger charged_by_the_schedule after insert on fee_accruals referencing new table as added
  for each statement execute function require_charges_of_schedules();

-- A fee in the books is that of payments, each once, whoever enters it.
create function require_fees_of_payments() returns trigger
  language plpgsql security definer set search_path = svc, pg_temp
  as $$
  begin
    if split_part(new.debit_account_id, ':', 1) <> 'accrued_fees' or new.amount is distinct from (
      select case split_part(new.credit_account_id, ':', 1) when 'fee_income' then sum(f.fee_paise)
        when 'output_cgst' then sum(f.cgst_paise) when 'output_sgst' then sum(f.sgst_paise) else sum(f.igst_paise) end
      from fee_accruals f where f.merchant_id = new.tenant_id and f.journal_id = new.journal_id)
    then
      raise exception 'a fee in the books is not that of its payments'
        using errcode = 'integrity_constraint_violation', constraint = 'fees_are_of_payments', table = 'ledger_transfers';
    end if;
    return null;
  end $$;
create constraint trigger fees_are_of_payments after insert on ledger_transfers deferrable initially deferred for each row
  when (new.kind = 'fee_accrual') execute function require_fees_of_payments();

-- What an installation owed when it took over from another system (decision R14): one journal for each ledger account,
-- imported once. After its reversal another one may be imported.
create table opening_balances (
  tenant_id    text collate "C" not null references tenants,
  journal_id   text collate "C" not null,
  account_id   text collate "C" not null,
  amount_paise bigint not null check (amount_paise > 0),
  -- the file and its line
  reference    text collate "C" not null,
  -- the payout that has it; null: it is due, or the account is none of a merchant
  payout_id    text collate "C",
  -- the journal that took it back
  reversed_by  text collate "C",
  created_at   timestamptz not null,
  primary key (tenant_id, journal_id),
  constraint journal_is_the_tenants foreign key (tenant_id, journal_id) references journals (tenant_id, journal_id),
  constraint account_is_the_tenants foreign key (tenant_id, account_id) references ledger_accounts (tenant_id, account_id),
  constraint reversal_is_the_tenants foreign key (tenant_id, reversed_by) references journals (tenant_id, journal_id),
  constraint payout_is_the_tenants foreign key (tenant_id, payout_id) references payouts (merchant_id, payout_id),
  constraint paid_out_is_not_reversed check (payout_id is null or reversed_by is null)
);
create unique index opening_balances_one_standing on opening_balances (tenant_id, account_id) where reversed_by is null;
select secure_tenants('opening_balances', 'tenant_id');
create trigger by_an_operator before insert or update on opening_balances for each statement
  execute function require_operator();
grant select, insert, update (payout_id, reversed_by) on opening_balances to svc_service;
grant select on opening_balances to svc_operator;

-- One reference of the bank names one payout among all merchants.
create function directory_payouts(utrs text[]) returns table (utr text, payout_id text)
  language sql stable security definer set search_path = svc, pg_temp
  as $$
    select y.utr, y.payout_id from payouts y where y.utr = any (utrs)
    union all
    select y.return_utr, y.payout_id from payouts y where y.return_utr = any (utrs)
  $$;

-- Merchants who were paid before an instant what has no fee entered. `only_tenants`: of these; null: of all.
create function directory_fees_to_accrue(until timestamptz, most integer, only_tenants text[])
  returns table (merchant_id text)
  language sql stable security definer set search_path = svc, pg_temp
  as $$
    select m.merchant_id from merchants m left join payout_positions o using (merchant_id)
    where (only_tenants is null or m.merchant_id = any (only_tenants)) and exists (
      select from payments p where p.merchant_id = m.merchant_id and p.created_at < until
        and p.created_at >= coalesce(o.accrued_to, o.due_from, '-infinity'))
    order by m.merchant_id limit most
  $$;

revoke execute on all functions in schema svc from public;
grant execute on function directory_payouts, directory_fees_to_accrue, is_scheduled to svc_service;
