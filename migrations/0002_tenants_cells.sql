-- Tenants, the cells that they live in, and what protects their rows.

-- Who exists. Outside the tenants' policy: it is read before any tenant is known.
create table tenants (
  tenant_id   text collate "C" primary key,
  kind        text not null check (kind in ('house', 'merchant', 'partner')),
  created_at  timestamptz not null,
  disabled_at timestamptz,
  -- Tenants that leave (decision A14): a closing tenant is disabled for good. What is still open is brought to its end,
  -- then it is closed. Its rows stay: books, payments and history are kept.
  closing_at  timestamptz,
  closed_at   timestamptz,
  constraint closing_is_disabled check (closing_at is null or disabled_at is not null),
  constraint closed_was_closing check (closed_at is null or closing_at is not null)
);
create index tenants_closing on tenants (closing_at) where closing_at is not null;
grant select on tenants to svc_service;
grant select, insert, update (disabled_at, closing_at, closed_at) on tenants to svc_operator;
-- The company that runs the service: it has what belongs to no tenant, such as credits for codes that never existed.
insert into tenants values ('house', 'house', now(), null);

-- Cells (decision X40): databases with their own processes that serve one installation together. All of them, in the
-- database of the first.
create table cells (
  cell       text collate "C" not null check (cell ~ '^[a-z]$'),
  card_range text not null check (card_range ~ '^[0-9]{6,10}$'),
  since      timestamptz not null default clock_timestamp()
);
alter table cells add primary key (cell);
grant select on cells to svc_service, svc_operator;

-- Tenants that move between cells (decision X40). A row is there while a tenant of this database is on its way, and for
-- good once it lives in another cell:
--   copying   its rows are copied to `cell` while it is served here
--   held      nothing of it is written, but for its events, which are numbered
--   still     nothing of it is written at all
--   moved     it lives in `cell`
--   arriving  its rows come from `cell`, where it still lives
-- `held` and `still` end by themselves at `held_until`, so that a mover that dies stops nobody for longer.
create table tenant_moves (
  tenant_id  text collate "C" not null references tenants,
  state      text not null check (state in ('copying', 'held', 'still', 'moved', 'arriving')),
  cell       text collate "C" not null check (cell ~ '^[a-z]$'),
  held_until timestamptz,
  since      timestamptz not null default clock_timestamp(),
  check ((held_until is not null) = (state in ('held', 'still')))
);
alter table tenant_moves add primary key (tenant_id);
grant select on tenant_moves to svc_operator;

-- What names a tenant that moved away, from the time that it lived here: its credentials, codes, accounts and cards.
create table moved_references (
  tenant_id text collate "C" not null references tenants,
  what      text not null,
  reference text collate "C" not null
);
alter table moved_references add primary key (tenant_id, what, reference);
create index moved_references_by_reference on moved_references (what, reference);
grant select on moved_references to svc_operator;

-- In the database of the first cell: where each tenant lives that has moved.
create table tenant_homes (
  tenant_id text collate "C" not null,
  cell      text collate "C" not null references cells,
  since     timestamptz not null default clock_timestamp()
);
alter table tenant_homes add primary key (tenant_id);
grant select on tenant_homes to svc_operator;

-- Tables of tenants, each with its tenant's column: that which the policy reads.
create function tenant_tables() returns table (name text, tenant_column text)
  language sql stable set search_path = svc, pg_temp
  as $$
    select c.relname::text, a.attname::text
    from pg_policy p
      join pg_class c on c.oid = p.polrelid and c.relnamespace = 'svc'::regnamespace and not c.relispartition
      join pg_depend d on d.classid = 'pg_policy'::regclass and d.objid = p.oid
        and d.refclassid = 'pg_class'::regclass and d.refobjid = c.oid and d.refobjsubid > 0
      join pg_attribute a on a.attrelid = c.oid and a.attnum = d.refobjsubid
    where p.polname = 'tenant' order by c.relname
  $$;

-- Refuses what a statement wrote of a tenant that is away. After the statement: by then the transaction has its number, so
-- that a mover who waits for all transactions that were under way when the tenant was held misses none. A hold that ended
-- by itself is looked at under a lock, for which the mover's last step waits too.
-- The function is made once for each name of a tenant's column, so that its plans are kept.
do $do$
declare
  name text;
begin
  foreach name in array array['tenant_id', 'merchant_id', 'partner_id'] loop
    execute format($make$
      create function refuse_away_by_%1$s() returns trigger
        language plpgsql security definer set search_path = svc, pg_temp
        as $body$
        declare
          away tenant_moves;
        begin
          if not exists (select from tenant_moves) then
            return null;
          end if;
          for away in
            select m.* from tenant_moves m
            where m.state <> 'copying' and (m.state <> 'held' or tg_argv[0] = 'held')
              and m.tenant_id in (select w.%1$I from written w)
          loop
            if away.held_until <= clock_timestamp() then
              select m.* into away from tenant_moves m where m.tenant_id = away.tenant_id for share;
              continue when away.state is null or away.state = 'copying' or away.held_until <= clock_timestamp();
            end if;
            raise exception 'the tenant %% is not served here now', away.tenant_id
              using errcode = 'SV421', table = tg_table_name;
          end loop;
          return null;
        end $body$ $make$, name);
  end loop;
end $do$;

-- Puts a table of tenants under that rule. Events and deliveries are still written while a tenant is held. What a cell
-- writes about its own requests, and what a mover itself does, is not under it.
create function guard_home(of_table regclass) returns void
  language plpgsql set search_path = svc, pg_temp
  as $$
  declare
    t record;
    from_when text := case when of_table::text in ('event_numbers', 'event_counters', 'webhook_deliveries', 'webhook_attempts')
      then 'still' else 'held' end;
    event record;
  begin
    select * into t from tenant_tables() tt where tt.name = of_table::text;
    if t.name is null or t.name in ('unnumbered_events', 'webhook_leases', 'request_log', 'credential_uses',
        'credential_refusals', 'tenant_moves', 'moved_references', 'moved_books', 'tenant_homes') then
      return;
    end if;
    for event in select * from (values ('insert', 'new'), ('update', 'new'), ('delete', 'old')) e (name, rows) loop
      execute format('drop trigger if exists at_home_%s on %s', event.name, of_table);
      execute format(
        'create trigger at_home_%1$s after %1$s on %2$s referencing %3$s table as written for each statement
           execute function refuse_away_by_%4$s(%5$L)', event.name, of_table, event.rows, t.tenant_column, from_when);
    end loop;
  end $$;

-- Protects a table of tenants: the service sees the rows of the tenants that its transaction names, operators see all.
-- `array_position` on purpose: no index serves it, so that stale statistics never choose the tenant's index over the
-- key (decision X8). And nothing is written of a tenant that is away.
create function secure_tenants(of_table regclass, tenant_column name) returns void
  language plpgsql
  as $$
  begin
    execute format('alter table %s enable row level security', of_table);
    execute format(
      'create policy tenant on %s to svc_service
         using (array_position((select current_tenants())::text[], %I) is not null)', of_table, tenant_column);
    execute format('create policy operator on %s to svc_operator using (true)', of_table);
    perform guard_home(of_table);
  end $$;

-- Those above could not be protected before this function was there.
select secure_tenants('tenant_moves', 'tenant_id');
select secure_tenants('moved_references', 'tenant_id');
select secure_tenants('tenant_homes', 'tenant_id');

-- Whether a tenant is not served here now, and which cell serves it: null while it is held. What arrives is served where it
-- comes from until then.
create function tenants_away(tenants text[]) returns table (tenant_id text, home text)
  language sql stable security definer set search_path = svc, pg_temp
  as $$
    select m.tenant_id, case when m.state in ('moved', 'arriving') then m.cell end from tenant_moves m
    where m.tenant_id = any (tenants)
      and (m.state in ('moved', 'arriving') or m.held_until > clock_timestamp())
  $$;

-- Tenants of which processes ask again at each request.
create function directory_moves() returns table (tenant_id text)
  language sql stable security definer set search_path = svc, pg_temp
  as $$ select m.tenant_id from tenant_moves m $$;

-- Which tenant that moved away a reference of its time here names.
create function directory_moved(kind text, names text[]) returns table (reference text, tenant_id text)
  language sql stable security definer set search_path = svc, pg_temp
  as $$
    select r.reference, r.tenant_id from moved_references r join tenant_moves m using (tenant_id)
    where r.what = kind and r.reference = any (names) and m.state = 'moved'
  $$;

-- The sandbox alone: tenants whose time is ahead of the service's.
create table test_clocks (
  tenant_id text collate "C" not null references tenants,
  ahead_ms  bigint not null check (ahead_ms > 0)
);
alter table test_clocks add primary key (tenant_id);
select secure_tenants('test_clocks', 'tenant_id');
grant select, insert, update (ahead_ms) on test_clocks to svc_service;
grant select on test_clocks to svc_operator;

create function directory_test_clocks() returns table (tenant_id text, ahead_ms bigint)
  language sql stable security definer set search_path = svc, pg_temp
  as $$ select c.tenant_id, c.ahead_ms from test_clocks c order by c.tenant_id $$;

-- Responses of commands sent with an Idempotency-Key (decision C13), encrypted, stored for a setting's time. Tenants are
-- never deleted, and what a response reports has its own reference to its tenant, so this table needs none.
create table idempotency_keys (
  tenant_id    text collate "C" not null,
  route        text not null,
  key          text collate "C" not null,
  request_hash bytea not null,
  status       smallint not null,
  response     bytea not null,
  created_at   timestamptz not null,
  -- Of an encrypted request, which counts once whatever key it came with.
  ciphertext_hash    bytea,
  -- encrypted as the body is
  response_headers bytea
);
create index idempotency_keys_by_age on idempotency_keys (created_at);
alter table idempotency_keys add primary key (tenant_id, route, key);
create unique index idempotency_keys_by_ciphertext on idempotency_keys (tenant_id, ciphertext_hash)
  where ciphertext_hash is not null;
select secure_tenants('idempotency_keys', 'tenant_id');
-- What an operator creates outside of a command stores its response in the same transaction.
grant select, insert on idempotency_keys to svc_service, svc_operator;

-- Deletes a bounded number of rows for each call, here and in all functions of retention. A subquery that locks rows is
-- read once, as an array: behind `in`, a plan may read it for every row of the table, and each time it passes over what it
-- has locked and finds the next ones, so that its limit limits nothing.
create function forget_old_rows(responses_before timestamptz, batches_before timestamptz) returns bigint
  language sql volatile security definer set search_path = svc, pg_temp
  as $$
    with responses as (
      delete from idempotency_keys where ctid = any (array(
        select ctid from idempotency_keys
        where created_at < least(responses_before, (select retained_since('idempotency_keys')))
        limit 5000 for update skip locked))
      returning 1),
    settled as (
      delete from batches where ctid = any (array(
        select ctid from batches
        where created_at < least(batches_before, (select retained_since('batches')))
        limit 5000 for update skip locked))
      returning 1)
    select (select count(*) from responses) + (select count(*) from settled)
  $$;

revoke execute on all functions in schema svc from public;
grant execute on function tenants_away, directory_moves, directory_moved, directory_test_clocks, forget_old_rows to
  svc_service;
