-- Events and webhooks, what is erased and forgotten, and what only operators see: figures, the request log, alerts.

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
-- object it is the order of commit. The relay serves all tenants in that order, for which there is an index beside the key
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
alter table unnumbered_events add primary key (tenant_id, position);
create index unnumbered_events_in_order on unnumbered_events (position);
select secure_tenants('unnumbered_events', 'tenant_id');
grant insert on unnumbered_events to svc_service;
grant select, insert on unnumbered_events to svc_operator;

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

-- How far the feed of each tenant has come.
create table event_counters (
  tenant_id     text collate "C" primary key references tenants,
  last_sequence bigint not null,
  -- How far the feed has been deleted: number and instant of its last event that is no longer stored (decision E6).
  forgotten_sequence bigint not null default 0,
  forgotten_at  timestamptz,
  -- How many events its tree has. Those who are behind are found without the others.
  proven_sequence bigint not null default 0
);
create index event_counters_unproven on event_counters (tenant_id) where proven_sequence < last_sequence;
select secure_tenants('event_counters', 'tenant_id');
grant select on event_counters to svc_service, svc_operator;

-- A Merkle tree for each tenant's feed (RFC 6962), by which the tenant verifies that no event was changed, removed or moved
-- (decision E7). Leaf n is the event with number n; hashes are only added, and stay when events are forgotten.
--
-- 32 hashes a row: of leaves on level 0, above it of the complete tiles of the level below.
create table feed_tiles (
  tenant_id text collate "C" not null,
  level     smallint not null check (level >= 0),
  tile      bigint not null check (tile >= 0),
  hashes    bytea not null check (length(hashes) between 32 and 1024 and length(hashes) % 32 = 0)
);
alter table feed_tiles add primary key (tenant_id, level, tile);
select secure_tenants('feed_tiles', 'tenant_id');
grant select on feed_tiles to svc_service, svc_operator;

-- What an event says of a person is in its leaf as a digest with a salt. Erasure removes the salt with the data, and the
-- digest, which then reveals nothing, keeps the proof whole.
create table feed_commitments (
  tenant_id text collate "C" not null,
  sequence  bigint not null,
  event_id  text collate "C" not null,
  fields    text[] not null,
  salt      bytea check (length(salt) = 16),
  digest    bytea not null check (length(digest) = 32)
);
alter table feed_commitments add primary key (tenant_id, sequence);
create index feed_commitments_by_event on feed_commitments (tenant_id, event_id);
select secure_tenants('feed_commitments', 'tenant_id');
grant select on feed_commitments to svc_service, svc_operator;

-- Sums of the ledger's entries of a tenant up to a journal, so that a head reads only those since.
create table feed_bookings (
  tenant_id text collate "C" not null,
  until_id  text collate "C" not null default '',
  -- kind and unit to the sum of entries and their count
  booked    jsonb not null default '{}'
);
alter table feed_bookings add primary key (tenant_id);
select secure_tenants('feed_bookings', 'tenant_id');
grant select on feed_bookings to svc_service, svc_operator;

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
-- Of endpoints that said 410 there are few: the alert reads no others.
create index webhook_endpoints_gone on webhook_endpoints (endpoint_id) where disabled_reason = 'gone';
create index webhook_endpoints_by_url on webhook_endpoints ((left(lower(url), 255) collate "C"));
alter table webhook_endpoints add primary key (tenant_id, endpoint_id);
create constraint trigger audited after insert or update or delete on webhook_endpoints deferrable initially deferred
  for each row execute function audit_change('webhook_endpoint', 'endpoint_id', 'tenant_id',
    'types,enabled,disabled_reason,modified_at');
create constraint trigger place_audited after update of url, headers_encrypted on webhook_endpoints deferrable initially deferred
  for each row when ((new.url, new.headers_encrypted) is distinct from (old.url, old.headers_encrypted))
  execute function audit_secret('webhook_endpoint.changed', 'endpoint_id', 'tenant_id', 'webhook_endpoint.changed');
select secure_tenants('webhook_endpoints', 'tenant_id');
grant select, insert, update (url, description, types, enabled, disabled_reason, header_names, headers_encrypted,
  modified_at), delete on webhook_endpoints to svc_service;
grant select, insert, update, delete on webhook_endpoints to svc_operator;

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
grant select, insert, update (expires_at), delete on webhook_secrets to svc_service;
grant select, insert, update, delete on webhook_secrets to svc_operator;

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
grant select, insert, update (first, attempts, started_at, due_at, turn), delete on webhook_deliveries to svc_service;
grant select, insert, update, delete on webhook_deliveries to svc_operator;

-- Each attempt to deliver an event.
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
-- endpoints with work that no process serves, but none of a tenant that is away or held. Returns all of the holder's, with
-- the time of their last change.
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
    -- From the queue, not from the endpoints: those with nothing to deliver, nearly all, cost nothing. Each step of the
    -- recursion finds the next endpoint that the queue names by one look into its key.
    with recursive queued as (
      (select d.tenant_id, d.endpoint_id from webhook_deliveries d order by d.tenant_id, d.endpoint_id limit 1)
      union all
      select n.tenant_id, n.endpoint_id from queued q cross join lateral (
        select d.tenant_id, d.endpoint_id from webhook_deliveries d
        where (d.tenant_id, d.endpoint_id) > (q.tenant_id, q.endpoint_id)
        order by d.tenant_id, d.endpoint_id limit 1) n
    )
    insert into webhook_leases as l (tenant_id, endpoint_id, holder, until)
      select e.tenant_id, e.endpoint_id, as_holder, clock_timestamp() + lease
      from queued q cross join lateral (
        select w.* from webhook_endpoints w
        where w.tenant_id = q.tenant_id and w.endpoint_id = q.endpoint_id offset 0) e
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

-- How far events and webhooks are behind, of all tenants: for the metrics.
create function directory_event_backlog()
  returns table (unnumbered_seconds double precision, due integer, due_seconds double precision)
  language sql stable security definer set search_path = svc, pg_temp
  as $$
    select coalesce((select extract(epoch from clock_timestamp() - min(u.created_at)) from unnumbered_events u), 0),
      count(d.due_at)::integer, coalesce(extract(epoch from clock_timestamp() - min(d.due_at)), 0)
    from webhook_deliveries d join webhook_endpoints e using (tenant_id, endpoint_id)
    where d.due_at <= clock_timestamp() and e.enabled
  $$;

create function forget_webhook_attempts(before timestamptz) returns bigint
  language sql volatile security definer set search_path = svc, pg_temp
  as $$
    with gone as (
      delete from webhook_attempts where ctid = any (array(
        select ctid from webhook_attempts
        where started_at < least(before, (select retained_since('webhook_attempts')))
        limit 5000 for update skip locked))
      returning 1)
    select count(*) from gone
  $$;

-- Deletes the oldest events of each feed, so that a feed loses its beginning and never gets a gap. The events themselves
-- go with their partition. With an event goes what its leaf hides; the leaf's hash stays.
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
        and not exists (select from tenant_moves m where m.tenant_id = c.tenant_id and m.state <> 'copying')
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
    ), hidden as (
      delete from feed_commitments f using gone g where f.tenant_id = g.tenant_id and f.sequence = g.sequence
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

-- The events that come next in the trees of some tenants, beginning after a tenant, for one process at a time: a second
-- caller gets none, and an erasure waits. An event that does not exist any more has a number and nothing else.
create function unproven_events(after_tenant text, most integer)
  returns table (tenant_id text, size bigint, sequence bigint, event_id text, type text, created_at timestamptz,
    payload jsonb)
  language plpgsql volatile security definer set search_path = svc, pg_temp
  as $$
  #variable_conflict use_column
  begin
    if not pg_try_advisory_xact_lock(hashtext('svc feed trees')) then
      return;
    end if;
    -- Each event by its keys: of large feeds no plan may read more.
    return query
      select d.tenant_id, d.proven_sequence, d.sequence, o.event_id, o.type, o.created_at, o.payload
      from (
        select b.tenant_id, b.proven_sequence, s.sequence
        from (
          select w.*, coalesce(sum(w.waiting) over (
            order by w.later, w.tenant_id rows between unbounded preceding and 1 preceding), 0)::bigint as before
          from (
            select c.tenant_id, c.proven_sequence, c.last_sequence - c.proven_sequence as waiting,
              c.tenant_id <= after_tenant as later
            from event_counters c where c.proven_sequence < c.last_sequence
              -- What is on its way to another cell is written by its mover alone.
              and not exists (select from tenant_moves m where m.tenant_id = c.tenant_id and m.state <> 'copying')
            order by c.tenant_id <= after_tenant, c.tenant_id limit 50) w) b
        cross join lateral generate_series(
          b.proven_sequence + 1, b.proven_sequence + least(b.waiting, most - b.before)) as s (sequence)
        where b.before < most
        order by b.later, b.tenant_id, s.sequence offset 0) d
      left join lateral (
        select n.event_id from event_numbers n
        where n.tenant_id = d.tenant_id and n.sequence = d.sequence offset 0) n on true
      left join lateral (
        select o.event_id, o.type, o.created_at, o.payload from outbox o
        where o.tenant_id = d.tenant_id and o.event_id = n.event_id offset 0) o on true;
  end $$;

-- Adds hashes to the ends of tiles, moves the sizes of the trees, and stores what hides personal data. It changes no
-- hash: a tile that does not end where it should fails.
create function extend_feed_trees(
  tenants text[], from_sizes bigint[], to_sizes bigint[],
  tile_tenants text[], levels smallint[], tiles bigint[], offsets integer[], added bytea[],
  of_tenants text[], sequences bigint[], event_ids text[], fields text[], salts bytea[], digests bytea[]) returns void
  language plpgsql volatile security definer set search_path = svc, pg_temp
  as $$
  declare
    wrote bigint;
  begin
    -- In the order in which the relay locks them.
    perform from event_counters c where c.tenant_id = any (tenants) order by c.tenant_id for no key update;
    with grown as (
      insert into feed_tiles as t (tenant_id, level, tile, hashes)
        select n.tenant_id, n.level, n.tile, n.added
        from unnest(tile_tenants, levels, tiles, offsets, added) as n (tenant_id, level, tile, start, added)
        where n.start = 0
      returning 1
    ), extended as (
      update feed_tiles t set hashes = t.hashes || n.added
        from unnest(tile_tenants, levels, tiles, offsets, added) as n (tenant_id, level, tile, start, added)
        where n.start > 0 and t.tenant_id = n.tenant_id and t.level = n.level and t.tile = n.tile
          and length(t.hashes) = 32 * n.start
      returning 1
    )
    select (select count(*) from grown) + (select count(*) from extended) into wrote;
    perform require_count(wrote, cardinality(tiles), 'tiles of feeds are not as they were read');
    insert into feed_commitments (tenant_id, sequence, event_id, fields, salt, digest)
      select c.tenant_id, c.sequence, c.event_id, string_to_array(c.fields, ','), c.salt, c.digest
      from unnest(of_tenants, sequences, event_ids, fields, salts, digests)
        as c (tenant_id, sequence, event_id, fields, salt, digest);
    update event_counters c set proven_sequence = n.to_size
      from unnest(tenants, from_sizes, to_sizes) as n (tenant_id, from_size, to_size)
      where c.tenant_id = n.tenant_id and c.proven_sequence = n.from_size;
    get diagnostics wrote = row_count;
    perform require_count(wrote, cardinality(tenants), 'trees of feeds are not as they were read');
  end $$;

-- What the entries of a tenant's journals in a range add up to, by kind and unit.
create function entries_between(tenant text, from_id text, until_id text)
  returns table (account text, booked bigint, entries bigint)
  language sql stable
  as $$
    select split_part(s.account_id, ':', 1) || ' ' || t.unit, sum(s.amount)::bigint, count(*)
    from ledger_transfers t
      cross join lateral (values (t.debit_account_id, - t.amount), (t.credit_account_id, t.amount)) as s (account_id, amount)
    where t.tenant_id = tenant and t.journal_id >= from_id and (until_id is null or t.journal_id < until_id)
    group by 1
  $$;

-- The balances of a tenant's accounts, by kind, beside what the entries add up to: a change of one alone shows. Sums
-- of entries older than an hour are kept; where they differ from the balances, all entries are read again.
create function feed_balances(tenant text, kinds text[])
  returns table (kind text, unit text, balance bigint, booked bigint, entries bigint)
  language plpgsql volatile security definer set search_path = svc, pg_temp
  as $$
  #variable_conflict use_column
  declare
    known feed_bookings;
    settled text := id_floor('jrn_', clock_timestamp() - interval '1 hour');
  begin
    if array_position(current_tenants(), tenant) is null then
      raise exception 'the balances of another tenant' using errcode = 'insufficient_privilege';
    end if;
    insert into feed_bookings (tenant_id) values (tenant) on conflict do nothing;
    for attempt in 1..2 loop
      select * into strict known from feed_bookings b where b.tenant_id = tenant for update;
      if known.until_id < settled then
        update feed_bookings b set until_id = settled, booked = (
            select coalesce(jsonb_object_agg(m.account, jsonb_build_array(m.booked, m.entries)), '{}')
            from (
              select a.account, sum(a.booked) as booked, sum(a.entries) as entries
              from (
                select k.key as account, (k.value ->> 0)::bigint as booked, (k.value ->> 1)::bigint as entries
                from jsonb_each(known.booked) k
                union all
                select * from entries_between(tenant, known.until_id, settled)) a
              group by a.account) m)
          where b.tenant_id = tenant
          returning b.* into known;
      end if;
      return query
        with summed as (
          select a.account, sum(a.booked)::bigint as booked, sum(a.entries)::bigint as entries
          from (
            select k.key as account, (k.value ->> 0)::bigint as booked, (k.value ->> 1)::bigint as entries
            from jsonb_each(known.booked) k
            union all
            select * from entries_between(tenant, known.until_id, null)) a
          group by a.account),
        stored as (
          select l.kind, l.unit, sum(l.balance)::bigint as balance from ledger_accounts l
          where l.tenant_id = tenant and l.kind = any (kinds) group by l.kind, l.unit)
        select s.kind, s.unit, s.balance, coalesce(b.booked, 0), coalesce(b.entries, 0)
        from stored s left join summed b on b.account = s.kind || ' ' || s.unit
        where attempt = 2 or not exists (
          select from stored o left join summed e on e.account = o.kind || ' ' || o.unit
          where o.balance <> coalesce(e.booked, 0))
        order by s.kind, s.unit;
      exit when found or not exists (
        select from ledger_accounts l where l.tenant_id = tenant and l.kind = any (kinds));
      update feed_bookings b set until_id = '', booked = '{}' where b.tenant_id = tenant;
    end loop;
  end $$;

-- Erases the holder of the cards of users who are erased (decision C23): on the cards, in the reasons of their history, and
-- in their events, which lie between the given ids. What is erased does not come from the caller. What the events said of a
-- person loses the salt of its digest in the feed's tree (decision E7), which then reveals nothing. The service's role may
-- change neither history nor events otherwise.
create function erase_holders(
  partner text, card_ids text[], events_from text[], events_until text[], fields text[]) returns void
  language plpgsql volatile security definer set search_path = svc, pg_temp
  as $$
  declare
    personal constant text[] := array['email', 'mobile', 'title', 'firstName', 'lastName', 'gender', 'specialDate',
      'address', 'address2', 'city', 'state', 'country', 'pincode', 'deliveryAddress', 'deliveryAddress2',
      'deliveryCity', 'deliveryState', 'deliveryCountry', 'deliveryPincode', 'pan', 'remarks'];
  begin
    if array_position(current_tenants(), partner) is null or exists (
      select from unnest(card_ids) as w (svc_card_id)
      where not exists (
        select from cards c join users u on u.partner_id = c.partner_id and u.user_id = c.user_id
        where c.partner_id = partner and c.svc_card_id = w.svc_card_id and u.erased_at is not null)
    ) then
      raise exception 'only the cards of erased users lose their holder' using errcode = 'insufficient_privilege';
    end if;
    -- The digest of an order is one of personal data; what is put in its place equals no order.
    update cards set holder = '{}', remarks = '',
        order_digest = case when order_digest is not null then sha256(convert_to(svc_card_id, 'UTF8')) end
      where partner_id = partner and svc_card_id = any (card_ids);
    update card_changes set reason = '' where partner_id = partner and svc_card_id = any (card_ids) and reason <> '';
    -- Behind this lock no tree takes up an event as it was.
    perform pg_advisory_xact_lock(hashtext('svc feed trees'));
    with erased as (
      update outbox o set payload = o.payload || (
          select jsonb_object_agg(f, '') from unnest(personal) as f where o.payload ? f)
        from unnest(card_ids, events_from, events_until) as w (svc_card_id, since, until)
        where o.tenant_id = partner and o.event_id >= w.since and o.event_id < w.until and o.object_id = w.svc_card_id
          and o.type in ('card.created', 'card.status_changed') and o.payload ?| personal
      returning o.tenant_id, o.event_id)
    update feed_commitments f set salt = null from erased e
      where f.tenant_id = e.tenant_id and f.event_id = e.event_id;
  end $$;

-- Erases what was written about erased users where their allocations were voided: the reasons, also in events. The
-- service's role may change neither voids nor events otherwise. In events of these voids alone: the id of a void does not
-- decide which event loses its reason.
create function erase_coin_reasons(partner text, user_ids text[]) returns void
  language plpgsql volatile security definer set search_path = svc, pg_temp
  as $$
  begin
    if array_position(current_tenants(), partner) is null or exists (
      select from unnest(user_ids) as w (user_id)
      where not exists (
        select from users u where u.partner_id = partner and u.user_id = w.user_id and u.erased_at is not null)
    ) then
      raise exception 'only the voids of erased users lose their reason' using errcode = 'insufficient_privilege';
    end if;
    -- Behind this lock no tree takes up an event as it was.
    perform pg_advisory_xact_lock(hashtext('svc feed trees'));
    with erased as (
      update outbox o set payload = o.payload || '{"reason": ""}'
        from coin_voids v
        where v.partner_id = partner and v.user_id = any (user_ids)
          and o.tenant_id = partner and o.event_id = 'evt_' || substr(v.void_id, 5)
          and o.type = 'coins.voided' and o.object_id = v.user_id and o.payload ? 'reason'
      returning o.tenant_id, o.event_id)
    update feed_commitments f set salt = null from erased e
      where f.tenant_id = e.tenant_id and f.event_id = e.event_id;
    -- The digest of a request with a reason is one of personal data; what is put in its place equals no request.
    update coin_voids set reason = '', request_hash = sha256(void_id::bytea)
      where partner_id = partner and user_id = any (user_ids);
  end $$;

-- What happened in each minute, summed over all processes. No tenant and no id: figures for the overview.
create table minute_sums (
  minute timestamptz not null,
  -- `request`, `failure <error code>`, `event <type>`
  what   text collate "C" not null,
  count  bigint not null,
  -- in paise, of events that carry money
  amount bigint not null default 0,
  primary key (minute, what)
);
grant select, insert, update (count) on minute_sums to svc_service;
grant select on minute_sums to svc_operator;

-- The request log (decision O4): written in the background, kept for days, never needed by a request. Ids of requests
-- sort by time. `tenant_id` is `house` where the request was not authenticated.
create table request_log (
  request_id  text collate "C" not null,
  tenant_id   text collate "C" not null,
  at          timestamptz not null,
  operation   text collate "C" not null,
  kind        text not null check (kind in ('command', 'read')),
  method      text not null,
  path        text not null,
  status      smallint not null,
  duration_ms real not null,
  error       text collate "C",
  description text,
  address     text not null,
  body_bytes  integer not null,
  -- by the schema of the operation, personal data masked; no secret, no ciphertext
  body        jsonb,
  -- of an encrypted body: kid, alg, enc, and which check failed
  jwe         jsonb,
  -- ids that it named or created
  objects     text[] not null,
  -- of its trace, while traces are exported
  trace_id    text check (trace_id ~ '^[0-9a-f]{32}$')
) partition by range (request_id);
create index request_log_by_id on request_log (request_id);
create index request_log_of_operation on request_log (operation, request_id);
create index request_log_of_object on request_log using gin (objects);
create index request_log_failures on request_log (request_id) where error is not null;
create index request_log_by_error on request_log (error, request_id) where error is not null;
create index request_log_failures_of_tenant on request_log (tenant_id, request_id) where error is not null;
create index request_log_failures_of_operation on request_log (operation, error, request_id) where error is not null;
alter table request_log add primary key (tenant_id, request_id);
create table request_log_default partition of request_log default;
alter table request_log_default enable row level security;
select secure_tenants('request_log', 'tenant_id');
grant select, insert on request_log to svc_service;
grant select on request_log to svc_operator;

-- An operation has few of all errors: taken for independent, they look like thousands of rows.
create statistics request_log_operation_error (mcv) on operation, error from request_log;

insert into partitioned_tables (name, id_column, id_prefix, days, ahead, retention)
  values ('request_log', 'request_id', 'req_', 1, 7, 'request_log');

select add_partition('request_log', partition_day(now(), 1) + i) from generate_series(0, 7) i;

-- Until when the row limit of the request log deleted entries that were younger than the retention (decision O4).
create table request_log_cut (
  one boolean primary key default true check (one),
  at  timestamptz not null
);
grant select on request_log_cut to svc_service, svc_operator;

-- Old entries go with their partition (decision X26), here only those without one. Rows beyond the stored limit are
-- counted here again, so more of them are deleted in one call; entries that only the row limit deletes are noted.
create function forget_requests(before_id text, excess bigint) returns bigint
  language sql volatile security definer set search_path = svc, pg_temp
  as $$
    with beyond as materialized (
      select case when excess > 0 then least(excess, coalesce((select count(*) from request_log) - r.rows, 0)) else 0 end
        as rows
      from retention r where r.what = 'request_log'
    ), ranked as (
      select r.tenant_id, r.request_id, row_number() over (order by r.request_id) as n,
        r.tableoid = 'request_log_default'::regclass and r.request_id < before_id
          and r.at < (select retained_since('request_log')) as is_old
      from (
        (select tableoid, tenant_id, request_id, at from request_log where excess > 0 order by request_id limit 20000)
        union
        (select tableoid, tenant_id, request_id, at from request_log_default order by request_id limit 5000)) r
    ), gone as (
      delete from request_log l using ranked r
      where l.tenant_id = r.tenant_id and l.request_id = r.request_id and (r.is_old or r.n <= (select rows from beyond))
      returning l.at, r.is_old
    ), noted as (
      insert into request_log_cut (at)
        select max(g.at) from gone g where not g.is_old having count(*) > 0
      on conflict (one) do update set at = greatest(request_log_cut.at, excluded.at)
    )
    select count(*) from gone
  $$;

create function forget_minutes(before timestamptz) returns bigint
  language sql volatile security definer set search_path = svc, pg_temp
  as $$
    with gone as (
      delete from minute_sums where minute < least(before, (select retained_since('minute_sums'))) returning 1)
    select count(*) from gone
  $$;

create function count_requests() returns bigint
  language sql stable security definer set search_path = svc, pg_temp
  as $$ select count(*) from request_log $$;

-- Long checks that the console starts in the background: the books, the audit chain.
create table console_checks (
  check_id    bigint generated always as identity,
  kind        text not null check (kind in ('ledger', 'audit')),
  started_at  timestamptz not null,
  started_by  text not null,
  finished_at timestamptz,
  result      jsonb,
  -- why it was aborted
  problem     text
);
create index console_checks_latest on console_checks (kind, check_id);
alter table console_checks add primary key (check_id);
grant select, insert, update, delete on console_checks to svc_operator;

-- Conditions of the service that people must act on (decision O9). Only `svc_operator` sees them: they are of the
-- installation, also where their object is a tenant's.
create table alerts (
  alert_id     text collate "C" not null primary key,
  kind         text collate "C" not null check (kind ~ '^[a-z_]{1,40}$'),
  -- what the condition is of, such as a webhook endpoint; empty where it is of the whole service
  object_id    text collate "C" not null check (length(object_id) <= 128),
  -- the record whose page shows it
  page_id      text collate "C" check (length(page_id) between 1 and 128),
  severity     text not null check (severity in ('warning', 'critical')),
  -- how bad it is, in a unit of its kind
  value        bigint not null check (value >= 0),
  detail       text not null check (length(detail) between 1 and 1000),
  opened_at    timestamptz not null,
  changed_at   timestamptz not null,
  acknowledged_at       timestamptz,
  acknowledged_by       text,
  note                  text check (length(note) between 1 and 500),
  acknowledged_severity text check (acknowledged_severity in ('warning', 'critical')),
  acknowledged_value    bigint,
  closed_at    timestamptz check (closed_at >= opened_at),
  constraint acknowledged_by_a_person check (
    num_nulls(acknowledged_at, acknowledged_by, note, acknowledged_severity, acknowledged_value) in (0, 5))
);
-- A condition has one alert while it lasts, whichever process sees it first.
create unique index alerts_open on alerts (kind, object_id) where closed_at is null;
create index alerts_newest on alerts (opened_at, alert_id);
create index alerts_closed on alerts (closed_at) where closed_at is not null;
grant select, insert, update, delete on alerts to svc_operator;

-- What is sent to ALERT_WEBHOOK_URL. `due_at` is null once it was accepted or given up.
create table alert_messages (
  message_id text collate "C" not null primary key,
  alert_id   text collate "C" not null references alerts on delete cascade,
  body       text not null check (length(body) <= 16384),
  created_at timestamptz not null,
  attempts   integer not null default 0,
  due_at     timestamptz,
  sent_at    timestamptz,
  -- of the last attempt, in words
  failure    text,
  constraint sent_is_not_due check (sent_at is null or due_at is null)
);
create index alert_messages_due on alert_messages (due_at, message_id) where due_at is not null;
create index alert_messages_of on alert_messages (alert_id, message_id);
grant select, insert, update, delete on alert_messages to svc_operator;

-- The process that watches; the lease of one that dies runs out.
create table alert_watch (
  only_row boolean not null default true primary key check (only_row),
  holder   text collate "C" not null,
  until    timestamptz not null,
  -- The bank has settled every payment up to this one, by their ids: what watches goes on from there.
  settled_to text collate "C" not null default ''
);
grant select, insert, update on alert_watch to svc_operator;

revoke execute on all functions in schema svc from public;
grant execute on function number_events, directory_event_backlog, lease_webhook_endpoints, forget_webhook_attempts, forget_events,
  directory_event_counters, unproven_events, extend_feed_trees, feed_balances, erase_holders, erase_coin_reasons,
  forget_requests, forget_minutes, count_requests to svc_service;
