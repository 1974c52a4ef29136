-- A movement of our own money that was entered by mistake is taken back as a whole (decision R26): each of its journals by a
-- mirrored one, so that its reference can be entered again.
insert into posting_rules
  (journal_kind, leg_kind, debit_kind, credit_kind, on_word_of, is_manual, is_reversible)
  select distinct 'own_funds_taken_back', 'own_funds_taken_back', credit_kind, debit_kind, 'person', true, false
  from posting_rules where journal_kind in ('own_funds_swept', 'gst_paid', 'owner_paid', 'escrow_paid', 'tds_refunded');

-- the journal that took the whole back
alter table own_funds_movements add column reversed_by text collate "C";

-- null for other ids
create function own_movement_is_reversed(id text) returns boolean
  language sql stable
  as $$
    select (select m.reversed_by is not null from own_funds_movements m where m.tenant_id = 'house' and m.movement_id = id)
  $$;

-- The journal that takes a movement back says so of it, as long as no line of a bank statement shows it; a journal that does
-- not is refused below.
create function take_back_own_funds() returns trigger
  language plpgsql security definer set search_path = svc, pg_temp
  as $$
  begin
    update own_funds_movements set reversed_by = new.journal_id
      where tenant_id = new.tenant_id and journal_id = new.reverses and reversed_by is null and moved_paise = 0
        and line_of_batch(movement_id) is null;
    return null;
  end $$;
create trigger takes_back_own_funds after insert on journals for each row
  when (new.kind = 'own_funds_taken_back') execute function take_back_own_funds();

-- By the end of the transaction nothing of it is in any books.
create function require_own_funds_taken_back() returns trigger
  language plpgsql security definer set search_path = svc, pg_temp
  as $$
  begin
    if exists (
      select from ledger_transfers t
        cross join lateral (values (t.debit_account_id, t.amount), (t.credit_account_id, - t.amount)) s (account_id, amount)
      where t.object_id = new.movement_id group by t.tenant_id, s.account_id having sum(s.amount) <> 0)
    then
      raise exception 'the movement % is not taken back as a whole', new.reference
        using errcode = 'integrity_constraint_violation', constraint = 'own_funds_are_taken_back_whole',
          table = 'own_funds_movements';
    end if;
    return null;
  end $$;
create constraint trigger own_funds_are_taken_back_whole after update on own_funds_movements deferrable initially deferred
  for each row when (new.reversed_by is not null and old.reversed_by is null) execute function require_own_funds_taken_back();

-- As before, by a reference that may be entered again, and with journals that take a movement back: each mirrors one of it.
create or replace function require_own_funds_movement() returns trigger
  language plpgsql security definer set search_path = svc, pg_temp
  as $$
  declare
    is_share constant boolean := new.kind in ('sweep_shared', 'gst_shared', 'tds_shared');
  begin
    if not exists (
      select from own_funds_movements m join journals j on j.tenant_id = new.tenant_id and j.journal_id = new.journal_id
      where m.tenant_id = 'house' and m.movement_id = new.object_id and j.reverses is null and m.reversed_by is null
        and m.reference = split_part(j.reference, '~', 1) and (is_share or m.journal_id = new.journal_id)
        and m.kind = any (case new.kind when 'own_funds_swept' then array['SWEEP'] when 'sweep_shared' then array['SWEEP']
          when 'tds_refunded' then array['TDS'] when 'tds_shared' then array['TDS']
          when 'owner_paid' then array['OWNER', 'CAPITAL'] when 'escrow_paid' then array['ESCROW']
          when 'own_funds_taken_back' then array[]::text[] else array['GST'] end))
      and not exists (
      select from own_funds_movements m join journals j on j.tenant_id = new.tenant_id and j.journal_id = new.journal_id
        join journals r on r.tenant_id = j.tenant_id and r.journal_id = j.reverses and r.reverses is null and r.legs = j.legs
        join ledger_transfers o on o.tenant_id = r.tenant_id and o.journal_id = r.journal_id and o.leg = new.leg
      where m.tenant_id = 'house' and m.movement_id = new.object_id and o.object_id = new.object_id
        and m.reversed_by is not null and is_share = (m.reversed_by <> new.journal_id)
        and (o.kind = new.kind or not is_share and m.journal_id = r.journal_id)
        and (o.debit_account_id, o.credit_account_id, o.amount, o.unit)
          = (new.credit_account_id, new.debit_account_id, new.amount, new.unit))
    then
      raise exception 'no movement of our funds has this journal of kind %', new.kind
        using errcode = 'integrity_constraint_violation', constraint = 'own_funds_are_proven', table = 'ledger_transfers';
    end if;
    return null;
  end $$;
create constraint trigger own_funds_back_are_proven after insert on ledger_transfers deferrable initially deferred for each row
  when (new.kind = 'own_funds_taken_back') execute function require_own_funds_movement();

-- As before, without movements of our funds that were taken back: no statement shows those.
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
          and m.reversed_by is null
        union
        select n.name, m.* from n join own_funds_movements m on m.tenant_id = 'house' and m.movement_id = n.id
          and m.reversed_by is null),
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

revoke execute on all functions in schema svc from public;
grant execute on function own_movement_is_reversed to svc_service, svc_operator;
