-- A Merkle tree for each tenant's feed (RFC 6962), by which the tenant verifies that no event was changed, removed or
-- moved (decision E7). Leaf n is the event with number n; hashes are only added, and stay when events are forgotten.

-- How many events the tree has. Those who are behind are found without the others.
alter table event_counters add column proven_sequence bigint not null default 0;

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

-- The balances of a tenant's accounts, by kind, beside what the entries add up to: a change of one alone shows. Sums of entries older than an hour are kept; where they differ from the balances, all entries are read again.
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

revoke execute on all functions in schema svc from public;
grant execute on function unproven_events, extend_feed_trees, feed_balances to svc_service;
