-- Transfers of the bank and of the card network as wholes (decision R25): what arrives or leaves is their net amount, and
-- their lines say of what it is. They are the platform's.
create table settlement_batches (
  tenant_id       text collate "C" not null references tenants check (tenant_id = 'house'),
  batch_id        text collate "C" not null,
  rail            text not null check (rail in ('upi', 'card')),
  batch_utr       text collate "C" not null,
  value_date      date not null,
  -- as the bank states it; null: what its lines add up to
  net_paise       bigint,
  -- a statement will show it: not so of the files with three columns, which name no transfer
  is_awaited      boolean not null,
  status          text not null default 'POSTED' check (status in ('INCOMPLETE', 'POSTED', 'CONFIRMED', 'DIFFERS')),
  -- the sum of its lines
  lines_paise     bigint not null default 0,
  -- what of the net amount is in no line yet, as posted
  remainder_paise bigint not null default 0,
  created_at      timestamptz not null,
  primary key (tenant_id, batch_id),
  constraint batches_are_named_once unique (tenant_id, rail, batch_utr),
  check (net_paise is not null or remainder_paise = 0)
);
create index settlement_batches_by_day on settlement_batches (tenant_id, value_date, batch_id);
select secure_tenants('settlement_batches', 'tenant_id');
grant select, insert, update (net_paise, status, lines_paise, remainder_paise) on settlement_batches to svc_service, svc_operator;

-- Lines of them, but for payments, which are `settlement_lines` of their merchants.
create table settlement_batch_lines (
  tenant_id    text collate "C" not null references tenants check (tenant_id = 'house'),
  batch_id     text collate "C" not null,
  -- its kind, and its reference or its number among those without one
  line_key     text collate "C" not null,
  kind         text not null,
  reference    text collate "C",
  -- above zero it is money to us
  amount_paise bigint not null check (amount_paise <> 0),
  occurred_on  date,
  note         text,
  status       text not null check (status in ('UNMATCHED', 'MATCHED', 'POSTED')),
  -- what it settles, and whose that is
  of_tenant    text collate "C" references tenants,
  document_id  text collate "C",
  -- what posted its money in the platform's books; null where it fitted from the start
  journal_id   text collate "C",
  -- what has it in the books of that tenant
  matched_journal_id text collate "C",
  recorded_at  timestamptz not null,
  primary key (tenant_id, batch_id, line_key),
  constraint batch_is_there foreign key (tenant_id, batch_id) references settlement_batches,
  constraint journal_is_the_platforms foreign key (tenant_id, journal_id) references journals (tenant_id, journal_id)
    deferrable initially deferred,
  check ((status = 'MATCHED') = (document_id is not null)),
  check ((document_id is null) = (of_tenant is null) and (document_id is null) = (matched_journal_id is null))
);
-- Each is settled once.
create unique index settlement_batch_lines_once on settlement_batch_lines (kind, of_tenant, document_id)
  where document_id is not null and kind <> 'adjustment';
create index settlement_batch_lines_unmatched on settlement_batch_lines (recorded_at) where status = 'UNMATCHED';
create index settlement_batch_lines_by_reference on settlement_batch_lines (reference);
select secure_tenants('settlement_batch_lines', 'tenant_id');
grant select, insert, update (amount_paise, status, of_tenant, document_id, journal_id, matched_journal_id) on settlement_batch_lines
  to svc_service, svc_operator;

alter table settlement_lines add column batch_id text collate "C";
-- the journal of the platform that has the money of a line as long as it fits no payment; null: none has
alter table settlement_lines add column unmatched_journal_id text collate "C";
grant update (batch_id, unmatched_journal_id) on settlement_lines to svc_service;

-- What lines of transfers may be of, that no line has settled: refunds and returned credits that the bank has made,
-- disputes, corrections; captures and refunds of cards.
-- `ids`: the references as our own ids, where they look like ones.
create function directory_settled_documents(of_rail text, refs text[], ids text[])
  returns table (reference text, kind text, tenant_id text, document_id text, amount_paise bigint)
  language sql stable security definer set search_path = svc, pg_temp
  as $$
    with wanted as (select * from unnest(refs, ids) as w (ref, id)), found (reference, kind, tenant_id, document_id, amount_paise) as (
    select w.ref, 'refund', r.merchant_id, r.refund_id, - r.amount_paise
      from wanted w join merchant_refunds r on r.refund_id = w.id and r.status = 'REFUNDED' where of_rail = 'upi'
    union
    select w.ref, 'refund', r.merchant_id, r.refund_id, - r.amount_paise
      from wanted w join merchant_refunds r on r.utr = w.ref and r.status = 'REFUNDED' where of_rail = 'upi'
    union
    select w.ref, 'refund', r.merchant_id, r.refund_id, - r.amount_paise
      from wanted w join payments p on p.utr = w.ref and p.assigned_from is null
        join merchant_refunds r on r.merchant_id = p.merchant_id and r.payment_id = p.payment_id and r.status = 'REFUNDED'
      where of_rail = 'upi'
    union
    select w.ref, 'refund', p.merchant_id, p.payment_id, - p.amount_paise
      from wanted w join payments p on p.utr = w.ref and p.assigned_from is null
        and p.status = 'REFUNDED' where of_rail = 'upi'
    union
    select w.ref, k.kind, d.merchant_id, d.dispute_id, k.sign * d.amount_paise
      from wanted w join disputes d on d.case_reference = w.ref
        cross join (values ('dispute', -1), ('dispute_reversal', 1)) k (kind, sign) where of_rail = 'upi'
    union
    select w.ref, k.kind, d.merchant_id, d.dispute_id, k.sign * d.amount_paise
      from wanted w join payments p on p.utr = w.ref and p.assigned_from is null
        join disputes d on d.merchant_id = p.merchant_id and d.payment_id = p.payment_id
        cross join (values ('dispute', -1), ('dispute_reversal', 1)) k (kind, sign) where of_rail = 'upi'
    union
    select w.ref, 'adjustment', a.merchant_id, a.adjustment_id, a.change_paise
      from wanted w join payment_adjustments a on a.reference = w.ref where of_rail = 'upi'
    union
    select w.ref, k.kind, m.partner_id, m.message_id, k.sign * m.amount_paise
      from wanted w join card_messages m on m.message_id = w.id or m.rrn = w.ref
        join (values ('capture', 'capture', -1), ('advice', 'capture', -1), ('refund', 'refund', 1),
          ('capture', 'chargeback', 1), ('capture', 'chargeback_reversal', -1)) k (type, kind, sign) on k.type = m.type
      where of_rail = 'card' and m.debited_paise + m.credited_paise > 0)
    select * from found f
    where f.kind = 'adjustment' or not exists (
      select from settlement_batch_lines l
      where l.kind = f.kind and l.of_tenant = f.tenant_id and l.document_id = f.document_id)
  $$;

-- Lines of payments that were not known and have come since, as `directory_settlement_found`, with their transfers.
create function directory_settlement_lines_found(most integer)
  returns table (rail text, batch_utr text, value_date date, is_awaited boolean, file_id text, line integer, kind text,
    reference text, amount_paise bigint)
  language sql stable security definer set search_path = svc, pg_temp
  as $$
    select 'upi', coalesce(b.batch_utr, l.file_id || ' ' || l.settled_on), l.settled_on, coalesce(b.is_awaited, false),
      l.file_id, l.line, 'payment', l.utr, l.amount_paise
    from settlement_lines l join payments p on p.utr = l.utr and p.assigned_from is null
      left join settlement_batches b on b.tenant_id = 'house' and b.batch_id = l.batch_id
    where l.status = 'UNKNOWN' and not exists (
      select from settlement_lines m
      where m.tenant_id = p.merchant_id and m.utr = l.utr and m.status <> 'UNKNOWN')
    order by l.recorded_at, l.utr limit most
  $$;

-- Lines of other kinds that fit nothing yet, a page of them behind a key.
create function directory_unmatched_lines(after text, most integer)
  returns table (place text, rail text, batch_utr text, value_date date, is_awaited boolean, file_id text, kind text,
    reference text, amount_paise bigint, occurred_on date, note text)
  language sql stable security definer set search_path = svc, pg_temp
  as $$
    select l.batch_id || ' ' || l.line_key, b.rail, b.batch_utr, b.value_date, b.is_awaited, l.batch_id, l.kind, l.reference,
      l.amount_paise, l.occurred_on, l.note
    from settlement_batch_lines l join settlement_batches b using (tenant_id, batch_id)
    where l.status = 'UNMATCHED' and l.reference is not null and l.kind <> 'payment'
      and l.batch_id || ' ' || l.line_key > after
    order by 1 limit most
  $$;

-- A transfer with what its lines are, whoever's they are.
create function directory_settlement_batch(id text)
  returns table (lines bigint, matched bigint, unmatched bigint)
  language sql stable security definer set search_path = svc, pg_temp
  as $$
    select count(*), count(*) filter (where status in ('MATCHED', 'POSTED')),
      count(*) filter (where status not in ('MATCHED', 'POSTED'))
    from (
      select l.status from settlement_lines l
      where l.batch_id = id and (l.tenant_id <> 'house' or l.status <> 'UNKNOWN' or l.unmatched_journal_id is not null)
      union all
      select b.status from settlement_batch_lines b where b.tenant_id = 'house' and b.batch_id = id) lines
  $$;

-- What operators or a rail enter for a bank's transfer has the transfer's row, by the end of the transaction.
create function require_settlement_batch() returns trigger
  language plpgsql security definer set search_path = svc, pg_temp
  as $$
  begin
    if not exists (select from settlement_batches b where b.tenant_id = 'house' and b.batch_id = new.object_id) then
      raise exception 'no transfer of the bank has this journal of kind %', new.kind
        using errcode = 'integrity_constraint_violation', constraint = 'settlements_have_a_batch', table = 'ledger_transfers';
    end if;
    return null;
  end $$;
create constraint trigger settlements_have_a_batch after insert on ledger_transfers deferrable initially deferred for each row
  when (new.kind in ('settlement_unmatched', 'settlement_charged', 'network_settlement'))
  execute function require_settlement_batch();

revoke execute on all functions in schema svc from public;
grant execute on function directory_settled_documents, directory_settlement_lines_found, directory_unmatched_lines,
  directory_settlement_batch to svc_service;
grant execute on function directory_settlement_batch to svc_operator;
