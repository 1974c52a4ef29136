-- A transfer of the bank or the card network that was recorded by mistake is taken back as a whole (decision R25): what it has
-- moved is entered the other way round, its lines are gone, and the same transfer can be recorded again.
alter table settlement_batches
  drop constraint settlement_batches_status_check,
  add constraint settlement_batches_status_check
    check (status in ('INCOMPLETE', 'POSTED', 'CONFIRMED', 'DIFFERS', 'REVERSED')) not valid,
  add constraint reversed_batches_are_empty
    check (status <> 'REVERSED' or lines_paise = 0 and remainder_paise = 0 and moved_paise = 0) not valid;
-- how often it was taken back: its journals are numbered with it
alter table settlement_batches add column taken_back smallint not null default 0;
grant update (taken_back, value_date) on settlement_batches to svc_service, svc_operator;

-- The platform enters what the whole moves; tenants have their shares of it, and the platform has those the other way round.
insert into posting_rules
  (journal_kind, leg_kind, debit_kind, credit_kind, on_word_of, is_manual, is_reversible) values
  ('settlement_taken_back', 'settlement_taken_back', 'bank', 'gst_input', 'person', true, false),
  ('settlement_taken_back', 'settlement_taken_back', 'bank', 'rail_charges', 'person', true, false),
  ('settlement_taken_back', 'settlement_taken_back', 'bank', 'settlement_unmatched', 'person', true, false),
  ('settlement_taken_back', 'settlement_taken_back', 'bank', 'upi_clearing', 'person', true, false),
  ('settlement_taken_back', 'settlement_taken_back', 'card_settlement', 'ppi_bank', 'person', true, false),
  ('settlement_taken_back', 'settlement_taken_back', 'gst_input', 'bank', 'person', true, false),
  ('settlement_taken_back', 'settlement_taken_back', 'gst_input', 'ppi_bank', 'person', true, false),
  ('settlement_taken_back', 'settlement_taken_back', 'interchange_income', 'ppi_bank', 'person', true, false),
  ('settlement_taken_back', 'settlement_taken_back', 'network_charges', 'ppi_bank', 'person', true, false),
  ('settlement_taken_back', 'settlement_taken_back', 'network_unmatched', 'ppi_bank', 'person', true, false),
  ('settlement_taken_back', 'settlement_taken_back', 'ppi_bank', 'card_settlement', 'person', true, false),
  ('settlement_taken_back', 'settlement_taken_back', 'ppi_bank', 'gst_input', 'person', true, false),
  ('settlement_taken_back', 'settlement_taken_back', 'ppi_bank', 'interchange_income', 'person', true, false),
  ('settlement_taken_back', 'settlement_taken_back', 'ppi_bank', 'network_charges', 'person', true, false),
  ('settlement_taken_back', 'settlement_taken_back', 'ppi_bank', 'network_unmatched', 'person', true, false),
  ('settlement_taken_back', 'settlement_taken_back', 'rail_charges', 'bank', 'person', true, false),
  ('settlement_taken_back', 'settlement_taken_back', 'settlement_unmatched', 'bank', 'person', true, false),
  ('settlement_taken_back', 'settlement_taken_back', 'upi_clearing', 'bank', 'person', true, false),
  ('taken_back_shared', 'taken_back_shared', 'bank', 'upi_clearing', 'person', false, false),
  ('taken_back_shared', 'taken_back_shared', 'card_settlement', 'ppi_bank', 'person', false, false),
  ('taken_back_shared', 'taken_back_shared', 'ppi_bank', 'card_settlement', 'person', false, false),
  ('taken_back_shared', 'taken_back_shared', 'upi_clearing', 'bank', 'person', false, false);

-- What a transfer has moved, and what was taken back of it, leg by leg: above zero it is money to us. `moved_by` is the
-- journal whose money it is; null: a journal that took the whole back.
create function legs_of_batch(id text)
  returns table (tenant_id text, moved_by text, leg_kind text, other_kind text, amount bigint)
  language sql stable
  as $$
    select l.tenant_id, l.moved_by, l.kind, case when l.is_in then l.credit else l.debit end,
      case when l.is_in then l.amount else - l.amount end
    from (
      select t.*, split_part(t.debit_account_id, ':', 1) in ('bank', 'ppi_bank') as is_in,
        split_part(t.debit_account_id, ':', 1) as debit, split_part(t.credit_account_id, ':', 1) as credit
      from (
        select o.tenant_id, o.kind, o.debit_account_id, o.credit_account_id, o.amount,
          case when o.kind not in ('settlement_taken_back', 'taken_back_shared') then o.journal_id end as moved_by
        from ledger_transfers o where o.object_id = id
        union all
        select r.tenant_id, r.kind, r.debit_account_id, r.credit_account_id, r.amount, r.object_id
        from ledger_transfers o join ledger_transfers r on r.object_id = o.journal_id and r.tenant_id = o.tenant_id
          and r.kind in ('bank_settlement_reversed', 'taken_back_shared')
        where o.object_id = id and o.leg = 1) t) l
  $$;

-- The line of a bank statement that shows a transfer, and whether a transfer was taken back; null for other ids.
create function line_of_batch(id text) returns text
  language sql stable
  as $$ select (select l.line_id from statement_lines l where l.tenant_id = 'house' and l.document_id = id limit 1) $$;
create function batch_is_reversed(id text) returns boolean
  language sql stable
  as $$ select (select b.status = 'REVERSED' from settlement_batches b where b.tenant_id = 'house' and b.batch_id = id) $$;

-- Who has a part in a transfer, and whether that tenant lives in another cell now.
create function directory_batch_tenants(id text) returns table (tenant_id text, is_away boolean)
  language sql stable security definer set search_path = svc, pg_temp
  as $$
    select p.tenant_id, exists (select from tenant_moves m where m.tenant_id = p.tenant_id and m.state = 'moved')
    from (
      select l.tenant_id from legs_of_batch(id) l
      union
      select s.tenant_id from settlement_lines s where s.batch_id = id
      union
      select b.of_tenant from settlement_batch_lines b
      where b.tenant_id = 'house' and b.batch_id = id and b.of_tenant is not null) p
  $$;

-- A transfer becomes REVERSED by an operator, as long as no statement shows it, and is numbered; its day is another one only
-- once it is recorded again.
create function require_batch_step() returns trigger
  language plpgsql security definer set search_path = svc, pg_temp
  as $$
  declare
    is_taken_back boolean := new.status = 'REVERSED' and (tg_op = 'INSERT' or old.status <> 'REVERSED');
  begin
    if tg_op = 'INSERT' and (is_taken_back or new.taken_back <> 0)
      or tg_op = 'UPDATE' and (new.taken_back <> old.taken_back + is_taken_back::int
        or new.value_date <> old.value_date and old.status <> 'REVERSED')
      or is_taken_back and (not acts_for_operators() or line_of_batch(new.batch_id) is not null)
    then
      raise exception 'a transfer does not come to % like this', new.status
        using errcode = 'integrity_constraint_violation', constraint = 'batch_steps_are_taken', table = 'settlement_batches';
    end if;
    return new;
  end $$;
create trigger batch_steps_are_taken before insert or update on settlement_batches
  for each row execute function require_batch_step();

-- Its lines count no more. Those that it had from a file which names no transfer are that file's again; a line of another
-- transfer that waited because this one had settled its payment waits as one whose payment is not known yet.
create function free_lines_of_batch() returns trigger
  language plpgsql security definer set search_path = svc, pg_temp
  as $$
  declare
    freed text[];
  begin
    update settlement_lines l set batch_id = (
        select t.object_id from ledger_transfers t join settlement_batches b on b.tenant_id = 'house' and b.batch_id = t.object_id
        where t.tenant_id in (l.tenant_id, 'house') and t.journal_id = coalesce(l.journal_id, l.unmatched_journal_id) limit 1)
      where l.batch_id = new.batch_id and coalesce(l.journal_id, l.unmatched_journal_id) is not null and not exists (
        select from ledger_transfers t
        where t.tenant_id in (l.tenant_id, 'house') and t.journal_id = coalesce(l.journal_id, l.unmatched_journal_id)
          and t.object_id = new.batch_id);
    with gone as (delete from settlement_lines l where l.batch_id = new.batch_id returning l.utr)
      select array_agg(distinct g.utr) into freed from gone g;
    with waiting as (
        select distinct on (w.reference) w.batch_id, w.line_key from settlement_batch_lines w
        where w.tenant_id = 'house' and w.kind = 'payment' and w.status = 'UNMATCHED' and w.amount_paise > 0
          and w.reference = any (freed) and w.batch_id <> new.batch_id
          and not exists (select from settlement_lines s where s.tenant_id = 'house' and s.utr = w.reference)
        order by w.reference, w.recorded_at, w.batch_id),
      moved as (
        delete from settlement_batch_lines w using waiting m
        where w.tenant_id = 'house' and w.batch_id = m.batch_id and w.line_key = m.line_key returning w.*)
    insert into settlement_lines (tenant_id, utr, file_id, line, amount_paise, settled_on, status, batch_id, unmatched_journal_id,
        recorded_at)
      -- Of no file: the place names it all the same.
      select m.tenant_id, m.reference, m.batch_id, 1 + (hashtext(m.reference) & 1073741823), m.amount_paise, b.value_date,
        'UNKNOWN', m.batch_id, m.journal_id, m.recorded_at
      from moved m join settlement_batches b on b.tenant_id = m.tenant_id and b.batch_id = m.batch_id;
    delete from settlement_batch_lines l where l.tenant_id = 'house' and l.batch_id = new.batch_id;
    return null;
  end $$;
create trigger lines_of_batch_are_freed after update on settlement_batches for each row
  when (new.status = 'REVERSED' and old.status <> 'REVERSED') execute function free_lines_of_batch();

-- By the end of the transaction nothing of it is in any books, and the shares of tenants are what the platform has of them.
create function require_batch_taken_back() returns trigger
  language plpgsql security definer set search_path = svc, pg_temp
  as $$
  begin
    if exists (select from legs_of_batch(new.batch_id) l group by l.tenant_id, l.other_kind having sum(l.amount) <> 0)
      or exists (select from legs_of_batch(new.batch_id) l where l.leg_kind = 'taken_back_shared'
        group by l.other_kind having sum(l.amount) <> 0)
    then
      raise exception 'the transfer % is not taken back as a whole', new.batch_utr
        using errcode = 'integrity_constraint_violation', constraint = 'batches_are_taken_back_whole', table = 'settlement_batches';
    end if;
    return null;
  end $$;
create constraint trigger batches_are_taken_back_whole after update on settlement_batches deferrable initially deferred
  for each row when (new.status = 'REVERSED' and old.status <> 'REVERSED') execute function require_batch_taken_back();

-- A journal that takes a transfer back is of one that is REVERSED then, all of it, once for each tenant and time.
create function require_taken_back_journal() returns trigger
  language plpgsql security definer set search_path = svc, pg_temp
  as $$
  declare
    batch settlement_batches;
  begin
    select b.* into batch from settlement_batches b where b.tenant_id = 'house' and b.status = 'REVERSED' and b.batch_id = coalesce((
      select o.object_id from ledger_transfers o where o.tenant_id = new.tenant_id and o.journal_id = new.object_id limit 1),
      new.object_id);
    if batch.batch_id is null
      or not exists (select from journals j where j.tenant_id = new.tenant_id and j.journal_id = new.journal_id
        and j.reference = batch.batch_id || case when batch.taken_back > 1 then '~' || batch.taken_back else '' end)
      or exists (select from ledger_transfers t
        where t.tenant_id = new.tenant_id and t.journal_id = new.journal_id and t.object_id <> batch.batch_id and not exists (
          select from ledger_transfers o
          where o.tenant_id = t.tenant_id and o.journal_id = t.object_id and o.object_id = batch.batch_id))
      -- The platform's are few, and have parts of the whole; any other is of the journals that it takes back.
      or new.tenant_id = 'house' and exists (select from legs_of_batch(batch.batch_id) l where l.tenant_id = 'house'
        group by l.other_kind having sum(l.amount) <> 0)
      or new.tenant_id <> 'house' and exists (
        select from ledger_transfers t cross join lateral (
          select sum(case when split_part(m.debit_account_id, ':', 1) in ('bank', 'ppi_bank') then m.amount else - m.amount end)
            as amount
          from (
            select o.* from ledger_transfers o where o.tenant_id = t.tenant_id and o.journal_id = t.object_id
            union all
            select r.* from ledger_transfers r where r.tenant_id = t.tenant_id and r.object_id = t.object_id
              and r.kind in ('bank_settlement_reversed', 'taken_back_shared')) m) net
        where t.tenant_id = new.tenant_id and t.journal_id = new.journal_id and net.amount <> 0)
    then
      raise exception 'no transfer that was taken back has this journal of kind %', new.kind
        using errcode = 'integrity_constraint_violation', constraint = 'taken_back_is_reversed', table = 'ledger_transfers';
    end if;
    return null;
  end $$;
create constraint trigger taken_back_is_reversed after insert on ledger_transfers deferrable initially deferred for each row
  when (new.leg = 1 and new.kind in ('settlement_taken_back', 'taken_back_shared')) execute function require_taken_back_journal();

revoke execute on all functions in schema svc from public;
grant execute on function legs_of_batch, line_of_batch, batch_is_reversed to svc_service, svc_operator;
grant execute on function directory_batch_tenants to svc_service;
