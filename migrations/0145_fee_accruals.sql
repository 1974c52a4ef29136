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

-- Fees of every payment before this instant are entered, or are not charged; null: not known.
alter table payout_positions add column accrued_to timestamptz;
grant update (accrued_to) on payout_positions to svc_service;

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

-- Movements that were permitted until now: journals of then have them. What was entered by them is taken back by its mirror.
create table retired_postings (
  journal_kind text collate "C" not null,
  debit_kind   text collate "C" not null references account_kinds,
  credit_kind  text collate "C" not null references account_kinds,
  primary key (journal_kind, debit_kind, credit_kind)
);
grant select on retired_postings to svc_service, svc_operator;
with retired as (
  delete from posting_rules where journal_kind in ('payout', 'payout_restored') and debit_kind = 'payable'
    and credit_kind in ('fee_income', 'tax_payable')
  returning journal_kind, debit_kind, credit_kind)
insert into retired_postings select * from retired;

revoke execute on all functions in schema svc from public;
grant execute on function directory_fees_to_accrue to svc_service;
