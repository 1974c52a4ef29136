-- Rotating the key of waiting bulk orders seals them anew.
grant update (content) on bulk_rows to svc_operator;

-- How far a feed has been forgotten: number and instant of its last event that is no longer kept.
alter table event_counters add column forgotten_sequence bigint not null default 0;
alter table event_counters add column forgotten_at timestamptz;

-- Forgets events from before, oldest number first, so that a feed loses its beginning and never gets a gap: an event
-- stays as long as one with a smaller number does. A bounded number goes at a call; answers how many went.
create function forget_events(before timestamptz)
  returns bigint
  language sql volatile security definer set search_path = svc
  as $$
    with due as materialized (
      select c.tenant_id, c.forgotten_sequence from event_counters c
      where (
        select o.created_at from outbox o where o.tenant_id = c.tenant_id and o.sequence > c.forgotten_sequence
        order by o.sequence limit 1) < before
      order by c.tenant_id limit 100 for no key update skip locked
    ), oldest as materialized (
      select d.tenant_id, o.event_id, o.sequence, o.created_at,
        bool_and(o.created_at < before) over (partition by d.tenant_id order by o.sequence) as all_old
      from due d cross join lateral (
        select f.event_id, f.sequence, f.created_at from outbox f
        where f.tenant_id = d.tenant_id and f.sequence > d.forgotten_sequence order by f.sequence limit 1000) o
    ), gone as (
      delete from outbox o using oldest g
      where g.all_old and o.tenant_id = g.tenant_id and o.event_id = g.event_id
      returning o.tenant_id, o.sequence, o.created_at
    ), undelivered as (
      delete from webhook_deliveries d using oldest g join webhook_endpoints e on e.tenant_id = g.tenant_id
      where g.all_old and d.endpoint_id = e.endpoint_id and d.sequence = g.sequence
    ), moved as (
      update event_counters c set forgotten_sequence = g.sequence, forgotten_at = g.created_at
      from (
        select tenant_id, max(sequence) as sequence, max(created_at) as created_at from gone group by tenant_id) g
      where c.tenant_id = g.tenant_id
    )
    select count(*) from gone
  $$;
revoke execute on function forget_events from public;
grant execute on function forget_events to svc_service, svc_operator;
