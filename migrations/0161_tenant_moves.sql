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
select secure_tenants('tenant_moves', 'tenant_id');
grant select on tenant_moves to svc_operator;

-- What names a tenant that moved away, from the time that it lived here: its credentials, codes, accounts and cards.
create table moved_references (
  tenant_id text collate "C" not null references tenants,
  what      text not null,
  reference text collate "C" not null
);
alter table moved_references add primary key (tenant_id, what, reference);
create index moved_references_by_reference on moved_references (what, reference);
select secure_tenants('moved_references', 'tenant_id');
grant select on moved_references to svc_operator;

-- In the database of the first cell: where each tenant lives that has moved.
create table tenant_homes (
  tenant_id text collate "C" not null,
  cell      text collate "C" not null references cells,
  since     timestamptz not null default clock_timestamp()
);
alter table tenant_homes add primary key (tenant_id);
select secure_tenants('tenant_homes', 'tenant_id');
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

-- Whether a tenant is not served here now, and which cell serves it: null while it is on its way.
create function tenants_away(tenants text[]) returns table (tenant_id text, home text)
  language sql stable security definer set search_path = svc, pg_temp
  as $$
    select m.tenant_id, case when m.state = 'moved' then m.cell end from tenant_moves m
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
        'credential_refusals', 'tenant_moves', 'moved_references', 'tenant_homes') then
      return;
    end if;
    for event in select * from (values ('insert', 'new'), ('update', 'new'), ('delete', 'old')) e (name, rows) loop
      execute format('drop trigger if exists at_home_%s on %s', event.name, of_table);
      execute format(
        'create trigger at_home_%1$s after %1$s on %2$s referencing %3$s table as written for each statement
           execute function refuse_away_by_%4$s(%5$L)', event.name, of_table, event.rows, t.tenant_column, from_when);
    end loop;
  end $$;

-- As before, and the table is under the rule of homes.
create or replace function secure_tenants(of_table regclass, tenant_column name) returns void
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

-- As before, but no endpoint of a tenant that is away or held.
create or replace function lease_webhook_endpoints(as_holder text, keep text[], lease_ms integer, now timestamptz, most integer)
  returns table (endpoint_id text, tenant_id text, modified_at timestamptz)
  language plpgsql volatile security definer set search_path = svc, pg_temp
  as $$
  #variable_conflict use_column
  declare
    lease interval := lease_ms * interval '1 millisecond';
  begin
    delete from webhook_leases l where l.holder = as_holder and l.endpoint_id <> all (keep);
    update webhook_leases l set until = clock_timestamp() + lease
      where l.holder = as_holder and l.until < clock_timestamp() + lease / 2;
    insert into webhook_leases as l (tenant_id, endpoint_id, holder, until)
      select e.tenant_id, e.endpoint_id, as_holder, clock_timestamp() + lease
      from webhook_endpoints e
      where e.enabled
        and not exists (select from tenant_moves m where m.tenant_id = e.tenant_id
          and (m.state in ('moved', 'arriving') or m.held_until > clock_timestamp()))
        and not exists (select from webhook_leases w
          where w.tenant_id = e.tenant_id and w.endpoint_id = e.endpoint_id and w.until >= clock_timestamp())
        and (exists (select from webhook_deliveries d
            where d.tenant_id = e.tenant_id and d.endpoint_id = e.endpoint_id and d.first)
          or exists (select from webhook_deliveries d
            where d.tenant_id = e.tenant_id and d.endpoint_id = e.endpoint_id and not d.first
              and d.due_at <= lease_webhook_endpoints.now))
      order by e.endpoint_id limit greatest(most, 0)
    on conflict (tenant_id, endpoint_id) do update set holder = excluded.holder, until = excluded.until
      where l.until < clock_timestamp();
    return query
      select e.endpoint_id, e.tenant_id, e.modified_at
      from webhook_leases l join webhook_endpoints e using (tenant_id, endpoint_id)
      where l.holder = as_holder and l.until >= clock_timestamp() and e.enabled
        and not exists (select from tenant_moves m where m.tenant_id = e.tenant_id
          and (m.state in ('moved', 'arriving') or m.held_until > clock_timestamp()));
  end $$;

revoke execute on all functions in schema svc from public;
grant execute on function tenants_away, directory_moves, directory_moved to svc_service;
