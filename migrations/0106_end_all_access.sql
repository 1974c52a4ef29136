-- After a restore, also to a point in time, people are signed in again who were signed out since, links work that were used
-- or revoked, and codes that were used. The owner of the database ends all of it; credentials of programs stay.
create function end_all_access() returns void
  language plpgsql set search_path = svc, pg_temp
  as $$
  declare
    step bigint := floor(extract(epoch from clock_timestamp()) / 30) + 1;
  begin
    delete from operator_sessions;
    delete from member_sessions;
    delete from operator_challenges;
    delete from personal_data_reveals;
    update operator_invitations set revoked_at = clock_timestamp() where accepted_at is null and revoked_at is null;
    update members set link_digest = null, link_expires_at = null where link_digest is not null;
    update access_requests set outcome = 'EXPIRED', decided_by = 'svc', decided_at = clock_timestamp() where outcome is null;
    -- The present code and the next: both may have been used.
    update operator_totp set last_step = greatest(last_step, step);
    update member_totp set last_step = greatest(last_step, step);
    delete from operator_recovery_codes;
    delete from member_recovery_codes;
    -- Tokens that were issued since would name tenants and keys that are not there any more. Callers get new ones.
    update keyring set retired_at = clock_timestamp() where purpose = 'token_signing' and retired_at is null;
    -- Processes that run drop what they have cached, and make new keys.
    update installation set epoch = gen_random_uuid()::text;
    perform append_entry('service', 'access.ended', 'installation', null, null, '{}'::jsonb, clock_timestamp());
  end $$;
revoke execute on function end_all_access from public;
