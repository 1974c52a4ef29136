-- People who use the console (decision O2). Only `svc_operator` sees them: no request of a tenant reads this table.
create table operators (
  operator_id     text collate "C" not null,
  name            text collate "C" not null unique check (name ~ '^[a-z0-9][a-z0-9._@-]{1,63}$'),
  role            text not null check (role in ('viewer', 'operator', 'admin')),
  -- argon2id in its own notation; null for the sandbox's one-click administrator, who has none
  password_hash   text,
  created_at      timestamptz not null,
  disabled_at     timestamptz,
  last_sign_in_at timestamptz
);
alter table operators add primary key (operator_id);
create constraint trigger audited after insert or update or delete on operators deferrable initially deferred
  for each row execute function audit_change('operator', 'operator_id', '', 'name,role,disabled_at');
grant select, insert, update on operators to svc_operator;

-- People who are to become operators (decision O2): the link that they get has a token of which this is a keyed digest.
create table operator_invitations (
  invitation_id text collate "C" not null,
  name          text collate "C" not null check (name ~ '^[a-z0-9][a-z0-9._@-]{1,63}$'),
  role          text not null check (role in ('viewer', 'operator', 'admin')),
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
  operator_id   text collate "C" unique references operators,
  check ((accepted_at is null) = (operator_id is null)),
  check (accepted_at is null or revoked_at is null),
  check (accepted_at < expires_at)
);
alter table operator_invitations add primary key (invitation_id);
create unique index operator_invitations_open on operator_invitations (name)
  where accepted_at is null and revoked_at is null;
create constraint trigger audited after insert or update or delete on operator_invitations deferrable initially deferred
  for each row execute function audit_change('invitation', 'invitation_id', '', 'name,role,expires_at,accepted_at,revoked_at');
grant select, insert, update on operator_invitations to svc_operator;

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
grant select, insert, update, delete on operator_passkeys to svc_operator;

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
grant select, insert, update, delete on operator_totp to svc_operator;

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
grant select, insert, update, delete on operator_recovery_codes to svc_operator;

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
  -- for its operator, who sees where they are signed in: an id that signs in nowhere, and from where the session began
  session_id text collate "C" not null unique,
  address    text not null,
  user_agent text not null check (length(user_agent) <= 256)
);
create index operator_sessions_of on operator_sessions (operator_id);
create index operator_sessions_by_age on operator_sessions (expires_at);
alter table operator_sessions add primary key (digest);
grant select, insert, update, delete on operator_sessions to svc_operator;

-- Long checks that the console starts in the background: the books, the audit chain.
create table console_checks (
  check_id    bigint generated always as identity,
  kind        text not null check (kind in ('ledger', 'audit')),
  started_at  timestamptz not null,
  started_by  text not null,
  finished_at timestamptz,
  result      jsonb,
  -- why it was aborted
  problem     text
);
create index console_checks_latest on console_checks (kind, check_id);
alter table console_checks add primary key (check_id);
grant select, insert, update, delete on console_checks to svc_operator;

-- What happened in each minute, summed over all processes. No tenant and no id: figures for the overview.
create table minute_sums (
  minute timestamptz not null,
  -- `request`, `failure <error code>`, `event <type>`
  what   text collate "C" not null,
  count  bigint not null,
  -- in paise, of events that carry money
  amount bigint not null default 0,
  primary key (minute, what)
);
grant select, insert, update on minute_sums to svc_service;
grant select on minute_sums to svc_operator;

-- The request log (decision O4): written in the background, kept for days, never needed by a request. Ids of requests
-- sort by time. `tenant_id` is `house` where the request was not authenticated.
create table request_log (
  request_id  text collate "C" not null,
  tenant_id   text collate "C" not null,
  at          timestamptz not null,
  operation   text collate "C" not null,
  kind        text not null check (kind in ('command', 'read')),
  method      text not null,
  path        text not null,
  status      smallint not null,
  duration_ms real not null,
  error       text collate "C",
  description text,
  address     text not null,
  body_bytes  integer not null,
  -- by the schema of the operation, personal data masked; no secret, no ciphertext
  body        jsonb,
  -- of an encrypted body: kid, alg, enc, and which check failed
  jwe         jsonb,
  -- ids that it named or created
  objects     text[] not null,
  -- of its trace, while traces are exported
  trace_id    text check (trace_id ~ '^[0-9a-f]{32}$')
) partition by range (request_id);
create index request_log_by_id on request_log (request_id);
create index request_log_of_operation on request_log (operation, request_id);
create index request_log_of_object on request_log using gin (objects);
create index request_log_failures on request_log (request_id) where error is not null;
create index request_log_by_error on request_log (error, request_id) where error is not null;
create index request_log_failures_of_tenant on request_log (tenant_id, request_id) where error is not null;
create index request_log_failures_of_operation on request_log (operation, error, request_id) where error is not null;
alter table request_log add primary key (tenant_id, request_id);
-- An operation has few of all errors: taken for independent, they look like thousands of rows.
create statistics request_log_operation_error (mcv) on operation, error from request_log;
create table request_log_default partition of request_log default;
alter table request_log_default enable row level security;
insert into partitioned_tables (name, id_column, id_prefix, days, ahead, retention)
  values ('request_log', 'request_id', 'req_', 1, 7, 'request_log');
select add_partition('request_log', partition_day(now(), 1) + i) from generate_series(0, 7) i;
select secure_tenants('request_log', 'tenant_id');
grant select, insert on request_log to svc_service;
grant select on request_log to svc_operator;

-- Until when the row limit of the request log deleted entries that were younger than the retention (decision O4).
create table request_log_cut (
  one boolean primary key default true check (one),
  at  timestamptz not null
);
grant select on request_log_cut to svc_service, svc_operator;

-- Old entries go with their partition (decision X26), here only those without one. Rows beyond the stored limit are
-- counted here again, so more of them are deleted in one call; entries that only the row limit deletes are noted.
create function forget_requests(before_id text, excess bigint) returns bigint
  language sql volatile security definer set search_path = svc, pg_temp
  as $$
    with beyond as materialized (
      select case when excess > 0 then least(excess, coalesce((select count(*) from request_log) - r.rows, 0)) else 0 end
        as rows
      from retention r where r.what = 'request_log'
    ), ranked as (
      select r.tenant_id, r.request_id, row_number() over (order by r.request_id) as n,
        r.tableoid = 'request_log_default'::regclass and r.request_id < before_id
          and r.at < (select retained_since('request_log')) as is_old
      from (
        (select tableoid, tenant_id, request_id, at from request_log where excess > 0 order by request_id limit 20000)
        union
        (select tableoid, tenant_id, request_id, at from request_log_default order by request_id limit 5000)) r
    ), gone as (
      delete from request_log l using ranked r
      where l.tenant_id = r.tenant_id and l.request_id = r.request_id and (r.is_old or r.n <= (select rows from beyond))
      returning l.at, r.is_old
    ), noted as (
      insert into request_log_cut (at)
        select max(g.at) from gone g where not g.is_old having count(*) > 0
      on conflict (one) do update set at = greatest(request_log_cut.at, excluded.at)
    )
    select count(*) from gone
  $$;

create function forget_minutes(before timestamptz) returns bigint
  language sql volatile security definer set search_path = svc, pg_temp
  as $$
    with gone as (
      delete from minute_sums where minute < least(before, (select retained_since('minute_sums'))) returning 1)
    select count(*) from gone
  $$;

create function count_requests() returns bigint
  language sql stable security definer set search_path = svc, pg_temp
  as $$ select count(*) from request_log $$;

revoke execute on all functions in schema svc from public;
grant execute on function forget_requests, forget_minutes, count_requests to svc_service;
