-- Tax deducted at source (decision R29): merchants that deducted it on our fees certify it, and the tax office refunds it.
insert into account_kinds (kind, unit, is_bounded) values ('tds_receivable', 'INR', false);
insert into posting_rules
  (journal_kind, leg_kind, debit_kind, credit_kind, on_word_of, is_manual, is_reversible) values
  ('tds_certified', 'tds_certified', 'tds_receivable', 'payable', 'person', true, false),
  ('tds_refunded', 'tds_refunded', 'own_funds', 'tds_receivable', 'person', true, false),
  ('tds_shared', 'tds_shared', 'own_funds', 'tds_receivable', 'person', false, false),
  ('tds_shared', 'tds_shared', 'tds_receivable', 'own_funds', 'person', false, false);

create table tds_certificates (
  merchant_id     text collate "C" not null references merchants,
  certificate_id  text collate "C" not null,
  number          text collate "C" not null,
  quarter         text not null check (quarter ~ '^[0-9]{4}-[0-9]{2}-Q[1-4]$'),
  amount_paise    bigint not null check (amount_paise > 0),
  dated_on        date not null,
  journal_id      text collate "C" not null,
  created_at      timestamptz not null,
  primary key (merchant_id, certificate_id),
  constraint tds_certificates_once unique (merchant_id, number),
  constraint journal_is_the_merchants foreign key (merchant_id, journal_id) references journals (tenant_id, journal_id)
    deferrable initially deferred
);
select secure_tenants('tds_certificates', 'merchant_id');
grant select, insert on tds_certificates to svc_service, svc_operator;
create trigger by_an_operator before insert on tds_certificates for each statement execute function require_operator();

-- A journal of a certificate has it, of its amount and day, by the end of the transaction.
create function require_tds_certificate() returns trigger
  language plpgsql security definer set search_path = svc, pg_temp
  as $$
  begin
    if not exists (
      select from tds_certificates c join journals j on j.tenant_id = c.merchant_id and j.journal_id = c.journal_id
      where c.merchant_id = new.tenant_id and c.certificate_id = new.object_id and c.journal_id = new.journal_id
        and c.amount_paise = new.amount and j.effective_date = c.dated_on)
    then
      raise exception 'no certificate has this journal'
        using errcode = 'integrity_constraint_violation', constraint = 'tds_is_certified', table = 'ledger_transfers';
    end if;
    return null;
  end $$;
create constraint trigger tds_is_certified after insert on ledger_transfers deferrable initially deferred for each row
  when (new.kind = 'tds_certified') execute function require_tds_certificate();

revoke execute on all functions in schema svc from public;
