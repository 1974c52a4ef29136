-- Fails the transaction unless a statement wrote as many rows as it was to write.
create function require_count(wrote bigint, wanted integer, message text)
  returns void
  language plpgsql immutable
  as $$
  begin
    if wrote <> wanted then
      raise exception '%', message using errcode = 'assert_failure';
    end if;
  end $$;

-- Only events that are numbered are replayed by time: the others need no entry, and get one when they are numbered.
drop index outbox_by_time;
create index outbox_by_time on outbox (tenant_id, created_at) where sequence is not null;

-- Tenants are never deleted, and whatever an event tells of has its own reference to its tenant.
alter table outbox drop constraint outbox_tenant_id_fkey;

-- As before, in three steps: joining the counters where they are made compared every event with every tenant.
create or replace function number_events(most integer, now timestamptz)
  returns integer
  language plpgsql volatile security definer set search_path = svc
  as $$
  declare
    event_ids text[];
    tenant_ids text[];
  begin
    if not pg_try_advisory_xact_lock(hashtext('svc relay')) then
      return 0;
    end if;
    select array_agg(t.event_id order by t.position), array_agg(t.tenant_id order by t.position)
      into event_ids, tenant_ids
      from (select o.event_id, o.tenant_id, o.position from outbox o
        where o.sequence is null order by o.position limit most) t;
    if event_ids is null then
      return 0;
    end if;
    insert into event_counters as c (tenant_id, last_sequence)
      select t.tenant_id, count(*) from unnest(tenant_ids) as t (tenant_id) group by t.tenant_id order by t.tenant_id
      on conflict (tenant_id) do update set last_sequence = c.last_sequence + excluded.last_sequence;
    with placed as (
      select t.event_id, c.last_sequence - row_number() over (partition by t.tenant_id order by t.place desc) + 1
        as sequence
      from unnest(event_ids, tenant_ids) with ordinality as t (event_id, tenant_id, place)
      join event_counters c using (tenant_id)
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
    )
    insert into minute_sums as m (minute, what, count, amount)
      select date_trunc('minute', n.created_at), 'event ' || n.type, count(*),
        coalesce(sum((n.amount::numeric * 100)::bigint), 0)
      from numbered n group by 1, 2 order by 1, 2
    on conflict (minute, what) do update set count = m.count + excluded.count, amount = m.amount + excluded.amount;
    return cardinality(event_ids);
  end $$;
