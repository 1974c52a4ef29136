-- The request log (decision O4): written in the background, kept for days, never needed by a request. Ids of requests
-- sort by time. `tenant_id` is `house` where nobody was authenticated.
create table request_log (
  request_id  text collate "C" primary key,
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
  -- by the schema of the operation, personal data masked; no secret, no seal
  body        jsonb,
  -- of a sealed body: kid, alg, enc, and which check failed
  seal        jsonb,
  -- ids that it named or made
  objects     text[] not null
);
create index request_log_of_tenant on request_log (tenant_id, request_id);
create index request_log_of_operation on request_log (operation, request_id);
create index request_log_failures on request_log (request_id) where error is not null;
create index request_log_by_error on request_log (error, request_id) where error is not null;
create index request_log_of_object on request_log using gin (objects);
alter table request_log enable row level security;
create policy tenant on request_log to svc_service using (tenant_id = any ((select current_tenants())::text[]));
create policy operator on request_log to svc_operator using (true);
grant select, insert on request_log to svc_service;
grant select on request_log to svc_operator;

-- What happened in each minute, summed over all processes. No tenant and no id: figures for the overview.
create table minute_sums (
  minute timestamptz not null,
  -- `request`, `failure <word>`, `event <type>`
  what   text collate "C" not null,
  count  bigint not null,
  -- in paise, of events that carry money
  amount bigint not null default 0,
  primary key (minute, what)
);
grant select, insert, update on minute_sums to svc_service;
grant select on minute_sums to svc_operator;

-- Long checks that the console begins in the background: the books, the audit chain.
create table console_checks (
  check_id    bigint generated always as identity primary key,
  kind        text not null check (kind in ('ledger', 'audit')),
  started_at  timestamptz not null,
  started_by  text not null,
  finished_at timestamptz,
  result      jsonb,
  -- why it broke off
  problem     text
);
create index console_checks_latest on console_checks (kind, check_id);
grant select, insert, update, delete on console_checks to svc_operator;

-- The service deletes no rows of its tables itself; a bounded number goes at a call, oldest first.
create function forget_requests(before_id text, excess bigint)
  returns bigint
  language sql volatile security definer set search_path = svc
  as $$
    with gone as (
      delete from request_log where request_id in (
        select o.request_id from (
          select r.request_id, row_number() over (order by r.request_id) as n from (
            select request_id from request_log order by request_id limit 5000) r) o
        where o.request_id < before_id or o.n <= excess)
      returning 1)
    select count(*) from gone
  $$;
create function forget_minutes(before timestamptz)
  returns bigint
  language sql volatile security definer set search_path = svc
  as $$
    with gone as (delete from minute_sums where minute < before returning 1) select count(*) from gone
  $$;
create function count_requests()
  returns bigint
  language sql stable security definer set search_path = svc
  as $$ select count(*) from request_log $$;

-- As before, and besides: what it numbers is summed by minute, each event once, whatever wrote it.
create or replace function number_events(most integer, now timestamptz)
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
      returning o.tenant_id, o.event_id, o.object_id, o.type, o.sequence, o.created_at,
        case when o.type = 'qr_code.credited' then o.payload -> 'amount' end as amount
    ), queued as (
      insert into webhook_deliveries (endpoint_id, tenant_id, sequence, event_id, object_id, first, due_at)
        select e.endpoint_id, n.tenant_id, n.sequence, n.event_id, n.object_id, true, number_events.now
        from numbered n
        join webhook_endpoints e on e.tenant_id = n.tenant_id and e.enabled
          and (e.types = '{}' or n.type = any (e.types))
    ), summed as (
      insert into minute_sums as m (minute, what, count, amount)
        select date_trunc('minute', n.created_at), 'event ' || n.type, count(*),
          coalesce(sum((n.amount::numeric * 100)::bigint), 0)
        from numbered n group by 1, 2 order by 1, 2
      on conflict (minute, what) do update set count = m.count + excluded.count, amount = m.amount + excluded.amount
    )
    select count(*) into given from numbered;
    return given;
  end $$;

revoke execute on function forget_requests, forget_minutes, count_requests from public;
grant execute on function forget_requests, forget_minutes, count_requests to svc_service, svc_operator;
