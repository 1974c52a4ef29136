-- Double-entry ledger. `balance` is credits less debits in the unit's smallest part (paise for INR); an asset's is
-- negative. `floor` is the least balance that the account may have, null for none.
create table ledger_accounts (
  account_id text collate "C" not null,
  tenant_id  text collate "C" not null references tenants,
  kind       text not null,
  unit       text not null,
  balance    bigint not null default 0,
  floor      bigint,
  created_at timestamptz not null,
  constraint balance_not_under_floor check (balance >= floor),
  -- The account first: it also serves operators, who look an account up without knowing its tenant.
  constraint ledger_accounts_by_id unique (account_id, tenant_id, unit)
);
alter table ledger_accounts add primary key (tenant_id, account_id);
select secure_tenants('ledger_accounts', 'tenant_id');
grant select, insert on ledger_accounts to svc_service;
grant update (balance) on ledger_accounts to svc_service;
grant select, insert, update on ledger_accounts to svc_operator;
insert into ledger_accounts (account_id, tenant_id, kind, unit, floor, created_at) values
  ('upi_clearing:house', 'house', 'upi_clearing', 'INR', null, now()),
  ('bank:house', 'house', 'bank', 'INR', null, now()),
  ('suspense:house', 'house', 'suspense', 'INR', 0, now()),
  ('upi_refunds:house', 'house', 'upi_refunds', 'INR', 0, now());

-- A journal is one business fact; its transfers are its legs. Never changed: a mistake is corrected by a journal that
-- reverses it. The service may insert and read journals and transfers, nothing else.
create table journals (
  -- Its legs refer to accounts, and those to the tenant.
  tenant_id      text collate "C" not null,
  journal_id     text collate "C" not null,
  kind           text not null,
  -- The business day that it belongs to in the books.
  effective_date date not null,
  -- What the outside calls it, such as the bank's UTR or a partner's request id.
  reference      text collate "C",
  -- The journal that it takes back.
  reverses       text collate "C",
  reason         text,
  legs           integer not null check (legs > 0),
  at             timestamptz not null,
  primary key (tenant_id, journal_id),
  constraint reversed_journal_is_the_tenants
    foreign key (tenant_id, reverses) references journals (tenant_id, journal_id),
  constraint reverses_another check (reverses <> journal_id)
);
-- The UTR of a credit is unique over all tenants already (`one_credit_per_utr`); a second index would cost every payment.
create unique index journals_one_per_reference on journals (tenant_id, kind, reference)
  where reference is not null and kind <> 'upi_credit';
create unique index journals_reversed_once on journals (tenant_id, reverses) where reverses is not null;
select secure_tenants('journals', 'tenant_id');
grant select, insert on journals to svc_service, svc_operator;

-- Movements. Each debits one account and credits another with one amount of one unit, and both accounts are its
-- tenant's: so the legs of a journal balance in every unit.
create table ledger_transfers (
  transfer_id       text collate "C" not null,
  tenant_id         text collate "C" not null,
  journal_id        text collate "C" not null,
  -- 1, 2, 3 … within the journal.
  leg               integer not null check (leg > 0),
  kind              text not null,
  debit_account_id  text collate "C" not null,
  credit_account_id text collate "C" not null,
  amount            bigint not null check (amount > 0),
  unit              text not null,
  object_id         text collate "C" not null,
  created_at        timestamptz not null,
  primary key (tenant_id, journal_id, leg),
  check (debit_account_id <> credit_account_id),
  constraint debit_side_has_the_unit_and_tenant
    foreign key (tenant_id, debit_account_id, unit) references ledger_accounts (tenant_id, account_id, unit),
  constraint credit_side_has_the_unit_and_tenant
    foreign key (tenant_id, credit_account_id, unit) references ledger_accounts (tenant_id, account_id, unit)
);
create index ledger_transfers_by_object on ledger_transfers (object_id);
create index ledger_transfers_debited on ledger_transfers (debit_account_id, transfer_id);
create index ledger_transfers_credited on ledger_transfers (credit_account_id, transfer_id);
-- What is left of a lot of coins expires at most once.
create unique index ledger_transfers_one_expiry on ledger_transfers (tenant_id, object_id) where kind = 'coin_expiry';
select secure_tenants('ledger_transfers', 'tenant_id');
grant select, insert on ledger_transfers to svc_service, svc_operator;

-- Postings that an operator makes by hand, above the limit only with a second person (decision R10). One row of limit;
-- processes with the operators' login store the setting.
create table approval_limit (
  only_row    boolean primary key default true check (only_row),
  -- null: none is needed
  above_paise bigint check (above_paise >= 0)
);
insert into approval_limit values (true, null);
grant select on approval_limit to svc_service, svc_operator;
grant update (above_paise) on approval_limit to svc_operator;

create table approvals (
  tenant_id    text collate "C" not null references tenants,
  approval_id  text collate "C" not null,
  -- that of the journal
  kind         text not null,
  amount_paise bigint not null check (amount_paise > 0),
  -- what names the posting once: the bank's reference, or the journal to be reversed
  reference    text collate "C" not null,
  request      jsonb not null,
  reason       text not null,
  requested_by text not null,
  requested_at timestamptz not null,
  expires_at   timestamptz not null,
  outcome      text check (outcome in ('APPROVED', 'REJECTED', 'EXPIRED')),
  decided_by   text,
  decided_at   timestamptz,
  -- the one posting that it allows
  journal_id   text collate "C",
  primary key (tenant_id, approval_id),
  constraint approved_by_another_person check (outcome is distinct from 'APPROVED' or decided_by <> requested_by),
  constraint decided_as_a_whole
    check ((outcome is null) = (decided_by is null) and (outcome is null) = (decided_at is null)),
  constraint approved_in_time check (outcome is distinct from 'APPROVED' or decided_at < expires_at),
  constraint posted_when_approved check (journal_id is null or outcome is not distinct from 'APPROVED'),
  constraint posted_journal_is_the_tenants
    foreign key (tenant_id, journal_id) references journals (tenant_id, journal_id) deferrable initially deferred
);
create unique index approvals_one_open on approvals (tenant_id, kind, reference) where outcome is null;
create unique index approvals_by_journal on approvals (tenant_id, journal_id) where journal_id is not null;
create index approvals_by_id on approvals (approval_id);
create index approvals_by_time on approvals (requested_at);
create constraint trigger audited after insert or update on approvals deferrable initially deferred
  for each row execute function audit_change('approval', 'approval_id', 'tenant_id',
    'kind,amount_paise,reference,reason,requested_by,expires_at,outcome,decided_by,journal_id');
select secure_tenants('approvals', 'tenant_id');
grant select on approvals to svc_service;
grant update (journal_id) on approvals to svc_service;
grant select, insert, update on approvals to svc_operator;

-- Periods that are closed (decision R12): what the books were at their end, signed. Nothing is entered in them any more.
create table book_closings (
  -- the last business day of the period
  through   date primary key,
  -- the last millisecond of that day in the business zone
  until     timestamptz not null unique,
  closed_at timestamptz not null,
  closed_by text not null,
  signed    text not null,
  constraint closed_when_over check (closed_at > until)
);
create constraint trigger audited after insert or update or delete on book_closings deferrable initially deferred
  for each row execute function audit_change('book_closing', 'through', null, 'through,until,closed_at,closed_by');
grant select on book_closings to svc_service, svc_operator;
grant insert on book_closings to svc_operator;

-- A statement that inserts transfers inserts whole journals: all legs of each that it names, so that no leg is missing
-- and none is added later, nor in a closed period; what an operator posts above the limit has its approval. One check for a statement costs less than a foreign key, which is checked row by row.
create function require_whole_journals() returns trigger
  language plpgsql security definer set search_path = svc, pg_temp
  as $$
  begin
    if exists (
      select from (
        select a.tenant_id, a.journal_id, count(*) as legs, max(a.leg) as last from added a
        group by a.tenant_id, a.journal_id) t
      left join journals j on j.tenant_id = t.tenant_id and j.journal_id = t.journal_id
      where j.legs is distinct from t.legs or j.legs is distinct from t.last
    ) then
      raise exception 'a journal has other legs than it names'
        using errcode = 'integrity_constraint_violation', constraint = 'journals_are_whole', table = 'ledger_transfers';
    end if;
    if exists (select from added a where a.created_at <= (select max(c.until) from book_closings c)) then
      raise exception 'the period is closed'
        using errcode = 'integrity_constraint_violation', constraint = 'period_is_open', table = 'ledger_transfers';
    end if;
    if exists (
      select from added a
      where a.kind in ('card_funding', 'suspense_assigned', 'suspense_returned', 'journal_reversal')
    ) and exists (
      select from (
        select a.tenant_id, a.journal_id, sum(a.amount) as amount from added a
        where a.kind in ('card_funding', 'suspense_assigned', 'suspense_returned', 'journal_reversal')
        group by a.tenant_id, a.journal_id) t
      join journals j on j.tenant_id = t.tenant_id and j.journal_id = t.journal_id
      join approval_limit l on t.amount > l.above_paise
      where not exists (
        select from approvals p
        where p.tenant_id = j.tenant_id and p.journal_id = j.journal_id and p.kind = j.kind
          and p.amount_paise = t.amount
          -- A reference that is entered again after its journal was reversed has a number behind it.
          and p.reference = split_part(coalesce(j.reverses, j.reference), '~', 1))
    ) then
      raise exception 'a posting above the limit needs the approval of a second person'
        using errcode = 'integrity_constraint_violation', constraint = 'postings_are_approved', table = 'journals';
    end if;
    return null;
  end $$;
create trigger journals_are_whole after insert on ledger_transfers referencing new table as added
  for each statement execute function require_whole_journals();

revoke execute on all functions in schema svc from public;
