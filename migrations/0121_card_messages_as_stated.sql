-- What a message of the card network states is read, kept for people, or declined (decision R1).
-- Which field could not be read, what it states and why.
alter table card_exceptions add column detail text;
-- Whether an authorisation raised the hold of an earlier one.
alter table card_messages add column raises boolean not null default false;
-- Zero: a verification of the card, or a capture of nothing.
alter table card_messages drop constraint card_messages_amount_paise_check;
alter table card_messages add constraint card_messages_amount_paise_check check (amount_paise >= 0) not valid;
-- A raised hold is of more, and lasts longer.
grant update (amount_paise, expires_at) on card_authorizations to svc_service;

-- SHA-256 of the message as it was written, decrypted: a signature names no operation, so that the same bytes are one message.
alter table card_messages add column plain_digest bytea;
-- Beside directory_card_identities, which the version before calls.
create function directory_card_messages_of(acquirers text[], stans text[], times timestamptz[])
  returns table (acquirer_id text, stan text, transmission_at timestamptz, type text, content_digest bytea,
    plain_digest bytea, response text)
  language sql stable security definer set search_path = svc, pg_temp
  as $$
    select m.acquirer_id, m.stan, m.transmission_at, m.type, m.content_digest, m.plain_digest, m.response
    from unnest(acquirers, stans, times) as k (acquirer_id, stan, transmission_at)
    join card_messages m using (acquirer_id, stan, transmission_at)
  $$;
revoke execute on function directory_card_messages_of from public;
grant execute on function directory_card_messages_of to svc_service;
