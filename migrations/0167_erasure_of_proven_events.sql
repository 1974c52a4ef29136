-- Erasure and retention know the trees of the feeds (decision E7): what the leaves say stays as it is.

-- As before, and what the events said of a person loses the salt of its digest, which then reveals nothing.
create or replace function erase_holders(
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

-- As before, and the same for reasons.
create or replace function erase_coin_reasons(partner text, user_ids text[]) returns void
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

-- As before, and with an event goes what its leaf hides. The leaf's hash stays.
create or replace function forget_events(before timestamptz) returns bigint
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

revoke execute on all functions in schema svc from public;
