-- Conventions of all files: ids are text with a prefix, compared bytewise, so that they sort by time of creation
-- whatever the cluster's locale. Tables of tenants are under row-level security; the tenant is first in their primary
-- keys and in the foreign keys between them (decision X21). An index `…_by_id` serves operators, who look an id up
-- without knowing its tenant. The order of statements matters: of indexes that look equally cheap, as on a table that
-- was small when its statistics were taken, PostgreSQL uses the one created last. So lists come first, then the primary
-- key, then indexes that only their own lookups can use (decision X8).

-- The migrator's own tables, which exist before this file: the service checks whether the schema is current.
grant select on all tables in schema svc to svc_service, svc_operator;

-- The tenants of the current transaction, set with: set_config('svc.tenants', 'id,id', true). A batch may serve
-- several. Unset means none.
create function current_tenants() returns text[]
  language sql stable parallel safe
  as $$ select string_to_array(current_setting('svc.tenants', true), ',') $$;

-- Protects a table of tenants: the service sees the rows of the tenants that its transaction names, operators see all.
-- `array_position` on purpose: no index serves it, so that stale statistics never choose the tenant's index over the
-- key (decision X8).
create function secure_tenants(of_table regclass, tenant_column name) returns void
  language plpgsql
  as $$
  begin
    execute format('alter table %s enable row level security', of_table);
    execute format(
      'create policy tenant on %s to svc_service
         using (array_position((select current_tenants())::text[], %I) is not null)', of_table, tenant_column);
    execute format('create policy operator on %s to svc_operator using (true)', of_table);
  end $$;

-- Fails the transaction unless a statement wrote as many rows as expected.
create function require_count(wrote bigint, wanted integer, message text) returns void
  language plpgsql immutable
  as $$
  begin
    if wrote <> wanted then
      raise exception '%', message using errcode = 'assert_failure';
    end if;
  end $$;

-- Identifies the data in the database. A restore replaces the data and with it this name; processes that notice it
-- drop what they have cached and start again.
create table installation (
  only_row boolean primary key default true check (only_row),
  epoch    text not null default gen_random_uuid()::text
);
insert into installation default values;
grant select on installation to svc_service, svc_operator;

-- One row for each committed batch of commands: after a connection lost around COMMIT it shows the outcome.
create table batches (
  batch_id   text collate "C" not null,
  created_at timestamptz not null default now()
);
alter table batches add primary key (batch_id);
create index batches_by_age on batches (created_at);
grant select, insert on batches to svc_service;
grant select on batches to svc_operator;

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
  seal_hash    bytea,
  -- encrypted as the body is
  response_headers bytea
);
create index idempotency_keys_by_age on idempotency_keys (created_at);
alter table idempotency_keys add primary key (tenant_id, route, key);
create unique index idempotency_keys_by_seal on idempotency_keys (tenant_id, seal_hash) where seal_hash is not null;
select secure_tenants('idempotency_keys', 'tenant_id');
grant select, insert on idempotency_keys to svc_service;
grant select on idempotency_keys to svc_operator;

-- How long rows are kept that only age makes useless. The service deletes nothing younger, whatever it asks for: with
-- its login alone nobody erases feeds or idempotency keys. Operators' processes store the settings here.
create table retention (
  what text primary key,
  keep interval not null check (keep > interval '0'),
  -- most rows, for the request log
  rows bigint check (rows > 0)
);
insert into retention (what, keep, rows) values
  ('idempotency_keys', '48 hours', null), ('batches', '1 hour', null), ('events', '400 days', null),
  ('webhook_attempts', '30 days', null), ('request_log', '7 days', 2000000), ('minute_sums', '15 days', null);
grant select on retention to svc_service, svc_operator;
grant update (keep, rows) on retention to svc_operator;

-- The instant before which rows may be deleted, by the database's clock.
create function retained_since(kind text) returns timestamptz
  language sql stable security definer set search_path = svc, pg_temp
  as $$
    select coalesce((select clock_timestamp() - r.keep from retention r where r.what = kind), '-infinity')
  $$;

-- Deletes a bounded number of rows for each call, here and in all functions of retention.
create function forget_old_rows(responses_before timestamptz, batches_before timestamptz) returns bigint
  language sql volatile security definer set search_path = svc, pg_temp
  as $$
    with responses as (
      delete from idempotency_keys where ctid in (
        select ctid from idempotency_keys
        where created_at < least(responses_before, (select retained_since('idempotency_keys')))
        limit 5000 for update skip locked)
      returning 1),
    settled as (
      delete from batches where ctid in (
        select ctid from batches
        where created_at < least(batches_before, (select retained_since('batches')))
        limit 5000 for update skip locked)
      returning 1)
    select (select count(*) from responses) + (select count(*) from settled)
  $$;

-- Fails while the disk has no room for new pages. The table belongs to the owner, so that no other role needs to create
-- any.
create function require_room() returns void
  language plpgsql volatile security definer set search_path = svc, pg_temp
  as $$
  declare
    room text := 'room_' || pg_backend_pid();
  begin
    execute format('create unlogged table %I as select n from generate_series(1, 20000) as n', room);
    execute format('drop table %I', room);
  end $$;

revoke execute on all functions in schema svc from public;
grant execute on function current_tenants, require_count to svc_service, svc_operator;
grant execute on function forget_old_rows, require_room to svc_service;
