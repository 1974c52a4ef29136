-- Operators of the console and members of tenants: how they sign in, what is handed over to them, and which acts take two.

-- People who use the console (decision O2). Only `svc_operator` sees them: no request of a tenant reads this table.
create table operators (
  operator_id     text collate "C" not null,
  name            text collate "C" not null unique check (name ~ '^[a-z0-9][a-z0-9._@-]{1,63}$'),
  role            text not null
    check (role in ('viewer', 'auditor', 'support', 'finance', 'operations', 'operator', 'admin')),
  -- argon2id in its own notation; null for the sandbox's one-click administrator, who has none
  password_hash   text,
  created_at      timestamptz not null,
  disabled_at     timestamptz,
  last_sign_in_at timestamptz
);
alter table operators add primary key (operator_id);
create constraint trigger audited after insert or update or delete on operators deferrable initially deferred
  for each row execute function audit_change('operator', 'operator_id', '', 'name,role,disabled_at');
create constraint trigger password_audited after update of password_hash on operators deferrable initially deferred
  for each row when (new.password_hash is distinct from old.password_hash)
  execute function audit_secret('operator.password_changed', 'operator_id', '',
    'operator.password_changed,operator.password_reset');
grant select, insert, update (role, password_hash, disabled_at, last_sign_in_at) on operators to svc_operator;

-- People who are to become operators (decision O2), or operators who are to choose another password: the link that they get
-- has a token of which this is a keyed digest.
create table operator_invitations (
  invitation_id text collate "C" not null,
  name          text collate "C" not null check (name ~ '^[a-z0-9][a-z0-9._@-]{1,63}$'),
  role          text not null
    check (role in ('viewer', 'auditor', 'support', 'finance', 'operations', 'operator', 'admin')),
  digest        bytea not null unique check (length(digest) = 32),
  created_at    timestamptz not null,
  -- as the audit names them
  created_by    text not null,
  -- the operator who invited, whose role bounds the invitation; null for the command line
  invited_by    text collate "C" references operators,
  expires_at    timestamptz not null check (expires_at > created_at),
  accepted_at   timestamptz,
  revoked_at    timestamptz,
  -- who the invited person became
  operator_id   text collate "C" references operators,
  -- the operator who exists, and chooses another password
  resets        text collate "C" constraint resets_an_operator references operators,
  check ((accepted_at is null) = (operator_id is null)),
  check (accepted_at is null or revoked_at is null),
  check (accepted_at < expires_at)
);
alter table operator_invitations add primary key (invitation_id);
create unique index operator_invitations_open on operator_invitations (name)
  where accepted_at is null and revoked_at is null;
create constraint trigger audited after insert or update or delete on operator_invitations deferrable initially deferred
  for each row execute function audit_change('invitation', 'invitation_id', '',
    'name,role,resets,expires_at,accepted_at,revoked_at');
grant select, insert, update (accepted_at, operator_id, revoked_at) on operator_invitations to svc_operator;

-- Whom the identity provider knows an operator as (OpenID Connect Core section 5.7): an address is given to another person
-- some day, a subject never.
create table operator_identities (
  issuer      text collate "C" not null,
  subject     text collate "C" not null check (length(subject) between 1 and 255),
  operator_id text collate "C" not null references operators,
  linked_at   timestamptz not null
);
alter table operator_identities add primary key (issuer, subject);
create unique index operator_identities_of on operator_identities (operator_id, issuer);
create constraint trigger audited after insert or update or delete on operator_identities deferrable initially deferred
  for each row execute function audit_change('operator_identity', 'operator_id', '', 'issuer,linked_at');
grant select, insert, delete on operator_identities to svc_operator;

-- Public keys with which operators sign in (WebAuthn level 3).
create table operator_passkeys (
  passkey_id    text collate "C" not null,
  operator_id   text collate "C" not null references operators,
  credential_id bytea not null unique check (length(credential_id) between 1 and 1023),
  -- COSE_Key
  public_key    bytea not null,
  -- of the authenticator: 0 for ever, or higher with every use
  sign_count    bigint not null check (sign_count between 0 and 4294967295),
  transports    text[] not null,
  name          text not null check (length(name) between 1 and 100),
  created_at    timestamptz not null,
  last_used_at  timestamptz
);
alter table operator_passkeys add primary key (passkey_id);
create index operator_passkeys_of on operator_passkeys (operator_id, created_at);
create constraint trigger audited after insert or update or delete on operator_passkeys deferrable initially deferred
  for each row execute function audit_change('passkey', 'passkey_id', '', 'operator_id');
grant select, insert, update (sign_count, last_used_at), delete on operator_passkeys to svc_operator;

-- A counter that does not rise is that of a copy.
create function refuse_lower_sign_count() returns trigger language plpgsql set search_path = svc, pg_temp
  as $$ begin
    if new.sign_count <= old.sign_count and (new.sign_count > 0 or old.sign_count > 0) then
      raise exception 'the counter of a passkey rises' using errcode = 'check_violation';
    end if;
    return new;
  end $$;
create trigger sign_count_rises before update of sign_count on operator_passkeys
  for each row execute function refuse_lower_sign_count();

-- Second factors of operators: TOTP (RFC 6238). One counts once a code has confirmed it.
create table operator_totp (
  operator_id      text collate "C" not null references operators,
  secret_encrypted bytea not null,
  created_at       timestamptz not null,
  confirmed_at     timestamptz,
  -- time step of the last code that was used
  last_step        bigint not null default 0,
  -- in a row, before the lock
  wrong_codes      integer not null default 0,
  locked_until     timestamptz
);
alter table operator_totp add primary key (operator_id);
create constraint trigger audited after insert or update or delete on operator_totp deferrable initially deferred
  for each row execute function audit_change('second_factor', 'operator_id', '', 'confirmed_at,locked_until');
grant select, insert, update (secret_encrypted, created_at, confirmed_at, last_step, wrong_codes, locked_until), delete
  on operator_totp to svc_operator;

-- A code works once: another process may have taken it in the meantime.
create function refuse_used_code() returns trigger language plpgsql set search_path = svc, pg_temp
  as $$ begin
    if new.last_step < old.last_step then
      raise exception 'the code of a second factor works once' using errcode = 'check_violation';
    end if;
    return new;
  end $$;
create trigger code_works_once before update of last_step on operator_totp
  for each row execute function refuse_used_code();

-- Codes for the day on which the device is lost, each used once; keyed digests.
create table operator_recovery_codes (
  operator_id text collate "C" not null references operators,
  digest      bytea not null check (length(digest) = 32),
  used_at     timestamptz
);
alter table operator_recovery_codes add primary key (operator_id, digest);
grant select, insert, update (used_at), delete on operator_recovery_codes to svc_operator;

-- Sign-ins under way, each used once: a keyed digest of the random value that the browser has.
create table operator_challenges (
  digest      bytea not null check (length(digest) = 32),
  purpose     text not null check (purpose in ('oidc', 'passkey_sign_in', 'passkey_registration')),
  -- who registers a passkey
  operator_id text collate "C" references operators,
  expires_at  timestamptz not null,
  check ((purpose = 'passkey_registration') = (operator_id is not null))
);
alter table operator_challenges add primary key (digest);
create index operator_challenges_by_age on operator_challenges (expires_at);
grant select, insert, delete on operator_challenges to svc_operator;

-- Who is signed in. Read with every request, so that a session that ends here ends in every process at once.
create table operator_sessions (
  digest      bytea not null,
  operator_id text collate "C" not null references operators,
  created_at  timestamptz not null,
  seen_at     timestamptz not null,
  expires_at  timestamptz not null,
  -- when the person last proved who they are, and with what: `none` for the sandbox's click
  authenticated_at timestamptz not null,
  factors          text[] not null
    check (cardinality(factors) > 0 and factors <@ array['password', 'totp', 'recovery', 'passkey', 'oidc', 'none']),
  -- from where the session began
  address    text not null,
  user_agent text not null check (length(user_agent) <= 256)
);
create index operator_sessions_of on operator_sessions (operator_id);
create index operator_sessions_by_age on operator_sessions (expires_at);
alter table operator_sessions add primary key (digest);
create constraint trigger begun_audited after insert on operator_sessions deferrable initially deferred for each row
  execute function audit_secret('operator.signed_in', 'operator_id', '', 'operator.signed_in');
grant select, insert, update (seen_at, authenticated_at, factors), delete on operator_sessions to svc_operator;

-- To whom the personal data of an object is shown unmasked for some minutes (decision O7); the audit keeps who and why.
create table personal_data_reveals (
  operator_id text collate "C" not null references operators,
  object_id   text collate "C" not null check (length(object_id) between 1 and 128),
  revealed_at timestamptz not null,
  primary key (operator_id, object_id)
);
grant select, insert, update (revealed_at), delete on personal_data_reveals to svc_operator;

-- People of a tenant, who use the portal (decision O6). The service's role reads and writes them, under the policy of
-- tenants: a request of the portal sees one tenant alone.
create table members (
  tenant_id       text collate "C" not null references tenants,
  member_id       text collate "C" not null,
  name            text collate "C" not null check (name ~ '^[a-z0-9][a-z0-9._@+-]{1,63}$'),
  role            text not null check (role in ('viewer', 'operator', 'admin')),
  -- argon2id in its own notation; null until the person has chosen a password
  password_hash   text,
  created_at      timestamptz not null,
  -- as the audit names them
  created_by      text not null,
  disabled_at     timestamptz,
  last_sign_in_at timestamptz,
  -- of the link with which the person chooses a password, once: a keyed digest of its token
  link_digest     bytea check (length(link_digest) = 32),
  link_expires_at timestamptz,
  -- the link that no second administrator approved yet (decision R10); one that the tenant's own administrators make has
  -- another digest
  waiting_link    bytea,
  -- who made the link, as the audit names them
  link_by         text,
  constraint links_expire check ((link_digest is null) = (link_expires_at is null)),
  constraint member_named_once unique (tenant_id, name)
);
create index members_by_name on members (name);
alter table members add primary key (tenant_id, member_id);
create constraint trigger audited after insert or update or delete on members deferrable initially deferred
  for each row execute function audit_change('member', 'member_id', 'tenant_id', 'name,role,disabled_at,link_expires_at');
select secure_tenants('members', 'tenant_id');
create constraint trigger password_audited after update of password_hash on members deferrable initially deferred
  for each row when (new.password_hash is distinct from old.password_hash)
  execute function audit_secret('member.password_changed', 'member_id', 'tenant_id', 'member.password_changed');
create constraint trigger link_audited after update of link_digest on members deferrable initially deferred
  for each row when (new.link_digest is distinct from old.link_digest)
  execute function audit_secret('member.changed', 'member_id', 'tenant_id', 'member.changed,member.disabled');
grant select, insert, update (role, password_hash, disabled_at, last_sign_in_at, link_digest, link_expires_at) on
  members to svc_service;
grant select, insert, update (role, disabled_at, link_digest, link_expires_at, waiting_link) on members to svc_operator;

-- A link is of who made it, and one that waits for a second administrator waits until that one has approved it.
create function keep_link() returns trigger
  language plpgsql security definer set search_path = svc, pg_temp
  as $$
  begin
    if tg_op = 'INSERT' or new.link_digest is distinct from old.link_digest then
      new.link_by := coalesce(case when acts_for_operators() then nullif(current_setting('svc.actor', true), '') end,
        acting_without_operator(new.tenant_id));
    end if;
    if tg_op = 'UPDATE' and new.link_digest = old.waiting_link and new.waiting_link is distinct from old.waiting_link
      and 'APPROVED' is distinct from (
        select r.outcome from access_requests r
        where r.kind = 'member_link' and r.member_tenant = new.tenant_id and r.member_id = new.member_id
        order by r.requested_at desc limit 1)
    then
      raise exception 'the link waits for a second administrator'
        using errcode = 'integrity_constraint_violation', constraint = 'links_wait', table = tg_table_name;
    end if;
    return new;
  end $$;
create trigger links_wait before insert or update on members for each row execute function keep_link();

-- Who is signed in to the portal; read with every request.
create table member_sessions (
  tenant_id  text collate "C" not null,
  digest     bytea not null check (length(digest) = 32),
  member_id  text collate "C" not null,
  created_at timestamptz not null,
  seen_at    timestamptz not null,
  expires_at timestamptz not null,
  address    text not null,
  user_agent text not null check (length(user_agent) <= 256),
  -- when the person last proved who they are, and with what
  authenticated_at timestamptz not null,
  factors    text[] not null,
  constraint session_of_a_member foreign key (tenant_id, member_id) references members (tenant_id, member_id)
);
create index member_sessions_of on member_sessions (tenant_id, member_id);
alter table member_sessions add primary key (tenant_id, digest);
select secure_tenants('member_sessions', 'tenant_id');
create constraint trigger begun_audited after insert on member_sessions deferrable initially deferred for each row
  execute function audit_secret('member.signed_in', 'member_id', 'tenant_id', 'member.signed_in');
grant select, insert, update (seen_at, authenticated_at, factors), delete on member_sessions to svc_service;
grant select, delete on member_sessions to svc_operator;

-- Second factors of members, as operators have them (decision O6). One counts once a code has confirmed it.
create table member_totp (
  tenant_id        text collate "C" not null,
  member_id        text collate "C" not null,
  secret_encrypted bytea not null,
  created_at       timestamptz not null,
  confirmed_at     timestamptz,
  -- time step of the last code that was used
  last_step        bigint not null default 0,
  -- in a row, before the lock
  wrong_codes      integer not null default 0,
  locked_until     timestamptz,
  constraint factor_of_a_member foreign key (tenant_id, member_id) references members (tenant_id, member_id)
);
alter table member_totp add primary key (tenant_id, member_id);
create constraint trigger audited after insert or update or delete on member_totp deferrable initially deferred
  for each row execute function audit_change('member_second_factor', 'member_id', 'tenant_id', 'confirmed_at,locked_until');
create trigger code_works_once before update of last_step on member_totp
  for each row execute function refuse_used_code();
select secure_tenants('member_totp', 'tenant_id');
-- When their data key is rotated, svc admin keys rotate encrypts the authenticator secrets again.
grant select, insert, update (secret_encrypted, created_at, confirmed_at, last_step, wrong_codes, locked_until),
  delete on member_totp to svc_service;
grant select, update (secret_encrypted), delete on member_totp to svc_operator;

-- Each used once; keyed digests.
create table member_recovery_codes (
  tenant_id text collate "C" not null,
  member_id text collate "C" not null,
  digest    bytea not null check (length(digest) = 32),
  used_at   timestamptz,
  constraint code_of_a_member foreign key (tenant_id, member_id) references members (tenant_id, member_id)
);
alter table member_recovery_codes add primary key (tenant_id, member_id, digest);
select secure_tenants('member_recovery_codes', 'tenant_id');
grant select, insert, update (used_at), delete on member_recovery_codes to svc_service;
grant select, delete on member_recovery_codes to svc_operator;

-- Credentials that the link of a member hands over (decision O8). They are issued when the link is used, so that no
-- secret waits in the database: a row says what to issue and, afterwards, what was issued. Only operators enter rows.
create table handovers (
  tenant_id     text collate "C" not null,
  member_id     text collate "C" not null,
  -- whether a key for encrypted requests is issued besides the API key or OAuth client
  shared_key    boolean not null,
  created_at    timestamptz not null,
  -- as the audit names them
  created_by    text not null,
  opened_at     timestamptz,
  credential_id text collate "C",
  kid           text collate "C",
  constraint handover_to_a_member foreign key (tenant_id, member_id) references members (tenant_id, member_id),
  constraint opened_with_a_credential check ((opened_at is null) = (credential_id is null)),
  constraint key_as_asked_for check (kid is null or shared_key),
  primary key (tenant_id, member_id)
);
create constraint trigger audited after insert or update or delete on handovers deferrable initially deferred
  for each row execute function audit_change('handover', 'member_id', 'tenant_id', 'shared_key,opened_at,credential_id,kid');
select secure_tenants('handovers', 'tenant_id');
grant select, update (opened_at, credential_id, kid) on handovers to svc_service;
grant select, insert, update on handovers to svc_operator;

-- At sign-in the tenant is not known yet (decision X4): by exact name, a few tenants may have a person in common.
create function directory_members(names text[])
  returns table (name text, tenant_id text, member_id text, password_hash text)
  language sql stable security definer set search_path = svc, pg_temp
  as $$
    select m.name, m.tenant_id, m.member_id, m.password_hash
    from members m join tenants t using (tenant_id)
    where m.name = any (names) and m.disabled_at is null and t.disabled_at is null and m.password_hash is not null
    order by m.last_sign_in_at desc nulls last limit 8
  $$;

-- What one person does alone (decision R10): postings by hand up to this amount, and no link that makes an operator in live
-- mode. One row; processes with the operators' login store the settings.
create table approval_limit (
  only_row    boolean primary key default true check (only_row),
  -- null: none is needed
  above_paise bigint check (above_paise >= 0),
  -- for the audit
  what        text not null default 'postings',
  -- for how long those whom an operator armed are no second person beside that operator
  cooling_days integer not null default 7,
  -- Whether a process in live mode works on this database, where who may act is decided by two administrators; kept here so
  -- that nothing in sandbox mode is opened on it.
  administrators_by_two boolean not null default false
);
insert into approval_limit values (true, null);
create constraint trigger audited after insert or update or delete on approval_limit deferrable initially deferred
  for each row execute function audit_change('approval_limit', 'what', '', 'above_paise,cooling_days,administrators_by_two');
grant select on approval_limit to svc_service;
grant select, update (above_paise, cooling_days, administrators_by_two) on approval_limit to svc_operator;

-- Up to which amount one person posts, and for how long the requester's creatures are no second persons, is the owner's to
-- loosen: the operators' login may only make it stricter (decision R10).
create function keep_approval_limit() returns trigger
  language plpgsql set search_path = svc, pg_temp
  as $$
  begin
    if not pg_has_role(session_user, 'svc_owner', 'member') and (
      old.above_paise is not null and (new.above_paise is null or new.above_paise > old.above_paise)
      or new.cooling_days < old.cooling_days or old.administrators_by_two and not new.administrators_by_two)
    then
      raise exception 'only the owner of the schema loosens the limit'
        using errcode = 'insufficient_privilege', constraint = tg_name, table = tg_table_name;
    end if;
    return new;
  end $$;
create trigger approval_limit_is_the_owners before update on approval_limit for each row
  execute function keep_approval_limit();

-- What a second administrator decides: a link that makes an operator or replaces a password, a role that may do more, a
-- disabled operator who returns, a way to sign in that is removed.
create table access_requests (
  approval_id   text collate "C" not null,
  kind          text not null check (kind in
    ('link', 'role', 'enable', 'passkeys', 'second_factor', 'identity', 'member_second_factor', 'member_link', 'member_role',
      'member_enable')),
  operator_id   text collate "C" references operators,
  invitation_id text collate "C" unique references operator_invitations,
  role          text,
  -- as the audit names them
  requested_by  text not null,
  requested_at  timestamptz not null,
  expires_at    timestamptz not null check (expires_at > requested_at),
  outcome       text check (outcome in ('APPROVED', 'REJECTED', 'EXPIRED')),
  decided_by    text,
  decided_at    timestamptz,
  -- Of the access of a member, whose tenant this is: with a member's link or more rights an operator could act as the
  -- tenant, and move its money. Requests are of operators, and of no tenant.
  member_tenant text collate "C",
  member_id     text collate "C",
  check ((kind = 'link') = (invitation_id is not null)),
  constraint access_of_a_role check ((kind in ('role', 'member_role')) = (role is not null)),
  check ((outcome is null) = (decided_by is null) and (outcome is null) = (decided_at is null)),
  constraint access_is_of_somebody check (kind = 'link' or kind like 'member\_%' or operator_id is not null),
  constraint access_of_a_member check ((kind like 'member\_%') = (member_id is not null)),
  constraint member_is_the_tenants foreign key (member_tenant, member_id) references members (tenant_id, member_id)
);
alter table access_requests add primary key (approval_id);
create unique index access_requests_open on access_requests (operator_id, kind) where outcome is null and kind <> 'link';
create unique index access_requests_open_of_member on access_requests (member_id, kind)
  where outcome is null and member_id is not null;
create constraint trigger audited after insert or update or delete on access_requests deferrable initially deferred
  for each row execute function audit_change('access_request', 'approval_id', '',
    'kind,operator_id,invitation_id,member_tenant,member_id,role,outcome');
grant select, insert, update (outcome, decided_by, decided_at) on access_requests to svc_operator;

-- What was done with the login of the database's owner in the place of an administrator: the first administrator, and where
-- none can sign in. Only that login writes it, before it acts, and operators are alerted.
create table owner_acts (
  act_id  bigint generated always as identity,
  at      timestamptz not null default clock_timestamp(),
  -- as the audit names them
  by      text not null,
  command text not null
);
alter table owner_acts add primary key (act_id);
grant select on owner_acts to svc_operator;

-- What gives somebody else the means to act as an operator, or more rights, by the names of the audit. Its target is the
-- operator. Invitations are in their own table.
create function arming_actions() returns text[]
  language sql immutable parallel safe
  as $$ select array['operator.created', 'operator.enabled', 'operator.changed', 'operator.password_reset',
    'operator.password_changed', 'operator.passkeys_removed', 'second_factor.deleted', 'operator_identity.created', 'operator_identity.deleted'] $$;

-- Who may be the second person (decision R10), in one function for approvals, payouts and whatever else two people do. Who
-- created, invited, promoted or reset another operator lately, or requested it, knows how to sign in as them: the two count
-- as one person.
--
-- Why `approver` is no second person beside `requester`, both as the audit names them; null: they are two people.
-- `same_person`; `armed_by_requester`: the requester, or an operator whom the requester armed, armed the approver within
-- the cooling time; `armed_requester`: the other way round.
create function second_person_problem(requester text, approver text) returns text
  language sql stable security definer set search_path = svc, pg_temp
  as $$
    with recursive since as (
      select clock_timestamp() - l.cooling_days * interval '1 day' as at from approval_limit l),
    armed (by, who) as (
      select a.actor collate "C", 'operator ' || o.name
      from audit_log a join operators o on o.operator_id = a.target
      where a.action = any (arming_actions()) and a.actor <> 'operator ' || o.name
        and a.at_ms > extract(epoch from (select at from since)) * 1000
      union all
      select i.created_by collate "C", 'operator ' || i.name
      from operator_invitations i where i.accepted_at > (select at from since)
      union all
      select r.requested_by collate "C", 'operator ' || o.name
      from access_requests r join operators o on o.operator_id = r.operator_id
      where r.outcome = 'APPROVED' and r.decided_at > (select at from since)),
    of_requester (who) as (
      select requester collate "C" union select e.who from armed e join of_requester r on e.by = r.who),
    of_approver (who) as (
      select approver collate "C" union select e.who from armed e join of_approver r on e.by = r.who)
    select case
      when requester = approver then 'same_person'
      when exists (select from of_requester where who = approver) then 'armed_by_requester'
      when exists (select from of_approver where who = requester) then 'armed_requester' end
  $$;

-- Whether a person, as the audit names them, may do what a permission is for: an operator who was disabled meanwhile, or lost
-- the right, requests and approves nothing any more. Who is no operator of this installation has no right here to lose.
create function may_act(who text, permission text) returns boolean
  language sql stable security definer set search_path = svc, pg_temp
  as $$
    select not exists (
      select from operators o
      where who like 'operator %' and o.name = substr(who, 10) collate "C" and (o.disabled_at is not null
        or o.role <> 'admin' and not (o.role in ('operator', permission) and permission in ('finance', 'operations'))))
  $$;

-- Whether it is a person who may decide about money: in live mode an operator, whichever login says who acts.
create function is_operator(who text) returns boolean
  language sql stable security definer set search_path = svc, pg_temp
  as $$
    select not l.administrators_by_two or exists (select from operators o where who = 'operator ' || o.name)
    from approval_limit l
  $$;

-- A link to a member ends with the rights of who made it: an operator, or an administrator of the tenant.
create function link_holds(tenant text, made_by text) returns boolean
  language sql stable security definer set search_path = svc, pg_temp
  as $$
    select may_act(made_by, 'operations') and not exists (
      select from members m where m.tenant_id = tenant and made_by like 'member %' and m.name = substr(made_by, 8) collate "C"
        and (m.disabled_at is not null or m.role <> 'admin'))
  $$;

create function require_second_administrator() returns trigger
  language plpgsql security definer set search_path = svc, pg_temp
  as $$
  declare
    needed text := case when new.kind like 'member\_%' then 'operations' else 'administer' end;
  begin
    if second_person_problem(new.requested_by, new.decided_by) is not null
      or not may_act(new.requested_by, needed) or not may_act(new.decided_by, needed)
    then
      raise exception '% is no second person beside %', new.decided_by, new.requested_by
        using errcode = 'integrity_constraint_violation', constraint = 'approved_by_a_second_person', table = tg_table_name;
    end if;
    return null;
  end $$;
create trigger approved_by_a_second_person after insert or update of outcome, decided_by on access_requests
  for each row when (new.outcome = 'APPROVED') execute function require_second_administrator();

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
create function end_all_access() returns void
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

revoke execute on all functions in schema svc from public;
grant execute on function second_person_problem, may_act to svc_service, svc_operator;
grant execute on function directory_members, link_holds to svc_service;
