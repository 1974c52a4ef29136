-- Events, written in the transaction of their cause, and never changed. Tenants are never deleted, and whatever an event
-- reports has its own reference to its tenant, so this table needs none. Partitions are dropped whole (decision X26).
create table outbox (
  event_id   text collate "C" not null,
  tenant_id  text collate "C" not null,
  type       text not null,
  object_id  text collate "C" not null,
  payload    jsonb not null,
  created_at timestamptz not null,
  -- of the trace in which it was written (W3C Trace Context)
  traceparent text check (traceparent ~ '^[0-9a-f]{2}-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$')
) partition by range (event_id);
alter table outbox add primary key (tenant_id, event_id);
create table outbox_default partition of outbox default;
alter table outbox_default enable row level security;
select secure_tenants('outbox', 'tenant_id');
grant select, insert on outbox to svc_service, svc_operator;

-- The events that the relay has not numbered yet, with what it reads of them: it never reads an event itself.
-- `position` is the order of insertion: writers of one object wait for each other's row lock, so among the events of one
-- object it is the order of commit. The relay serves all tenants in that order, so the tenant is not first in the key
-- (decision X25). Rows live for a moment, so vacuum comes early.
create table unnumbered_events (
  position   bigint generated always as identity,
  created_at timestamptz not null,
  tenant_id  text collate "C" not null,
  event_id   text collate "C" not null,
  type       text not null,
  object_id  text collate "C" not null,
  -- in rupees, of events that carry money
  amount     jsonb
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 20000);
alter table unnumbered_events add primary key (position);
select secure_tenants('unnumbered_events', 'tenant_id');
grant insert on unnumbered_events to svc_service, svc_operator;
grant select on unnumbered_events to svc_operator;

-- The tenant's feed: `sequence` is given after commit, without gaps for each tenant (decision E1). Narrow, because it is
-- written a second time for every event (decision X25).
create table event_numbers (
  tenant_id  text collate "C" not null,
  sequence   bigint not null,
  position   bigint not null,
  created_at timestamptz not null,
  event_id   text collate "C" not null,
  -- So that a reader of one type reads no others' events.
  type       text not null
);
alter table event_numbers add primary key (tenant_id, sequence);
-- For replays by time, and for the number of an event, whose instant is the same here.
create index event_numbers_by_time on event_numbers (tenant_id, created_at);
select secure_tenants('event_numbers', 'tenant_id');
grant select on event_numbers to svc_service, svc_operator;

create table event_counters (
  tenant_id     text collate "C" primary key references tenants,
  last_sequence bigint not null,
  -- How far the feed has been deleted: number and instant of its last event that is no longer stored (decision E6).
  forgotten_sequence bigint not null default 0,
  forgotten_at  timestamptz
);
select secure_tenants('event_counters', 'tenant_id');
grant select on event_counters to svc_service, svc_operator;

-- Where a tenant receives webhooks. Headers that it wants besides may be secret, so they are encrypted.
create table webhook_endpoints (
  endpoint_id     text collate "C" not null,
  tenant_id       text collate "C" not null references tenants,
  url             text not null,
  description     text not null,
  -- empty: all of them
  types           text[] not null,
  enabled         boolean not null,
  -- why the service disabled it: 'gone' after status 410
  disabled_reason text,
  header_names    text[] not null,
  headers_encrypted  bytea,
  created_at      timestamptz not null,
  modified_at     timestamptz not null
);
create index webhook_endpoints_by_id on webhook_endpoints (endpoint_id);
create index webhook_endpoints_by_url on webhook_endpoints ((left(lower(url), 255) collate "C"));
alter table webhook_endpoints add primary key (tenant_id, endpoint_id);
create constraint trigger audited after insert or update or delete on webhook_endpoints deferrable initially deferred
  for each row execute function audit_change('webhook_endpoint', 'endpoint_id', 'tenant_id',
    'types,enabled,disabled_reason,modified_at');
select secure_tenants('webhook_endpoints', 'tenant_id');
grant select, insert, update, delete on webhook_endpoints to svc_service, svc_operator;

-- Signing secrets: every one that has not expired signs, so that receivers can change over one by one.
create table webhook_secrets (
  secret_id   text collate "C" not null,
  tenant_id   text collate "C" not null,
  endpoint_id text collate "C" not null,
  encrypted      bytea not null,
  created_at  timestamptz not null,
  expires_at  timestamptz,
  constraint endpoint_is_the_tenants foreign key (tenant_id, endpoint_id)
    references webhook_endpoints (tenant_id, endpoint_id) on delete cascade
);
alter table webhook_secrets add primary key (tenant_id, secret_id);
create index webhook_secrets_of_endpoint on webhook_secrets (tenant_id, endpoint_id);
create constraint trigger audited after insert or delete on webhook_secrets deferrable initially deferred
  for each row execute function audit_change('webhook_secret', 'secret_id', 'tenant_id', 'endpoint_id');
select secure_tenants('webhook_secrets', 'tenant_id');
grant select, insert, update, delete on webhook_secrets to svc_service, svc_operator;

-- One process delivers to an endpoint at a time, so that it can keep the order per object. The lease of a process that
-- dies runs out.
create table webhook_leases (
  tenant_id   text collate "C" not null,
  endpoint_id text collate "C" not null,
  holder      text not null,
  until       timestamptz not null,
  constraint endpoint_is_the_tenants foreign key (tenant_id, endpoint_id)
    references webhook_endpoints (tenant_id, endpoint_id) on delete cascade
);
alter table webhook_leases add primary key (tenant_id, endpoint_id);
create index webhook_leases_of_holder on webhook_leases (holder);
select secure_tenants('webhook_leases', 'tenant_id');

-- The queue: what is still to be delivered. A row is deleted when its event was accepted, or after three days.
create table webhook_deliveries (
  endpoint_id text collate "C" not null,
  tenant_id   text collate "C" not null,
  sequence    bigint not null,
  event_id    text collate "C" not null,
  object_id   text collate "C" not null,
  -- First attempts go in order; a retry holds up nothing.
  first       boolean not null,
  attempts    integer not null default 0,
  started_at  timestamptz,
  due_at      timestamptz not null,
  -- Counts requests to send it again: an attempt from before such a request does not settle it.
  turn        integer not null default 0,
  constraint endpoint_is_the_tenants foreign key (tenant_id, endpoint_id)
    references webhook_endpoints (tenant_id, endpoint_id) on delete cascade
);
alter table webhook_deliveries add primary key (tenant_id, endpoint_id, sequence);
create index webhook_deliveries_first on webhook_deliveries (tenant_id, endpoint_id, sequence) where first;
create index webhook_deliveries_again on webhook_deliveries (tenant_id, endpoint_id, due_at) where not first;
select secure_tenants('webhook_deliveries', 'tenant_id');
grant select, insert, update, delete on webhook_deliveries to svc_service, svc_operator;

create table webhook_attempts (
  attempt_id       text collate "C" not null,
  tenant_id        text collate "C" not null,
  endpoint_id      text collate "C" not null,
  event_id         text collate "C" not null,
  sequence         bigint not null,
  attempt          integer not null,
  url              text not null,
  started_at       timestamptz not null,
  duration_ms      integer not null,
  status           smallint,
  -- in words, where there was no valid response
  failure          text,
  response_excerpt text not null,
  next_at          timestamptz,
  constraint endpoint_is_the_tenants foreign key (tenant_id, endpoint_id)
    references webhook_endpoints (tenant_id, endpoint_id) on delete cascade
);
alter table webhook_attempts add primary key (tenant_id, attempt_id);
create index webhook_attempts_of_endpoint on webhook_attempts (tenant_id, endpoint_id, started_at desc, attempt_id desc);
create index webhook_attempts_failed on webhook_attempts (tenant_id, endpoint_id, started_at desc, attempt_id desc)
  where status is null or status not between 200 and 299;
create index webhook_attempts_of_event on webhook_attempts (tenant_id, event_id);
create index webhook_attempts_by_age on webhook_attempts (started_at);
select secure_tenants('webhook_attempts', 'tenant_id');
grant select, insert on webhook_attempts to svc_service;
grant select on webhook_attempts to svc_operator;

-- The relay, one at a time: a second caller returns at once. Its snapshot begins after the lock, so it sees every number
-- given before. Numbers up to `most` events, queues them for the endpoints that want them, and counts them by minute.
create function number_events(most integer, now timestamptz) returns integer
  language plpgsql volatile security definer set search_path = svc, pg_temp
  as $$
  declare
    given integer;
  begin
    if not pg_try_advisory_xact_lock(hashtext('svc relay')) then
      return 0;
    end if;
    -- No other session changes these rows, so they are still at the same place.
    with taken as materialized (
      delete from unnumbered_events
        where ctid = any (array(select u.ctid from unnumbered_events u order by u.position limit most))
      returning *
    ), counted as (
      insert into event_counters as c (tenant_id, last_sequence)
        select t.tenant_id, count(*) from taken t group by t.tenant_id order by t.tenant_id
      on conflict (tenant_id) do update set last_sequence = c.last_sequence + excluded.last_sequence
      returning c.tenant_id, c.last_sequence
    ), numbered as materialized (
      select t.*, c.last_sequence - row_number() over (partition by t.tenant_id order by t.position desc) + 1 as sequence
      from taken t join counted c using (tenant_id)
    ), numbers as (
      insert into event_numbers (tenant_id, sequence, position, created_at, event_id, type)
        select n.tenant_id, n.sequence, n.position, n.created_at, n.event_id, n.type from numbered n
        order by n.tenant_id, n.sequence
    ), queued as (
      insert into webhook_deliveries (endpoint_id, tenant_id, sequence, event_id, object_id, first, due_at)
        select e.endpoint_id, n.tenant_id, n.sequence, n.event_id, n.object_id, true, number_events.now
        from numbered n
        join webhook_endpoints e on e.tenant_id = n.tenant_id and e.enabled
          and (e.types = '{}' or n.type = any (e.types))
    ), summed as (
      insert into minute_sums as m (minute, what, count, amount)
        select date_trunc('minute', n.created_at), 'event ' || n.type, count(*),
          coalesce(sum((n.amount::numeric * 100)::bigint) filter (where n.type = 'qr_code.credited'), 0)
        from numbered n group by 1, 2 order by 1, 2
      on conflict (minute, what) do update set count = m.count + excluded.count, amount = m.amount + excluded.amount
    )
    select count(*) into given from taken;
    return given;
  end $$;

-- Which process delivers to which endpoint. Prolongs the leases that the holder keeps, releases its others, and leases
-- endpoints with work that no process serves. Returns all of the holder's, with the time of their last change.
create function lease_webhook_endpoints(as_holder text, keep text[], lease_ms integer, now timestamptz, most integer)
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
      where l.holder = as_holder and l.until >= clock_timestamp() and e.enabled;
  end $$;

create function forget_webhook_attempts(before timestamptz) returns bigint
  language sql volatile security definer set search_path = svc, pg_temp
  as $$
    with gone as (
      delete from webhook_attempts where ctid in (
        select ctid from webhook_attempts
        where started_at < least(before, (select retained_since('webhook_attempts')))
        limit 5000 for update skip locked)
      returning 1)
    select count(*) from gone
  $$;

-- Deletes the oldest events of each feed, so that a feed loses its beginning and never gets a gap. The events themselves
-- go with their partition.
create function forget_events(before timestamptz) returns bigint
  language sql volatile security definer set search_path = svc, pg_temp
  as $$
    with kept as materialized (
      select least(before, retained_since('events')) as since
    ), due as materialized (
      select c.tenant_id, c.forgotten_sequence from event_counters c
      where (
        select n.created_at from event_numbers n where n.tenant_id = c.tenant_id and n.sequence > c.forgotten_sequence
        order by n.sequence limit 1) < (select since from kept)
      order by c.tenant_id limit 100 for no key update skip locked
    ), oldest as materialized (
      select d.tenant_id, n.event_id, n.sequence, n.created_at,
        bool_and(n.created_at < (select since from kept)) over (partition by d.tenant_id order by n.sequence) as all_old
      from due d cross join lateral (
        select f.event_id, f.sequence, f.created_at from event_numbers f
        where f.tenant_id = d.tenant_id and f.sequence > d.forgotten_sequence order by f.sequence limit 1000) n
    ), gone as (
      delete from event_numbers n using oldest g
      where g.all_old and n.tenant_id = g.tenant_id and n.sequence = g.sequence
      returning n.tenant_id, n.sequence, n.created_at
    ), undelivered as (
      delete from webhook_deliveries d using oldest g join webhook_endpoints e on e.tenant_id = g.tenant_id
      where g.all_old and d.tenant_id = e.tenant_id and d.endpoint_id = e.endpoint_id and d.sequence = g.sequence
    ), moved as (
      update event_counters c set forgotten_sequence = g.sequence, forgotten_at = g.created_at
      from (
        select tenant_id, max(sequence) as sequence, max(created_at) as created_at from gone group by tenant_id) g
      where c.tenant_id = g.tenant_id
    )
    select count(*) from gone
  $$;

-- Whether no feed, no delivery and not the relay needs a partition of events any more. Its newest row is looked for under
-- a lock, so that none is written behind this check; the processes' clocks, from which ids come, may differ from the
-- database's.
create function events_are_forgotten(partition text, until timestamptz, lower_id text, upper_id text) returns boolean
  language plpgsql
  as $$
  declare
    newest timestamptz := until;
  begin
    for attempt in 1..2 loop
      if exists (select from event_counters c cross join lateral (
          select from event_numbers n where n.tenant_id = c.tenant_id and n.created_at <= newest limit 1) kept) then
        return false;
      end if;
      if attempt = 1 then
        execute format('lock table %I in share mode', partition);
        execute format('select greatest(max(created_at), $1) from %I', partition) into newest using until;
      end if;
    end loop;
    return not exists (select from unnumbered_events u where u.event_id >= lower_id and u.event_id < upper_id)
      and not exists (select from webhook_deliveries d where d.event_id >= lower_id and d.event_id < upper_id);
  end $$;

-- Deletes forgotten events of the default partition, which is never dropped.
create function forget_default_events(now timestamptz) returns bigint
  language sql volatile
  as $$
    with gone as (
      delete from outbox_default where (tenant_id, event_id) in (
        select o.tenant_id, o.event_id from outbox_default o
        where o.created_at < now - (select keep from retention where what = 'events')
          and not exists (select from unnumbered_events u where u.tenant_id = o.tenant_id and u.event_id = o.event_id)
          and not exists (select from event_numbers n where n.tenant_id = o.tenant_id and n.created_at = o.created_at
            and n.event_id = o.event_id)
        limit 5000)
      returning 1)
    select count(*) from gone
  $$;

insert into partitioned_tables (name, id_column, id_prefix, days, ahead, retention)
  values ('outbox', 'event_id', 'evt_', 7, 4, 'events');
select add_partition('outbox', partition_day(now(), 7) + i * 7) from generate_series(0, 4) i;

-- How far each feed has come, for the streams that wait for more.
create function directory_event_counters(tenants text[]) returns table (tenant_id text, last_sequence bigint)
  language sql stable security definer set search_path = svc, pg_temp
  as $$ select c.tenant_id, c.last_sequence from event_counters c where c.tenant_id = any (tenants) $$;

revoke execute on all functions in schema svc from public;
grant execute on function number_events, lease_webhook_endpoints, forget_webhook_attempts, forget_events,
  directory_event_counters to svc_service;
