-- Year ends (decision R28): income and expenses of a financial year that is over go to the owner's equity, for each tenant
-- in its own books, and in those of the platform as a whole.
insert into posting_rules
  (journal_kind, leg_kind, debit_kind, credit_kind, on_word_of, is_manual, is_reversible)
select j.kind, j.kind, s.debit, s.credit, 'person', j.kind = 'year_end', false
from (values ('year_end'), ('year_end_shared')) j (kind)
  cross join (values ('fee_income'), ('rail_charges'), ('network_charges'), ('interchange_income'), ('other_income'),
    ('write_offs')) a (kind)
  cross join lateral (values (a.kind, 'owner_equity'), ('owner_equity', a.kind)) s (debit, credit);

-- What the network or the bank takes back of such income may belong to a year that is closed: it may be below zero; those
-- that are there, from 0186 on. A process of the version before opens them with a floor.
insert into account_kinds (kind, unit, is_bounded) values ('interchange_income', 'INR', false), ('other_income', 'INR', false)
on conflict (kind) do update set is_bounded = excluded.is_bounded;
drop trigger floor_is_lifted on ledger_accounts;
create trigger floor_is_lifted before insert on ledger_accounts for each row
  when (new.kind in ('fee_income', 'output_cgst', 'output_sgst', 'output_igst', 'interchange_income', 'other_income')
    and new.floor is not null)
  execute function lift_floor();

create table year_ends (
  tenant_id       text collate "C" not null references tenants check (tenant_id = 'house'),
  year_end_id     text collate "C" not null,
  -- the last day of the year
  through         date not null check (extract(month from through) = 3 and extract(day from through) = 31),
  -- 1, then one more for each that enters what was found since
  place           integer not null check (place >= 1),
  -- below zero it is a loss
  profit_paise    bigint not null,
  -- of the whole; shares of tenants are in journals of the same reference
  journal_id      text collate "C" not null,
  -- what of the shares is in the books of tenants that live in another cell now (decision X40)
  moved_paise     bigint not null default 0,
  created_at      timestamptz not null,
  primary key (tenant_id, year_end_id),
  constraint year_ends_once unique (tenant_id, through, place),
  constraint journal_is_the_platforms foreign key (tenant_id, journal_id) references journals (tenant_id, journal_id)
    deferrable initially deferred
);
select secure_tenants('year_ends', 'tenant_id');
grant select, insert on year_ends to svc_service, svc_operator;
create trigger by_an_operator before insert on year_ends for each statement execute function require_operator();

-- Every journal of these kinds is of such a year end, on the last day of its year, by the end of the transaction.
create function require_year_end() returns trigger
  language plpgsql security definer set search_path = svc, pg_temp
  as $$
  begin
    if not exists (
      select from year_ends y join journals j on j.tenant_id = new.tenant_id and j.journal_id = new.journal_id
      where y.tenant_id = 'house' and y.year_end_id = new.object_id and j.effective_date = y.through
        and (new.kind = 'year_end_shared' or y.journal_id = new.journal_id))
    then
      raise exception 'no year end has this journal of kind %', new.kind
        using errcode = 'integrity_constraint_violation', constraint = 'year_ends_are_proven', table = 'ledger_transfers';
    end if;
    return null;
  end $$;
create constraint trigger year_ends_are_proven after insert on ledger_transfers deferrable initially deferred for each row
  when (new.kind in ('year_end', 'year_end_shared')) execute function require_year_end();

revoke execute on all functions in schema svc from public;
