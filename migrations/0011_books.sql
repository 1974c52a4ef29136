-- Books that meet the bank: transfers of the bank and the network, bank statements, our own money, year ends and taxes.

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
  status          text not null default 'POSTED'
    check (status in ('INCOMPLETE', 'POSTED', 'CONFIRMED', 'DIFFERS', 'REVERSED')),
  -- the sum of its lines
  lines_paise     bigint not null default 0,
  -- what of the net amount is in no line yet, as posted
  remainder_paise bigint not null default 0,
  created_at      timestamptz not null,
  -- what of a transfer is in the books of tenants that live in another cell now (decision X40): a move enters it, nobody else
  moved_paise     bigint not null default 0,
  -- how often it was taken back: its journals are numbered with it
  taken_back      smallint not null default 0,
  primary key (tenant_id, batch_id),
  constraint batches_are_named_once unique (tenant_id, rail, batch_utr),
  check (net_paise is not null or remainder_paise = 0),
  constraint reversed_batches_are_empty
    check (status <> 'REVERSED' or lines_paise = 0 and remainder_paise = 0 and moved_paise = 0)
);
create index settlement_batches_by_day on settlement_batches (tenant_id, value_date, batch_id);
select secure_tenants('settlement_batches', 'tenant_id');
grant select, insert, update (value_date, net_paise, status, lines_paise, remainder_paise, taken_back) on
  settlement_batches to svc_service, svc_operator;

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
create index settlement_batch_lines_of_journal on settlement_batch_lines (matched_journal_id) where matched_journal_id is not null;
select secure_tenants('settlement_batch_lines', 'tenant_id');
grant select, insert, update (amount_paise, status, of_tenant, document_id, journal_id, matched_journal_id) on
  settlement_batch_lines to svc_service, svc_operator;

-- What the bank of the rail has paid us, as its settlement files say: one line for each credit.
create table settlement_lines (
  -- the merchant of the payment, or the platform as long as no payment has this reference
  tenant_id    text collate "C" not null references tenants,
  utr          text collate "C" not null,
  file_id      text collate "C" not null,
  line         integer not null,
  amount_paise bigint not null check (amount_paise > 0),
  settled_on   date not null,
  status       text not null check (status in ('MATCHED', 'DIFFERS', 'UNKNOWN')),
  payment_id   text collate "C",
  journal_id   text collate "C",
  recorded_at  timestamptz not null,
  -- places, as file and line, of lines that a later one took the place of: imported again, they change nothing
  -- (decision Q18)
  superseded   text[] not null default '{}',
  batch_id     text collate "C",
  -- the journal of the platform that has the money of a line as long as it fits no payment; null: none has
  unmatched_journal_id text collate "C",
  primary key (tenant_id, utr),
  constraint payment_is_the_tenants foreign key (tenant_id, payment_id) references payments (merchant_id, payment_id),
  constraint journal_is_the_tenants foreign key (tenant_id, journal_id) references journals (tenant_id, journal_id),
  check ((status = 'MATCHED') = (journal_id is not null)),
  check ((status = 'UNKNOWN') = (payment_id is null))
);
create index settlement_lines_differing on settlement_lines (recorded_at desc) where status <> 'MATCHED';
create index settlement_lines_of_batch on settlement_lines (batch_id) where batch_id is not null;
create index settlement_lines_of_journal on settlement_lines (journal_id) where journal_id is not null;
select secure_tenants('settlement_lines', 'tenant_id');
-- A line whose payment arrives later names it then.
grant select, insert, update (file_id, line, amount_paise, settled_on, status, payment_id, journal_id, recorded_at,
  superseded, batch_id, unmatched_journal_id) on settlement_lines to svc_service;
grant select on settlement_lines to svc_operator;

-- Files of banks as they were recorded, whatever their kind.
create table bank_files (
  tenant_id    text collate "C" not null references tenants check (tenant_id = 'house'),
  bank_file_id text collate "C" not null,
  kind         text not null check (kind in ('settlement', 'statement', 'payouts', 'refunds')),
  -- as the person had it
  name         text not null check (char_length(name) between 1 and 255),
  sha256       text not null check (sha256 ~ '^[0-9a-f]{64}$'),
  content      bytea not null,
  lines        integer not null check (lines >= 0),
  -- lines that fitted nothing, or something else, when it was recorded
  unfitting    integer not null check (unfitting between 0 and lines),
  -- the net of transfers, or how a statement closes; none of responses
  amount_paise bigint,
  recorded_by  text not null,
  recorded_at  timestamptz not null,
  primary key (tenant_id, bank_file_id)
);
create index bank_files_by_time on bank_files (recorded_at, bank_file_id);
select secure_tenants('bank_files', 'tenant_id');
grant select, insert on bank_files to svc_operator;

-- Our accounts at banks, and what the banks say of them (decision R14): lines that follow one another by their balances.
-- They are the platform's.
create table bank_accounts (
  tenant_id       text collate "C" not null references tenants check (tenant_id = 'house'),
  bank_account_id text collate "C" not null,
  purpose         text not null check (purpose in ('merchant_escrow', 'ppi_escrow', 'own_funds')),
  -- two a purpose
  place           smallint not null check (place in (1, 2)),
  name            text not null,
  account_number  text not null,
  ifsc            text not null,
  -- what the bank has at the beginning of the first day of which we have statements
  opening_paise   bigint not null,
  opened_on       date not null,
  created_by      text not null,
  created_at      timestamptz not null,
  primary key (tenant_id, bank_account_id),
  constraint bank_accounts_two_a_purpose unique (tenant_id, purpose, place),
  constraint bank_accounts_are_named_once unique (tenant_id, account_number, ifsc)
);
select secure_tenants('bank_accounts', 'tenant_id');
grant select on bank_accounts to svc_service;
grant select, insert on bank_accounts to svc_operator;

-- Files of banks, each imported once.
create table bank_statements (
  tenant_id       text collate "C" not null references tenants check (tenant_id = 'house'),
  statement_id    text collate "C" not null,
  bank_account_id text collate "C" not null,
  opening_paise   bigint not null,
  closing_paise   bigint not null,
  -- the day that it ends with, and the place of its last line in that day; no place: without a line
  through         date,
  last_place      integer not null check (last_place >= 0),
  lines           integer not null check (lines >= 0),
  new_lines       integer not null check (new_lines between 0 and lines),
  imported_by     text not null,
  imported_at     timestamptz not null,
  primary key (tenant_id, statement_id),
  constraint account_is_there foreign key (tenant_id, bank_account_id) references bank_accounts
);
create index bank_statements_of_account on bank_statements (tenant_id, bank_account_id, through);
select secure_tenants('bank_statements', 'tenant_id');
grant select on bank_statements to svc_service;
grant select, insert on bank_statements to svc_operator;

-- Lines of statements, each explained by a movement in the books, or by a person.
create table statement_lines (
  tenant_id       text collate "C" not null references tenants check (tenant_id = 'house'),
  line_id         text collate "C" not null,
  bank_account_id text collate "C" not null,
  purpose         text not null,
  statement_id    text collate "C" not null,
  booked_on       date not null,
  -- 1, 2, 3 … within the day
  place           integer not null check (place > 0),
  -- above zero it is money to us
  amount_paise    bigint not null check (amount_paise <> 0),
  -- of the account, after the line
  balance_paise   bigint not null,
  reference       text not null,
  narration       text not null,
  status          text not null check (status in ('UNMATCHED', 'MATCHED', 'DIFFERS', 'RESOLVED')),
  -- the movement in the books that it is, and what was posted because of it
  document_id     text collate "C",
  journal_id      text collate "C",
  journal_tenant  text collate "C" references tenants,
  resolved_as     text,
  -- who is to find out what it is
  owner           text not null,
  recorded_at     timestamptz not null,
  primary key (tenant_id, line_id),
  constraint lines_have_a_place unique (tenant_id, bank_account_id, booked_on, place),
  constraint statement_is_there foreign key (tenant_id, statement_id) references bank_statements
    deferrable initially deferred,
  constraint document_when_explained check ((status = 'UNMATCHED') = (document_id is null)),
  constraint resolved_as_a_whole check ((status = 'RESOLVED') = (resolved_as is not null)),
  check ((journal_id is null) = (journal_tenant is null))
);
-- A booked movement has at most one line; between two of our accounts it has one in each.
create unique index statement_lines_once on statement_lines (purpose, document_id) where document_id is not null;
create index statement_lines_open on statement_lines (line_id) where status in ('UNMATCHED', 'DIFFERS');
create index statement_lines_of_statement on statement_lines (tenant_id, statement_id);
create index statement_lines_by_journal on statement_lines (journal_id) where journal_id is not null;
select secure_tenants('statement_lines', 'tenant_id');
grant select, update (status, document_id, journal_id, journal_tenant, resolved_as) on statement_lines to svc_service;
grant select, insert, update (status, document_id, journal_id, journal_tenant, resolved_as, owner) on statement_lines
  to svc_operator;

-- What moves between our bank accounts and what banks owe us has its transfer or its lines by the end of the transaction,
-- whichever login enters it: a theft from a bank account would otherwise be booked as money that the bank owes us.
create function require_settlement_lines() returns trigger
  language plpgsql security definer set search_path = svc, pg_temp
  as $$
  declare
    is_in boolean := split_part(new.debit_account_id, ':', 1) in ('bank', 'ppi_bank');
    -- Whose lines say it: of a line that was corrected, the journal that is taken back.
    of_journal text := case new.kind when 'bank_settlement_reversed' then new.object_id else new.journal_id end;
    of_lines bigint;
    proven boolean;
  begin
    if new.kind in ('settlement_matched', 'network_matched') then
      -- What fitted nothing leaves as it came, of the same transfer.
      select sum(case t.kind when new.kind then - t.amount else t.amount end) >= 0 into proven from ledger_transfers t
        where t.tenant_id = new.tenant_id and t.object_id = new.object_id and (
          t.kind = new.kind and t.debit_account_id = new.debit_account_id and t.credit_account_id = new.credit_account_id
          or t.kind in ('settlement_unmatched', 'network_settlement') and t.debit_account_id = new.credit_account_id
            and t.credit_account_id = new.debit_account_id);
    elsif new.kind in ('settlement_unmatched', 'settlement_charged') or new.kind = 'network_settlement' and new.tenant_id = 'house' then
      proven := exists (select from settlement_batches b where b.tenant_id = 'house' and b.batch_id = new.object_id);
    else
      select sum(abs(l.amount_paise)) into of_lines from (
          select s.amount_paise from settlement_lines s where s.tenant_id = new.tenant_id and s.journal_id = of_journal
          union all
          select b.amount_paise from settlement_batch_lines b
          where b.of_tenant = new.tenant_id and b.matched_journal_id = of_journal
          union all
          select s.amount_paise from statement_lines s where s.journal_id = of_journal and s.journal_tenant = new.tenant_id) l
        where (l.amount_paise > 0) = (is_in <> (new.kind = 'bank_settlement_reversed'));
      -- A line that was corrected says nothing any more, and neither does a match that was taken back.
      proven := case new.kind when 'bank_settlement_reversed' then coalesce(of_lines, 0) + (
          select sum(case t.kind when new.kind then t.amount else - t.amount end) from ledger_transfers t
          where t.tenant_id = new.tenant_id and (t.journal_id = of_journal and t.debit_account_id = new.credit_account_id
            or t.object_id = of_journal and t.kind = new.kind)) = 0
        else of_lines = new.amount or exists (
          select from journals j join ledger_transfers t on t.tenant_id = j.tenant_id and t.journal_id = j.reverses
          where j.tenant_id = new.tenant_id and j.journal_id = new.journal_id and t.kind = new.kind and t.amount = new.amount
            and t.debit_account_id = new.credit_account_id and t.credit_account_id = new.debit_account_id) end;
    end if;
    if proven is not true then
      raise exception 'no transfer or line of the bank has this journal of kind %', new.kind
        using errcode = 'integrity_constraint_violation', constraint = 'settlements_have_lines', table = 'ledger_transfers';
    end if;
    return null;
  end $$;
create constraint trigger settlements_have_lines after insert on ledger_transfers deferrable initially deferred for each row
  when (new.kind in ('settlement_unmatched', 'settlement_charged', 'settlement_matched', 'network_settlement', 'network_matched',
    'bank_settlement', 'bank_settlement_reversed', 'funding_settled'))
  execute function require_settlement_lines();

-- Proofs of funds as they were signed each night.
create table funds_proofs (
  tenant_id   text collate "C" not null references tenants check (tenant_id = 'house'),
  proven_on   date not null,
  -- 1, 2, 3 … of the day: again when a statement has come that was missing
  version     integer not null check (version > 0),
  provisional boolean not null,
  -- of all purposes together, and what escrow accounts have less than is owed out of them
  unexplained_paise bigint not null check (unexplained_paise >= 0),
  shortfall_paise   bigint not null check (shortfall_paise >= 0),
  -- a compact JWS, which has all of it
  signed      text not null,
  created_at  timestamptz not null,
  primary key (tenant_id, proven_on, version)
);
select secure_tenants('funds_proofs', 'tenant_id');
grant select on funds_proofs to svc_service;
grant select, insert on funds_proofs to svc_operator;

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

-- The bank's reference of a transfer; null for other ids.
create function utr_of_batch(id text) returns text
  language sql stable as $$
    select (select b.batch_utr from settlement_batches b where b.tenant_id = 'house' and b.batch_id = id) $$;

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

-- What statements say of batches. Of an incomplete batch the missing lines come first.
create function confirm_batches() returns void
  language sql
  as $$
    update settlement_batches b set status = case l.status when 'MATCHED' then 'CONFIRMED' else 'DIFFERS' end
    from statement_lines l
    where b.tenant_id = 'house' and l.document_id = b.batch_id and l.status in ('MATCHED', 'DIFFERS')
      and b.status in ('POSTED', 'CONFIRMED', 'DIFFERS')
      and b.status <> case l.status when 'MATCHED' then 'CONFIRMED' else 'DIFFERS' end
  $$;

create function unconfirm_batch(id text) returns void
  language sql
  as $$
    update settlement_batches b set status = 'POSTED'
    where b.tenant_id = 'house' and b.batch_id = id and b.status in ('CONFIRMED', 'DIFFERS')
  $$;

-- Movements of our own money at the bank (decision R26): fees and GST that leave the escrow of merchants, tax, and what the
-- owner and we pay in. They are the platform's. One that was entered by mistake is taken back as a whole: each of its
-- journals by a mirrored one, so that its reference can be entered again.
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
  -- what of the shares is in the books of tenants that live in another cell now (decision X40)
  moved_paise     bigint not null default 0,
  -- the journal that took the whole back
  reversed_by     text collate "C",
  primary key (tenant_id, movement_id),
  constraint journal_is_the_platforms foreign key (tenant_id, journal_id) references journals (tenant_id, journal_id)
    deferrable initially deferred,
  check ((kind = 'SWEEP') = (through is not null) and (kind = 'GST') = (month is not null))
);
create index own_funds_movements_of_month on own_funds_movements (month) where month is not null;
create unique index own_funds_references_stand_once on own_funds_movements (tenant_id, reference)
  where reversed_by is null;
create index own_funds_movements_by_reference on own_funds_movements (tenant_id, reference);
create trigger by_an_operator before insert on own_funds_movements for each statement execute function require_operator();
select secure_tenants('own_funds_movements', 'tenant_id');
grant select, insert on own_funds_movements to svc_service, svc_operator;

-- Whether a movement was taken back; null for other ids.
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

-- Every journal of these kinds is of such a movement, by the end of the transaction; a reference that was taken back is
-- entered again with a number behind it. A journal that takes a movement back mirrors one of it.
create function require_own_funds_movement() returns trigger
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
create constraint trigger own_funds_are_proven after insert on ledger_transfers deferrable initially deferred for each row
  when (new.kind in ('own_funds_swept', 'sweep_shared', 'gst_paid', 'gst_shared', 'owner_paid', 'escrow_paid', 'tds_refunded',
    'tds_shared'))
  execute function require_own_funds_movement();
create constraint trigger own_funds_back_are_proven after insert on ledger_transfers deferrable initially deferred for each row
  when (new.kind = 'own_funds_taken_back') execute function require_own_funds_movement();

-- The run that sent a payout, null for other ids; and the payouts of a run.
create function run_of_payout(id text) returns text
  language sql stable as $$ select (select y.run_id from payouts y where y.payout_id = id limit 1) $$;

create function payouts_of_run(id text) returns setof text
  language sql stable as $$ select y.payout_id from payouts y where y.run_id = id $$;

-- What lines of bank statements may be, for operators, who see every tenant: a batch, a payout, a run of payouts, a refund
-- that the bank made as a transfer of its own, a movement of our funds; no statement shows what was taken back. `names` are
-- references in canonical form; `ids` our own ids, where names look like ones.
create function statement_movements(names text[], ids text[])
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

-- Year ends (decision R28): income and expenses of a financial year that is over go to the owner's equity, for each tenant
-- in its own books, and in those of the platform as a whole.
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
create trigger by_an_operator before insert on year_ends for each statement execute function require_operator();
select secure_tenants('year_ends', 'tenant_id');
grant select, insert on year_ends to svc_service, svc_operator;

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

-- Who a merchant is to the tax office.
create table tax_registrations (
  merchant_id text collate "C" primary key references merchants,
  legal_name  text not null check (legal_name <> ''),
  address     text not null check (address <> ''),
  gstin       text collate "C" check (gstin ~ '^[0-9]{2}[A-Z0-9]{13}$'),
  -- GST state code: decides central and state tax, or integrated tax
  state       text collate "C" not null check (state ~ '^[0-9]{2}$'),
  updated_at  timestamptz not null,
  constraint state_is_the_gstins check (gstin is null or left(gstin, 2) = state)
);
create constraint trigger audited after insert or update or delete on tax_registrations deferrable initially deferred
  for each row execute function audit_change('tax_registration', 'merchant_id', 'merchant_id',
    'legal_name,address,gstin,state,updated_at');
select secure_tenants('tax_registrations', 'merchant_id');
grant select on tax_registrations to svc_service;
grant select, insert, update on tax_registrations to svc_operator;

-- The last number of each series in a financial year: the row is locked until the document is committed, so that no
-- number is missing.
create table tax_series (
  series         text collate "C" not null check (series ~ '^[A-Z0-9]{1,2}$'),
  financial_year text collate "C" not null check (financial_year ~ '^[0-9]{2}-[0-9]{2}$'),
  last_number    bigint not null check (last_number between 1 and 9999999),
  primary key (series, financial_year)
);
create trigger by_an_operator before insert or update on tax_series for each statement execute function require_operator();
grant select, insert, update (last_number) on tax_series to svc_service, svc_operator;

-- Invoices of fees and their GST, by merchant and month (decision R24), and credit notes for them (decision R27).
create table tax_documents (
  merchant_id      text collate "C" not null references merchants,
  document_id      text collate "C" not null,
  number           text collate "C" not null unique,
  kind             text not null check (kind in ('INVOICE', 'CREDIT_NOTE', 'DEBIT_NOTE')),
  issue_date       date not null,
  -- the first day of the month that it is of
  month            date not null check (extract(day from month) = 1),
  supplier         jsonb not null,
  recipient        jsonb not null,
  place_of_supply  text collate "C" not null,
  sac              text collate "C" not null,
  payment_count    integer not null check (payment_count >= 0),
  taxable_paise    bigint not null check (taxable_paise > 0),
  tax_basis_points integer not null check (tax_basis_points >= 0),
  cgst_paise       bigint not null check (cgst_paise >= 0),
  sgst_paise       bigint not null check (sgst_paise >= 0),
  igst_paise       bigint not null check (igst_paise >= 0),
  original_number  text collate "C",
  signed           text not null,
  created_at       timestamptz not null,
  -- the credit note that a debit note takes back (decision R27)
  credit_note_number text collate "C",
  primary key (merchant_id, document_id),
  constraint numbers_of_a_merchant unique (merchant_id, number),
  constraint invoice_is_the_merchants foreign key (merchant_id, original_number) references tax_documents (merchant_id, number),
  constraint notes_name_an_invoice check ((kind = 'INVOICE') = (original_number is null)
    and (kind = 'DEBIT_NOTE') = (credit_note_number is not null))
);
create index tax_documents_of_month on tax_documents (month, number);
create index tax_documents_by_issue_date on tax_documents (issue_date);
create unique index tax_documents_by_id on tax_documents (document_id);
create trigger by_an_operator before insert on tax_documents for each statement execute function require_operator();
select secure_tenants('tax_documents', 'merchant_id');
grant select, insert on tax_documents to svc_service, svc_operator;

-- The invoice that a journal of fees is in.
create table tax_document_journals (
  merchant_id text collate "C" not null,
  journal_id  text collate "C" not null,
  document_id text collate "C" not null,
  primary key (merchant_id, journal_id),
  constraint document_is_the_merchants foreign key (merchant_id, document_id)
    references tax_documents (merchant_id, document_id),
  constraint journal_is_the_merchants foreign key (merchant_id, journal_id) references journals (tenant_id, journal_id)
);
create index tax_document_journals_of_document on tax_document_journals (merchant_id, document_id);
select secure_tenants('tax_document_journals', 'merchant_id');
grant select on tax_document_journals to svc_service;
grant select, insert on tax_document_journals to svc_operator;

-- A journal of a note has its document, of the whole amount, by the end of the transaction; that of a debit note names the
-- credit note, which no other one does.
create function require_credit_note() returns trigger
  language plpgsql security definer set search_path = svc, pg_temp
  as $$
  begin
    if not exists (
      select from tax_documents d
      where d.merchant_id = new.tenant_id and d.document_id = new.object_id and d.kind = upper(new.kind)
        and d.taxable_paise + d.cgst_paise + d.sgst_paise + d.igst_paise = (
          select sum(t.amount) from ledger_transfers t
          where t.tenant_id = new.tenant_id and t.journal_id = new.journal_id)
        and (d.kind = 'CREDIT_NOTE' or exists (
          select from journals j join tax_documents c on c.merchant_id = d.merchant_id and c.number = j.reference
          where j.tenant_id = new.tenant_id and j.journal_id = new.journal_id and c.number = d.credit_note_number
            and c.kind = 'CREDIT_NOTE' and c.original_number = d.original_number
            and (c.taxable_paise, c.cgst_paise, c.sgst_paise, c.igst_paise)
              = (d.taxable_paise, d.cgst_paise, d.sgst_paise, d.igst_paise))))
    then
      raise exception 'no credit or debit note has this journal'
        using errcode = 'integrity_constraint_violation', constraint = 'credit_notes_are_documents', table = 'ledger_transfers';
    end if;
    return null;
  end $$;
create constraint trigger credit_notes_are_documents after insert on ledger_transfers deferrable initially deferred
  for each row when (new.kind = 'credit_note') execute function require_credit_note();
create constraint trigger debit_notes_are_documents after insert on ledger_transfers deferrable initially deferred
  for each row when (new.kind = 'debit_note') execute function require_credit_note();

-- Tax deducted at source (decision R29): merchants that deducted it on our fees certify it, and the tax office refunds it.
create table tds_certificates (
  merchant_id     text collate "C" not null references merchants,
  certificate_id  text collate "C" not null,
  number          text collate "C" not null,
  quarter         text not null check (quarter ~ '^[0-9]{4}-[0-9]{2}-Q[1-4]$'),
  amount_paise    bigint not null check (amount_paise > 0),
  dated_on        date not null,
  journal_id      text collate "C" not null,
  created_at      timestamptz not null,
  reversed_by     text collate "C",
  primary key (merchant_id, certificate_id),
  constraint journal_is_the_merchants foreign key (merchant_id, journal_id) references journals (tenant_id, journal_id)
    deferrable initially deferred
);
create index tds_certificates_by_time on tds_certificates (created_at, certificate_id);
create unique index tds_certificates_stand_once on tds_certificates (merchant_id, number) where reversed_by is null;
create index tds_certificates_by_journal on tds_certificates (merchant_id, journal_id);
create trigger by_an_operator before insert on tds_certificates for each statement execute function require_operator();
select secure_tenants('tds_certificates', 'merchant_id');
grant select, insert on tds_certificates to svc_service, svc_operator;

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

-- The payout that has what a journal entered, which therefore stays; one that was cancelled has nothing.
create function payout_of_posting(of_tenant text, of_journal text) returns text
  language sql stable set search_path = svc, pg_temp
  return coalesce(
    (select o.payout_id from opening_balances o where o.tenant_id = of_tenant and o.journal_id = of_journal),
    (select l.payout_id from tds_certificates c
       join payout_lines l on l.merchant_id = c.merchant_id and l.kind = 'tds_certificate' and l.object_id = c.certificate_id
       join payouts y on y.merchant_id = l.merchant_id and y.payout_id = l.payout_id
     where c.merchant_id = of_tenant and c.journal_id = of_journal and y.status <> 'CANCELLED' limit 1),
    (select l.payout_id from payout_lines l
     where l.merchant_id = of_tenant and l.object_id = of_journal and l.kind = 'fees_settled' and not l.released limit 1));

-- Whoever enters the reversal: its document is as if it had not been entered.
create function take_back_document() returns trigger
  language plpgsql security definer set search_path = svc, pg_temp
  as $$
  begin
    update statement_lines
      set status = 'UNMATCHED', document_id = null, resolved_as = null, journal_id = null, journal_tenant = null
      where tenant_id = new.tenant_id and journal_id = new.reverses and journal_tenant = new.tenant_id and status = 'RESOLVED';
    update tds_certificates set reversed_by = new.journal_id
      where merchant_id = new.tenant_id and journal_id = new.reverses;
    return null;
  end $$;
create trigger takes_back_document after insert on journals for each row
  when (new.kind = 'journal_reversal') execute function take_back_document();

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

-- Lines of payments that were not known and have come since, with their transfers. A line that was recorded for that tenant
-- meanwhile is not among them.
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

revoke execute on all functions in schema svc from public;
grant execute on function legs_of_batch, line_of_batch, batch_is_reversed, own_movement_is_reversed,
  payout_of_posting, directory_settlement_batch to svc_service, svc_operator;
grant execute on function directory_settled_documents, directory_settlement_lines_found,
  directory_unmatched_lines, directory_batch_tenants to svc_service;
grant execute on function utr_of_batch, confirm_batches, unconfirm_batch, run_of_payout, payouts_of_run,
  statement_movements to svc_operator;
