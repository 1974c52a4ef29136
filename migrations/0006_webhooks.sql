-- Whether `qr_code.expired` was told of a code; set in the transaction that writes the event.
alter table qr_codes add column expiry_told boolean not null default false;
create index qr_codes_to_expire on qr_codes (expiry_at)
  where expiry_at is not null and not expiry_told and status = 'ACTIVE';

create function directory_qr_codes_expired(now timestamptz, most integer)
  returns table (merchant_id text, qr_code_id text)
  language sql stable security definer set search_path = svc
  as $$
    select q.merchant_id, q.qr_code_id from qr_codes q
    where q.expiry_at <= now and q.expiry_at is not null and not q.expiry_told and q.status = 'ACTIVE'
    order by q.expiry_at limit most
  $$;

-- `position` is the order of insertion: writers of one object wait for each other's row lock, so among the events of
-- one object it is the order of commit. `sequence` is given after commit: without gaps for each tenant, and no number
-- can be seen before a smaller one (decision E1). The table is then the tenant's feed.
alter table outbox add column position bigint generated always as identity;
alter table outbox add column sequence bigint;
create index outbox_unnumbered on outbox (position) where sequence is null;
create unique index outbox_feed on outbox (tenant_id, sequence) where sequence is not null;
create index outbox_by_time on outbox (tenant_id, created_at);

create table event_counters (
  tenant_id     text collate "C" primary key references tenants,
  last_sequence bigint not null
);

-- Where a tenant wants to be told. What the endpoint is sent besides the event may be secret, so it lies sealed.
create table webhook_endpoints (
  endpoint_id     text collate "C" primary key,
  tenant_id       text collate "C" not null references tenants,
  url             text not null,
  description     text not null,
  -- empty: all of them
  types           text[] not null,
  enabled         boolean not null,
  -- why the service switched it off: 'gone' after status 410
  disabled_reason text,
  header_names    text[] not null,
  headers_sealed  bytea,
  created_at      timestamptz not null,
  modified_at     timestamptz not null
);
create index webhook_endpoints_by_tenant on webhook_endpoints (tenant_id, endpoint_id);

-- Signing secrets: every one that has not expired signs, so that receivers can change over one by one.
create table webhook_secrets (
  secret_id   text collate "C" primary key,
  tenant_id   text collate "C" not null references tenants,
  endpoint_id text collate "C" not null references webhook_endpoints on delete cascade,
  sealed      bytea not null,
  created_at  timestamptz not null,
  expires_at  timestamptz
);
create index webhook_secrets_of_endpoint on webhook_secrets (endpoint_id);

-- One process delivers to an endpoint at a time, so that the order per object is in one hand. A process that dies lets
-- the lease run out.
create table webhook_leases (
  endpoint_id text collate "C" primary key references webhook_endpoints on delete cascade,
  holder      text not null,
  until       timestamptz not null
);
create index webhook_leases_of_holder on webhook_leases (holder);

-- The queue: what is still to be delivered. A row goes when its event was taken, or after three days.
create table webhook_deliveries (
  endpoint_id text collate "C" not null references webhook_endpoints on delete cascade,
  tenant_id   text collate "C" not null,
  sequence    bigint not null,
  event_id    text collate "C" not null,
  object_id   text collate "C" not null,
  -- A first attempt goes in order; what is repeated holds up nothing.
  first       boolean not null,
  attempts    integer not null default 0,
  started_at  timestamptz,
  due_at      timestamptz not null,
  -- Counts requests to send it again: an attempt from before such a request does not settle it.
  turn        integer not null default 0,
  primary key (endpoint_id, sequence)
);
create index webhook_deliveries_first on webhook_deliveries (endpoint_id, sequence) where first;
create index webhook_deliveries_again on webhook_deliveries (endpoint_id, due_at) where not first;

create table webhook_attempts (
  attempt_id       text collate "C" primary key,
  tenant_id        text collate "C" not null,
  endpoint_id      text collate "C" not null references webhook_endpoints on delete cascade,
  event_id         text collate "C" not null,
  sequence         bigint not null,
  attempt          integer not null,
  url              text not null,
  started_at       timestamptz not null,
  duration_ms      integer not null,
  status           smallint,
  -- in words, where there was no answer that counts
  failure          text,
  response_excerpt text not null,
  next_at          timestamptz
);
create index webhook_attempts_of_endpoint on webhook_attempts (tenant_id, endpoint_id, started_at desc, attempt_id desc);
create index webhook_attempts_by_age on webhook_attempts (started_at);

do $$
declare
  secured text;
begin
  foreach secured in array array['event_counters', 'webhook_endpoints', 'webhook_secrets', 'webhook_deliveries',
    'webhook_attempts']
  loop
    execute format('alter table %I enable row level security', secured);
    execute format(
      'create policy tenant on %I to svc_service using (tenant_id = any ((select current_tenants())::text[]))', secured);
    execute format('create policy operator on %I to svc_operator using (true)', secured);
  end loop;
end $$;

grant select on event_counters, webhook_endpoints, webhook_secrets, webhook_deliveries, webhook_attempts
  to svc_service, svc_operator;
grant insert, update, delete on webhook_endpoints, webhook_secrets, webhook_deliveries to svc_service, svc_operator;
grant insert on webhook_attempts to svc_service;

-- The relay. One at a time: whoever comes second leaves at once. Its own snapshot begins after the lock, so it sees
-- every number that was given before. Numbers up to `most` events and queues them for the endpoints that want them.
create function number_events(most integer, now timestamptz)
  returns integer
  language plpgsql volatile security definer set search_path = svc
  as $$
  declare
    given integer;
  begin
    if not pg_try_advisory_xact_lock(hashtext('svc relay')) then
      return 0;
    end if;
    with taken as materialized (
      select o.event_id, o.tenant_id, o.position from outbox o where o.sequence is null order by o.position limit most
    ), counted as (
      insert into event_counters as c (tenant_id, last_sequence)
        select t.tenant_id, count(*) from taken t group by t.tenant_id
      on conflict (tenant_id) do update set last_sequence = c.last_sequence + excluded.last_sequence
      returning c.tenant_id, c.last_sequence
    ), placed as (
      select t.event_id, c.last_sequence - row_number() over (partition by t.tenant_id order by t.position desc) + 1
        as sequence
      from taken t join counted c using (tenant_id)
    ), numbered as (
      update outbox o set sequence = p.sequence from placed p where o.event_id = p.event_id
      returning o.tenant_id, o.event_id, o.object_id, o.type, o.sequence
    ), queued as (
      insert into webhook_deliveries (endpoint_id, tenant_id, sequence, event_id, object_id, first, due_at)
        select e.endpoint_id, n.tenant_id, n.sequence, n.event_id, n.object_id, true, number_events.now
        from numbered n
        join webhook_endpoints e on e.tenant_id = n.tenant_id and e.enabled
          and (e.types = '{}' or n.type = any (e.types))
    )
    select count(*) into given from numbered;
    return given;
  end $$;

-- Who delivers where. Prolongs the leases that the holder keeps, gives back its others, and takes endpoints with work
-- that nobody serves. Answers all that are the holder's, with the time of their last change.
create function lease_webhook_endpoints(as_holder text, keep text[], lease_ms integer, now timestamptz, most integer)
  returns table (endpoint_id text, tenant_id text, modified_at timestamptz)
  language plpgsql volatile security definer set search_path = svc
  as $$
  #variable_conflict use_column
  declare
    lease interval := lease_ms * interval '1 millisecond';
  begin
    delete from webhook_leases l where l.holder = as_holder and l.endpoint_id <> all (keep);
    update webhook_leases l set until = clock_timestamp() + lease
      where l.holder = as_holder and l.until < clock_timestamp() + lease / 2;
    insert into webhook_leases as l (endpoint_id, holder, until)
      select e.endpoint_id, as_holder, clock_timestamp() + lease
      from webhook_endpoints e
      where e.enabled
        and not exists (select from webhook_leases w where w.endpoint_id = e.endpoint_id and w.until >= clock_timestamp())
        and (exists (select from webhook_deliveries d where d.endpoint_id = e.endpoint_id and d.first)
          or exists (select from webhook_deliveries d
            where d.endpoint_id = e.endpoint_id and not d.first and d.due_at <= lease_webhook_endpoints.now))
      order by e.endpoint_id limit greatest(most, 0)
    on conflict (endpoint_id) do update set holder = excluded.holder, until = excluded.until
      where l.until < clock_timestamp();
    return query
      select e.endpoint_id, e.tenant_id, e.modified_at
      from webhook_leases l join webhook_endpoints e using (endpoint_id)
      where l.holder = as_holder and l.until >= clock_timestamp() and e.enabled;
  end $$;

-- Attempts are kept for people to look at, for a setting's time; a bounded number goes at a call.
create function forget_webhook_attempts(before timestamptz)
  returns bigint
  language sql volatile security definer set search_path = svc
  as $$
    with gone as (
      delete from webhook_attempts where ctid in (
        select ctid from webhook_attempts where started_at < before limit 5000 for update skip locked)
      returning 1)
    select count(*) from gone
  $$;

-- How far each feed has come, for the streams that wait for more.
create function directory_event_counters(tenants text[])
  returns table (tenant_id text, last_sequence bigint)
  language sql stable security definer set search_path = svc
  as $$ select c.tenant_id, c.last_sequence from event_counters c where c.tenant_id = any (tenants) $$;

revoke execute on function directory_qr_codes_expired, number_events, lease_webhook_endpoints, forget_webhook_attempts,
  directory_event_counters from public;
grant execute on function directory_qr_codes_expired, number_events, lease_webhook_endpoints, forget_webhook_attempts,
  directory_event_counters to svc_service, svc_operator;
