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
grant select, insert, update, delete on member_totp to svc_service;
grant select, delete on member_totp to svc_operator;

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
grant select, insert, update, delete on member_recovery_codes to svc_service;
grant select, delete on member_recovery_codes to svc_operator;

-- When the person last proved who they are, by default at the beginning of the session, and with what; the version
-- before knew passwords alone.
alter table member_sessions add column authenticated_at timestamptz;
alter table member_sessions add column factors text[] not null default '{password}';
