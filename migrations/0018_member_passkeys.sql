-- Public keys with which members sign in, as operators have them (decision O6).
create table member_passkeys (
  tenant_id     text collate "C" not null,
  passkey_id    text collate "C" not null,
  member_id     text collate "C" not null,
  credential_id bytea not null check (length(credential_id) between 1 and 1023),
  -- COSE_Key
  public_key    bytea not null,
  -- of the authenticator: 0 for ever, or higher with every use
  sign_count    bigint not null check (sign_count between 0 and 4294967295),
  transports    text[] not null,
  name          text not null check (length(name) between 1 and 100),
  created_at    timestamptz not null,
  last_used_at  timestamptz,
  constraint passkey_of_a_member foreign key (tenant_id, member_id) references members (tenant_id, member_id),
  constraint member_passkey_once unique (tenant_id, credential_id)
);
alter table member_passkeys add primary key (tenant_id, passkey_id);
create index member_passkeys_of on member_passkeys (tenant_id, member_id, created_at);
create constraint trigger audited after insert or update or delete on member_passkeys deferrable initially deferred
  for each row execute function audit_change('member_passkey', 'passkey_id', 'tenant_id', 'member_id');
create trigger sign_count_rises before update of sign_count on member_passkeys
  for each row execute function refuse_lower_sign_count();
select secure_tenants('member_passkeys', 'tenant_id');
grant select, insert, update (sign_count, last_used_at), delete on member_passkeys to svc_service;
grant select, delete on member_passkeys to svc_operator;

-- Sign-ins of members under way, each used once: a keyed digest of the random value that the browser has. Before the person
-- is known they are of the platform.
create table member_challenges (
  tenant_id  text collate "C" not null references tenants,
  digest     bytea not null check (length(digest) = 32),
  purpose    text not null check (purpose in ('passkey_sign_in', 'passkey_registration')),
  -- who registers a passkey
  member_id  text collate "C",
  expires_at timestamptz not null,
  check ((purpose = 'passkey_registration') = (member_id is not null)),
  constraint challenge_of_a_member foreign key (tenant_id, member_id) references members (tenant_id, member_id)
);
alter table member_challenges add primary key (tenant_id, digest);
create index member_challenges_by_age on member_challenges (tenant_id, expires_at);
select secure_tenants('member_challenges', 'tenant_id');
grant select, insert, delete on member_challenges to svc_service;

-- After a restore, also to a point in time, people are signed in again who were signed out since, links work that were used
-- or revoked, and codes that were used. The owner of the database ends all of it; credentials of programs stay.
create or replace function end_all_access() returns void
  language plpgsql set search_path = svc, pg_temp
  as $$
  declare
    step bigint := floor(extract(epoch from clock_timestamp()) / 30) + 1;
  begin
    delete from operator_sessions;
    delete from member_sessions;
    delete from operator_challenges;
    delete from member_challenges;
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
