-- Users whose personal data was erased (decision C23). The row stays: cards, coins and the ledger refer to it.
alter table users add column erased_at timestamptz;
alter table users add constraint erased_is_unknown check (
  erased_at is null
  or num_nonnulls(email, mobile, title, first_name, middle_name, last_name, gender, special_date, tax_pan) = 0) not valid;
grant update (tax_pan, erased_at) on users to svc_service;

-- Erases the holder of the cards of users who are erased: on the cards, in the reasons of their history, and in the
-- given fields of their events, which lie between the given ids. The service's role may change neither history nor events
-- otherwise.
create function erase_holders(
  partner text, card_ids text[], events_from text[], events_until text[], fields text[]) returns void
  language plpgsql volatile security definer set search_path = svc, pg_temp
  as $$
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
    update outbox o set payload = o.payload || (
        select jsonb_object_agg(f, '') from unnest(fields) as f where o.payload ? f)
      from unnest(card_ids, events_from, events_until) as w (svc_card_id, since, until)
      where o.tenant_id = partner and o.event_id >= w.since and o.event_id < w.until and o.object_id = w.svc_card_id
        and o.payload ?| fields;
  end $$;

-- For the sweep: users of all partners whose last card ended before the instant, and who got no coins since.
create function directory_users_forgotten(before timestamptz, after_id text, most integer, only_tenants text[])
  returns table (partner_id text, user_id text)
  language sql stable security definer set search_path = svc, pg_temp
  as $$
    select u.partner_id, u.user_id from users u
    where u.user_id > after_id and u.erased_at is null and u.created_at < before
      and (only_tenants is null or u.partner_id = any (only_tenants))
      and not exists (
        select from cards c
        where c.partner_id = u.partner_id and c.user_id = u.user_id and (c.ended_at is null or c.ended_at >= before))
      and not exists (
        select from coin_entries e
        where e.partner_id = u.partner_id and e.user_id = u.user_id and e.created_at >= before)
    order by u.user_id limit most
  $$;

revoke execute on all functions in schema svc from public;
grant execute on function erase_holders, directory_users_forgotten to svc_service;
