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

alter table own_funds_movements drop constraint own_funds_movements_kind_check;
alter table own_funds_movements add constraint own_funds_movements_kind_check check (
  kind in ('SWEEP', 'GST', 'OWNER', 'CAPITAL', 'ESCROW', 'TDS')) not valid;
-- As before, with refunds of tax.
create or replace function require_own_funds_movement() returns trigger
  language plpgsql security definer set search_path = svc, pg_temp
  as $$
  begin
    if not exists (
      select from own_funds_movements m join journals j on j.tenant_id = new.tenant_id and j.journal_id = new.journal_id
      where m.tenant_id = 'house' and m.movement_id = new.object_id and m.reference = j.reference
        and (new.kind in ('sweep_shared', 'gst_shared', 'tds_shared') or m.journal_id = new.journal_id)
        and m.kind = any (case new.kind when 'own_funds_swept' then array['SWEEP'] when 'sweep_shared' then array['SWEEP']
          when 'tds_refunded' then array['TDS'] when 'tds_shared' then array['TDS']
          when 'owner_paid' then array['OWNER', 'CAPITAL'] when 'escrow_paid' then array['ESCROW'] else array['GST'] end))
    then
      raise exception 'no movement of our funds has this journal of kind %', new.kind
        using errcode = 'integrity_constraint_violation', constraint = 'own_funds_are_proven', table = 'ledger_transfers';
    end if;
    return null;
  end $$;
create constraint trigger tds_refunds_are_proven after insert on ledger_transfers deferrable initially deferred
  for each row when (new.kind in ('tds_refunded', 'tds_shared')) execute function require_own_funds_movement();

alter table payout_lines drop constraint payout_lines_kind_check;
alter table payout_lines add constraint payout_lines_kind_check check (
  kind in ('payment', 'refund', 'refund_failed', 'dispute', 'dispute_won', 'opening_balance', 'adjustment_up',
    'adjustment_down', 'advance_settled', 'advance_reopened', 'credit_note', 'tds_certificate')) not valid;

-- As before, with lines of certificates.
create or replace function require_payout_step() returns trigger
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
            when l.kind in ('payment', 'opening_balance', 'adjustment_up', 'advance_settled', 'refund_failed', 'dispute_won',
                'credit_note', 'tds_certificate')
              then l.amount_paise else - l.amount_paise end - l.fee_paise - l.cgst_paise - l.sgst_paise - l.igst_paise), 0)
          from payout_lines l where l.merchant_id = new.merchant_id and l.payout_id = new.payout_id and not l.released))
    then
      raise exception 'the lines and the journal of the payout % do not say its amount', new.payout_id
        using errcode = 'integrity_constraint_violation', constraint = 'payouts_add_up', table = 'payouts';
    end if;
    return new;
  end $$;

revoke execute on all functions in schema svc from public;
