-- Movements of our own money at the bank (decision R26): fees and GST that leave the escrow of merchants, tax, and what the
-- owner and we pay in. They are the platform's.
insert into account_kinds (kind, unit, is_bounded) values ('owner_equity', 'INR', false);
insert into posting_rules
  (journal_kind, leg_kind, debit_kind, credit_kind, on_word_of, is_manual, is_reversible) values
  ('escrow_paid', 'escrow_paid', 'bank', 'own_funds', 'person', true, false),
  ('gst_paid', 'gst_paid', 'output_cgst', 'gst_input', 'person', true, false),
  ('gst_paid', 'gst_paid', 'output_cgst', 'own_funds', 'person', true, false),
  ('gst_paid', 'gst_paid', 'output_igst', 'gst_input', 'person', true, false),
  ('gst_paid', 'gst_paid', 'output_igst', 'own_funds', 'person', true, false),
  ('gst_paid', 'gst_paid', 'output_sgst', 'gst_input', 'person', true, false),
  ('gst_paid', 'gst_paid', 'output_sgst', 'own_funds', 'person', true, false),
  ('gst_shared', 'gst_shared', 'output_cgst', 'own_funds', 'person', false, false),
  ('gst_shared', 'gst_shared', 'output_igst', 'own_funds', 'person', false, false),
  ('gst_shared', 'gst_shared', 'output_sgst', 'own_funds', 'person', false, false),
  ('gst_shared', 'gst_shared', 'own_funds', 'output_cgst', 'person', false, false),
  ('gst_shared', 'gst_shared', 'own_funds', 'output_igst', 'person', false, false),
  ('gst_shared', 'gst_shared', 'own_funds', 'output_sgst', 'person', false, false),
  ('own_funds_swept', 'own_funds_swept', 'own_funds', 'bank', 'person', true, false),
  ('owner_paid', 'owner_paid', 'own_funds', 'owner_equity', 'person', true, false),
  ('owner_paid', 'owner_paid', 'owner_equity', 'own_funds', 'person', true, false),
  ('sweep_shared', 'sweep_shared', 'bank', 'own_funds', 'person', false, false),
  ('sweep_shared', 'sweep_shared', 'own_funds', 'bank', 'person', false, false);
insert into ledger_accounts (account_id, tenant_id, kind, unit, balance, floor, created_at)
select k.kind || ':house', 'house', k.kind, 'INR', 0, case when k.is_bounded then 0 end, clock_timestamp()
from account_kinds k where k.kind in ('bank', 'output_cgst', 'output_sgst', 'output_igst', 'owner_equity')
on conflict do nothing;

create table own_funds_movements (
  tenant_id       text collate "C" not null references tenants check (tenant_id = 'house'),
  movement_id     text collate "C" not null,
  kind            text not null check (kind in ('SWEEP', 'GST', 'OWNER', 'CAPITAL', 'ESCROW', 'TDS')),
  -- the bank's, or that of the payment of tax
  reference       text collate "C" not null,
  moved_on        date not null,
  -- until which day fees, credit notes and charges count
  through         date,
  -- the first day of the month of the return
  month           date check (extract(day from month) = 1),
  -- what the bank adds to the escrow of merchants, and to our account; below zero it takes it
  escrow_paise    bigint not null,
  own_funds_paise bigint not null,
  tax_paise       bigint not null check (tax_paise >= 0),
  -- of the whole; shares of tenants are in journals of the same reference
  journal_id      text collate "C" not null,
  created_at      timestamptz not null,
  primary key (tenant_id, movement_id),
  constraint own_funds_references_once unique (tenant_id, reference),
  constraint journal_is_the_platforms foreign key (tenant_id, journal_id) references journals (tenant_id, journal_id)
    deferrable initially deferred,
  check ((kind = 'SWEEP') = (through is not null) and (kind = 'GST') = (month is not null))
);
create index own_funds_movements_of_month on own_funds_movements (month) where month is not null;
select secure_tenants('own_funds_movements', 'tenant_id');
grant select, insert on own_funds_movements to svc_service, svc_operator;

-- Every journal of these kinds is of such a movement, by the end of the transaction.
create function require_own_funds_movement() returns trigger
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
create constraint trigger own_funds_are_proven after insert on ledger_transfers deferrable initially deferred for each row
  when (new.kind in ('own_funds_swept', 'sweep_shared', 'gst_paid', 'gst_shared', 'owner_paid', 'escrow_paid', 'tds_refunded',
    'tds_shared'))
  execute function require_own_funds_movement();

-- As before, with them, and without transfers that were taken back (0180): no statement shows those.
create or replace function statement_movements(names text[], ids text[])
  returns table (name text, purpose text, document_id text, amount bigint, settles text, tenant_id text)
  language sql stable
  as $$
    with n as (select * from unnest(names, ids) as w (name, id)),
      batches as (
        select n.name, b.* from n join settlement_batches b on b.tenant_id = 'house' and b.batch_utr = n.name
        union
        select n.name, b.* from n join settlement_batches b on b.tenant_id = 'house' and b.batch_id = n.id),
      paid as (
        select y.*
        from (
          select n.name, n.id, p.* from n join payouts p on p.payout_id = n.id
          union
          select n.name, n.id, p.* from n join payouts p on p.run_id = n.id) y
        where y.status = 'PAID' or y.returned_at is not null or y.paid_late_at is not null),
      own as (
        select n.name, m.* from n join own_funds_movements m on m.tenant_id = 'house' and m.reference = n.name
        union
        select n.name, m.* from n join own_funds_movements m on m.tenant_id = 'house' and m.movement_id = n.id),
      refunds as (
        select n.name, r.* from n join merchant_refunds r on r.utr = n.name
        union
        select n.name, r.* from n join merchant_refunds r on r.refund_id = n.id)
    -- What it has moved: as the bank states it, else as its lines add up.
    select b.name, case b.rail when 'upi' then 'merchant_escrow' else 'ppi_escrow' end, b.batch_id,
        b.lines_paise + b.remainder_paise, null::text, b.tenant_id
      from batches b where b.status <> 'REVERSED'
    union all
    select p.name, 'merchant_escrow', p.payout_id, - p.amount_paise, null, p.merchant_id
      from paid p where p.payout_id = p.id
    union all
    select p.name, 'merchant_escrow', p.run_id, - sum(p.amount_paise)::bigint, null, min(p.merchant_id)
      from paid p where p.run_id = p.id group by p.name, p.run_id
    union all
    select o.name, 'merchant_escrow', o.movement_id, o.escrow_paise, null, o.tenant_id from own o where o.escrow_paise <> 0
    union all
    select o.name, 'own_funds', o.movement_id, o.own_funds_paise, null, o.tenant_id from own o where o.own_funds_paise <> 0
    union all
    -- One that a batch has netted is no transfer of its own.
    select r.name, 'merchant_escrow', r.refund_id, - r.amount_paise, 'refund', r.merchant_id
      from refunds r
      where r.status = 'REFUNDED' and not exists (
        select from settlement_batch_lines l
        where l.kind = 'refund' and l.of_tenant = r.merchant_id and l.document_id = r.refund_id)
  $$;

-- Credit notes for invoices of fees (decision R27): what they give back may have been paid to the tax office or closed by
-- then, so that accounts of fees and GST may be below zero; those that are there, from 0177 on.
insert into account_kinds (kind, unit, is_bounded) values
  ('fee_income', 'INR', false),
  ('output_cgst', 'INR', false),
  ('output_sgst', 'INR', false),
  ('output_igst', 'INR', false)
on conflict (kind) do update set is_bounded = excluded.is_bounded;

-- A process of the version before opens them with a floor.
create function lift_floor() returns trigger
  language plpgsql set search_path = svc, pg_temp
  as $$
  begin
    new.floor := null;
    return new;
  end $$;
create trigger floor_is_lifted before insert on ledger_accounts for each row
  when (new.kind in ('fee_income', 'output_cgst', 'output_sgst', 'output_igst') and new.floor is not null)
  execute function lift_floor();

insert into posting_rules
  (journal_kind, leg_kind, debit_kind, credit_kind, on_word_of, is_manual, is_reversible) values
  ('credit_note', 'credit_note', 'fee_income', 'payable', 'person', true, false),
  ('credit_note', 'credit_note', 'output_cgst', 'payable', 'person', true, false),
  ('credit_note', 'credit_note', 'output_igst', 'payable', 'person', true, false),
  ('credit_note', 'credit_note', 'output_sgst', 'payable', 'person', true, false);

alter table payout_lines drop constraint payout_lines_kind_check;
alter table payout_lines add constraint payout_lines_kind_check check (
  kind in ('payment', 'refund', 'refund_failed', 'dispute', 'dispute_won', 'opening_balance', 'adjustment_up',
    'adjustment_down', 'advance_settled', 'advance_reopened', 'credit_note', 'tds_certificate')) not valid;

-- As before, with lines of credit notes and of certificates of deducted tax (0187).
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

-- Commands of operators run as the service, on the operators' login: no other login issues documents.
create function require_operator() returns trigger
  language plpgsql security definer set search_path = svc, pg_temp
  as $$
  begin
    if not acts_for_operators() then
      raise exception 'this login issues no tax documents and moves no funds of ours'
        using errcode = 'integrity_constraint_violation', constraint = tg_name, table = tg_table_name;
    end if;
    return null;
  end $$;
create trigger by_an_operator before insert on tax_documents for each statement execute function require_operator();
create trigger by_an_operator before insert or update on tax_series for each statement execute function require_operator();
create trigger by_an_operator before insert on own_funds_movements for each statement execute function require_operator();
grant insert on tax_documents to svc_service;
grant insert, update (last_number) on tax_series to svc_service;

-- A journal of a credit note has its document, of the whole amount, by the end of the transaction.
create function require_credit_note() returns trigger
  language plpgsql security definer set search_path = svc, pg_temp
  as $$
  begin
    if not exists (
      select from tax_documents d
      where d.merchant_id = new.tenant_id and d.document_id = new.object_id and d.kind = 'CREDIT_NOTE'
        and d.taxable_paise + d.cgst_paise + d.sgst_paise + d.igst_paise = (
          select sum(t.amount) from ledger_transfers t
          where t.tenant_id = new.tenant_id and t.journal_id = new.journal_id))
    then
      raise exception 'no credit note has this journal'
        using errcode = 'integrity_constraint_violation', constraint = 'credit_notes_are_documents', table = 'ledger_transfers';
    end if;
    return null;
  end $$;
create constraint trigger credit_notes_are_documents after insert on ledger_transfers deferrable initially deferred
  for each row when (new.kind = 'credit_note') execute function require_credit_note();

revoke execute on all functions in schema svc from public;
