-- The ground on which the other files stand: logins, the installation, retention and partitions.
--
-- Conventions of all files: ids are text with a prefix, compared bytewise, so that they sort by time of creation
-- whatever the cluster's locale. Tables of tenants are under row-level security; the tenant is first in their primary
-- keys and in the foreign keys between them (decision X21). An index `…_by_id` serves operators, who look an id up
-- without knowing its tenant. The order of statements matters: of indexes that look equally cheap, as on a table that
-- was small when its statistics were taken, PostgreSQL uses the one created last. So lists come first, then the primary
-- key, then indexes that only their own lookups can use (decision X8). What `svc_service` may update of a row that is there
-- are the columns that the program updates, and no others: whose a card is, or what a payment was, is history.
--
-- The files up to 0012 are the schema of the first release, by area: each has its tables with their indexes, policies,
-- rights, triggers and functions. A function may name tables of later files, since its body is read when it runs; an SQL
-- function may not, and stands with the last table that it reads.

-- The migrator's own tables, which exist before this file: the service checks whether the schema is current.
grant select on all tables in schema svc to svc_service, svc_operator;

-- The tenants of the current transaction, set with: set_config('svc.tenants', 'id,id', true). A batch may serve
-- several. Unset means none.
create function current_tenants() returns text[]
  language sql stable parallel safe
  as $$ select string_to_array(current_setting('svc.tenants', true), ',') $$;

-- Fails the transaction unless a statement wrote as many rows as expected.
create function require_count(wrote bigint, wanted integer, message text) returns void
  language plpgsql immutable
  as $$
  begin
    if wrote <> wanted then
      raise exception '%', message using errcode = 'assert_failure';
    end if;
  end $$;

-- What a login may do is decided by `session_user`, who logged in, and not by the role that the session took: roles of one
-- login add up, and one session may take each of them in turn (decision R19). Three kinds of logins are told apart: the
-- rails', with the role `svc_rail`, in processes that check signatures of the bank and the card network; the operators',
-- with `svc_operator`; and the service's.
-- Only a login of operators acts for one, in whatever role: the service's own login names no operator.
create function acts_for_operators() returns boolean
  language sql stable
  as $$ select pg_has_role(session_user, 'svc_operator', 'member') $$;

create function is_rail() returns boolean
  language sql stable parallel safe
  as $$ select pg_has_role(session_user, 'svc_rail', 'member') $$;

-- Identifies the data in the database. A restore replaces the data and with it this name; processes that notice it
-- drop what they have cached and start again.
create table installation (
  only_row boolean primary key default true check (only_row),
  epoch    text not null default gen_random_uuid()::text,
  -- Of an installation of several cells (decision X40): which of them this database is. What a cell issues names it, so
  -- that a router and the other cells know whose it is. An installation of one database names none.
  cell     text collate "C",
  -- the digits with which its new card numbers begin, in the place of CARD_BIN
  card_range text,
  constraint cell_is_a_letter check (cell ~ '^[a-z]$'),
  constraint cell_has_a_card_range check ((cell is null) = (card_range is null)),
  constraint card_range_is_digits check (card_range ~ '^[0-9]{6,10}$')
);
grant select on installation to svc_service, svc_operator;
insert into installation default values;

-- One row for each committed batch of commands: after a connection lost around COMMIT it shows the outcome.
create table batches (
  batch_id   text collate "C" not null,
  created_at timestamptz not null default now()
);
alter table batches add primary key (batch_id);
create index batches_by_age on batches (created_at);
grant select, insert on batches to svc_service;
grant select on batches to svc_operator;

-- How long rows are kept that only age makes useless. The service deletes nothing younger, whatever it asks for: with
-- its login alone nobody erases feeds or idempotency keys. Operators' processes store the settings here.
create table retention (
  what text primary key,
  keep interval not null check (keep > interval '0'),
  -- most rows, for the request log
  rows bigint check (rows > 0)
);
grant select on retention to svc_service;
grant select, update (keep, rows) on retention to svc_operator;
insert into retention (what, keep, rows) values
  ('idempotency_keys', '48 hours', null), ('batches', '1 hour', null), ('events', '400 days', null),
  ('webhook_attempts', '30 days', null), ('request_log', '7 days', 2000000), ('minute_sums', '15 days', null);

-- The instant before which rows may be deleted, by the database's clock.
create function retained_since(kind text) returns timestamptz
  language sql stable security definer set search_path = svc, pg_temp
  as $$
    select coalesce((select clock_timestamp() - r.keep from retention r where r.what = kind), '-infinity')
  $$;

-- Commands of operators run as the service, on the operators’ login: no other login enters what they decide.
create function require_operator() returns trigger
  language plpgsql security definer set search_path = svc, pg_temp
  as $$
  begin
    if not acts_for_operators() then
      raise exception 'the login of operators alone enters this'
        using errcode = 'integrity_constraint_violation', constraint = tg_name, table = tg_table_name;
    end if;
    return null;
  end $$;

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

-- Partitions (decision X26): the tables that grow fastest and are only added to are range-partitioned by their id, which
-- begins with its time of creation. Partitions are `<table>_<first day>`, named by the UTC day on which they begin;
-- `<table>_default` has rows for which there is none. No login has rights on a partition itself.
create table partitioned_tables (
  name      text primary key,
  id_column text not null,
  id_prefix text not null,
  -- the length of a partition
  days      integer not null check (days > 0),
  -- how many partitions exist after that of today
  ahead     integer not null check (ahead > 0),
  -- the row of `retention` that says how long rows are kept
  retention text not null
);

-- No id that was created before this instant sorts after it, and every later one does.
create function id_floor(id_prefix text, at timestamptz) returns text
  language sql immutable
  as $$
    select id_prefix || string_agg(
        substr('0123456789abcdefghjkmnpqrstvwxyz', ((t.ms >> (5 * i)) & 31)::integer + 1, 1), '' order by i desc)
    from (select greatest(0, floor(extract(epoch from at) * 1000))::bigint as ms) t, generate_series(0, 9) i
  $$;

-- The first day of the partition of this instant.
create function partition_day(at timestamptz, days integer) returns date
  language sql immutable
  as $$ select date '1970-01-01' + (floor(extract(epoch from at) / 86400 / days) * days)::integer $$;

create function partition_name(of_table text, first_day date) returns text
  language sql immutable
  as $$ select of_table || '_' || to_char(first_day::timestamp, 'YYYYMMDD') $$;

-- The partitions of a table, oldest first, without the default one.
create function partitions_of(of_table text)
  returns table (partition text, first_day date, until timestamptz, lower_id text, upper_id text)
  language sql stable
  as $$
    select c.relname::text, d.first_day, d.until, id_floor(p.id_prefix, d.since), id_floor(p.id_prefix, d.until)
    from partitioned_tables p
      join pg_inherits i on i.inhparent = p.name::regclass
      join pg_class c on c.oid = i.inhrelid and c.relname <> p.name || '_default'
      cross join lateral (select to_date(right(c.relname, 8), 'YYYYMMDD') as day) n
      cross join lateral (select n.day as first_day, n.day::timestamp at time zone 'UTC' as since,
        (n.day + p.days)::timestamp at time zone 'UTC' as until) d
    where p.name = of_table order by d.first_day
  $$;

-- Creates a partition, with the rows of its range that are in the default one. `attach` rather than `create table …
-- partition of`: writers of other partitions do not wait for it.
create function add_partition(of_table text, first_day date) returns text
  language plpgsql
  as $$
  declare
    p partitioned_tables;
    part text := partition_name(of_table, first_day);
    lower_id text;
    upper_id text;
  begin
    select * into strict p from partitioned_tables t where t.name = of_table;
    lower_id := id_floor(p.id_prefix, first_day::timestamp at time zone 'UTC');
    upper_id := id_floor(p.id_prefix, (first_day + p.days)::timestamp at time zone 'UTC');
    execute format('create table %I (like %I including all)', part, of_table);
    execute format('alter table %I enable row level security', part);
    execute format('lock table %I in share row exclusive mode', of_table || '_default');
    execute format(
      'with moved as (delete from %1$I where %2$I >= %3$L and %2$I < %4$L returning *) insert into %5$I select * from moved',
      of_table || '_default', p.id_column, lower_id, upper_id, part);
    execute format('alter table %I attach partition %I for values from (%L) to (%L)', of_table, part, lower_id, upper_id);
    return part;
  end $$;

-- Drops the oldest partition if all of it is older than the retention. A younger one is never dropped before it.
create function drop_oldest_partition(of_table text, now timestamptz) returns text
  language plpgsql
  as $$
  declare
    oldest record;
  begin
    select o.* into oldest from partitions_of(of_table) o limit 1;
    if oldest.until is null or oldest.until > now - (
        select r.keep from partitioned_tables t join retention r on r.what = t.retention where t.name = of_table) then
      return null;
    end if;
    if of_table = 'outbox'
        and not events_are_forgotten(oldest.partition, oldest.until, oldest.lower_id, oldest.upper_id) then
      return null;
    end if;
    execute format('alter table %I detach partition %I', of_table, oldest.partition);
    execute format('drop table %I', oldest.partition);
    return oldest.partition;
  end $$;

-- One step at a time, one process at a time: creates the partitions of today and of the days ahead, then drops those
-- that are too old. Returns what was done: null if nothing is left to do, `locked` if others held a lock for too long.
create function maintain_partitions_at(now timestamptz) returns text
  language plpgsql
  as $$
  declare
    p partitioned_tables;
    day date;
    done text;
  begin
    if not pg_try_advisory_xact_lock(hashtext('svc partitions')) then
      return null;
    end if;
    perform set_config('lock_timeout', '100ms', true);
    for p in select * from partitioned_tables t order by t.name loop
      for i in 0..p.ahead loop
        day := partition_day(now, p.days) + i * p.days;
        if to_regclass(partition_name(p.name, day)) is null then
          return 'created ' || add_partition(p.name, day);
        end if;
      end loop;
      done := drop_oldest_partition(p.name, now);
      if done is not null then
        return 'dropped ' || done;
      end if;
    end loop;
    done := nullif(forget_default_events(now), 0);
    return 'deleted ' || done || ' events without a partition';
  exception when lock_not_available then
    return 'locked';
  end $$;

-- By the database's clock: no caller chooses the time.
create function maintain_partitions() returns text
  language sql volatile security definer set search_path = svc, pg_temp
  as $$ select maintain_partitions_at(clock_timestamp()) $$;

-- How many partitions of today and the days ahead do not exist, and how many rows, counted up to 10,000, are in the
-- default partitions.
create function partition_state() returns table (name text, missing integer, in_default integer)
  language plpgsql stable security definer set search_path = svc, pg_temp
  as $$
  declare
    p partitioned_tables;
  begin
    for p in select * from partitioned_tables t order by t.name loop
      name := p.name;
      select count(*) filter (
          where to_regclass(partition_name(p.name, partition_day(clock_timestamp(), p.days) + i * p.days)) is null)
        into missing from generate_series(0, p.ahead) i;
      execute format('select count(*) from (select from %I limit 10000) d', p.name || '_default') into in_default;
      return next;
    end loop;
  end $$;

revoke execute on all functions in schema svc from public;
grant execute on function current_tenants, require_count, is_rail to svc_service, svc_operator;
grant execute on function require_room, maintain_partitions, partition_state to svc_service;
