-- What the service's login may change of rows that are there: columns that the program updates, and no others. Whose a
-- card is, or what a payment was, is history.
revoke update on cards from svc_service;
grant update (status, kyc_status, activated, block_code, remarks, pos_allowed, pos_allowed_admin, atm_allowed,
  atm_allowed_admin, online_allowed, online_allowed_admin, expired_at, ended_at, unclaimed_at, notice_days, due_at,
  replaced_by, modified_at) on cards to svc_service;
revoke update on qr_codes from svc_service;
grant update (status, holds_reference, accepted_count, accepted_paise, last_utr, revision, close_reason, closed_at,
  expiry_told, modified_at) on qr_codes to svc_service;
revoke update on payments from svc_service;
grant update (status, reason, refunded_at, refund_paise, dispute_paise, resolved_at, assigned_from, adjusted_paise)
  on payments to svc_service;
revoke update on payout_positions from svc_service;
grant update (due_from) on payout_positions to svc_service;
revoke update on sandbox_upi_notices from svc_service;
grant update (due_at) on sandbox_upi_notices to svc_service;
revoke update on test_clocks from svc_service;
grant update (ahead_ms) on test_clocks to svc_service;
revoke update on minute_sums from svc_service;
grant update (count) on minute_sums to svc_service;
revoke update on credential_limits from svc_service;
grant update (addresses, scopes, revision, changed_at) on credential_limits to svc_service;
revoke update on credential_refusals from svc_service;
grant update (address, refused_at) on credential_refusals to svc_service;
revoke update on credential_uses from svc_service;
grant update (last_used_at) on credential_uses to svc_service;
revoke update on members from svc_service;
grant update (role, password_hash, disabled_at, last_sign_in_at, link_digest, link_expires_at) on members to svc_service;
revoke update on member_sessions from svc_service;
grant update (seen_at, authenticated_at, factors) on member_sessions to svc_service;
revoke update on member_totp from svc_service;
grant update (secret_encrypted, created_at, confirmed_at, last_step, wrong_codes, locked_until)
  on member_totp to svc_service;
revoke update on member_recovery_codes from svc_service;
grant update (used_at) on member_recovery_codes to svc_service;
revoke update on webhook_endpoints from svc_service;
grant update (url, description, types, enabled, disabled_reason, header_names, headers_encrypted, modified_at)
  on webhook_endpoints to svc_service;
revoke update on webhook_secrets from svc_service;
grant update (expires_at) on webhook_secrets to svc_service;
revoke update on webhook_deliveries from svc_service;
grant update (first, attempts, started_at, due_at, turn) on webhook_deliveries to svc_service;

-- Operators' processes lock ledger accounts, for which one column is enough; floors are the owner's (decision R10).
revoke update on ledger_accounts from svc_operator;
grant update (balance) on ledger_accounts to svc_operator;

-- Erasing is for good. Otherwise a user could be erased for a moment, and what events and history say with it.
create function refuse_unerasing() returns trigger
  language plpgsql set search_path = svc, pg_temp
  as $$
  begin
    raise exception 'a user stays erased'
      using errcode = 'integrity_constraint_violation', constraint = tg_name, table = tg_table_name;
  end $$;
create trigger erased_for_good before update of erased_at on users for each row
  when (old.erased_at is not null and new.erased_at is distinct from old.erased_at)
  execute function refuse_unerasing();

-- As in 0012, but what is erased does not come from the caller: of `fields` the version before this one passes the same.
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
    update outbox o set payload = o.payload || (
        select jsonb_object_agg(f, '') from unnest(personal) as f where o.payload ? f)
      from unnest(card_ids, events_from, events_until) as w (svc_card_id, since, until)
      where o.tenant_id = partner and o.event_id >= w.since and o.event_id < w.until and o.object_id = w.svc_card_id
        and o.type in ('card.created', 'card.status_changed') and o.payload ?| personal;
  end $$;

-- As in 0021, in events of these voids alone: the id of a void does not decide which event loses its reason.
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
    update outbox o set payload = o.payload || '{"reason": ""}'
      from coin_voids v
      where v.partner_id = partner and v.user_id = any (user_ids)
        and o.tenant_id = partner and o.event_id = 'evt_' || substr(v.void_id, 5)
        and o.type = 'coins.voided' and o.object_id = v.user_id and o.payload ? 'reason';
    -- The digest of a request with a reason is one of personal data; what is put in its place equals no request.
    update coin_voids set reason = '', request_hash = sha256(void_id::bytea)
      where partner_id = partner and user_id = any (user_ids);
  end $$;

revoke execute on all functions in schema svc from public;
