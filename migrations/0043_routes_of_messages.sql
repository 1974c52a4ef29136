-- A signed message is bound to its route by what is known of it (decisions Q11 and R1).

-- Card messages of these identities, of every type: a network gives each message its own STAN.
create function directory_card_identities(acquirers text[], stans text[], times timestamptz[])
  returns table (acquirer_id text, stan text, transmission_at timestamptz, type text, content_digest bytea, response text)
  language sql stable security definer set search_path = svc, pg_temp
  as $$
    select m.acquirer_id, m.stan, m.transmission_at, m.type, m.content_digest, m.response
    from unnest(acquirers, stans, times) as k (acquirer_id, stan, transmission_at)
    join card_messages m using (acquirer_id, stan, transmission_at)
  $$;

-- Notices by id, of any tenant: an id is made of the bytes that were signed.
create function directory_notices(ids text[])
  returns table (notice_id text, flags text[], reason text)
  language sql stable security definer set search_path = svc, pg_temp
  as $$
    select n.notice_id, n.flags, n.reason from rail_notices n where n.notice_id = any (ids)
  $$;

revoke execute on all functions in schema svc from public;
grant execute on function directory_card_identities, directory_notices to svc_service;
