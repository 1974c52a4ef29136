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
  constraint links_expire check ((link_digest is null) = (link_expires_at is null)),
  constraint member_named_once unique (tenant_id, name)
);
create index members_by_name on members (name);
alter table members add primary key (tenant_id, member_id);
create constraint trigger audited after insert or update or delete on members deferrable initially deferred
  for each row execute function audit_change('member', 'member_id', 'tenant_id', 'name,role,disabled_at,link_expires_at');
select secure_tenants('members', 'tenant_id');
grant select, insert, update on members to svc_service, svc_operator;

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
  constraint session_of_a_member foreign key (tenant_id, member_id) references members (tenant_id, member_id)
);
create index member_sessions_of on member_sessions (tenant_id, member_id);
alter table member_sessions add primary key (tenant_id, digest);
select secure_tenants('member_sessions', 'tenant_id');
grant select, insert, update, delete on member_sessions to svc_service, svc_operator;

-- Members administrate the keys of their tenant.
grant insert on api_keys to svc_service;
grant update (revoked_at) on api_keys to svc_service;
grant insert on oauth_clients to svc_service;
grant update (revoked_at) on oauth_clients to svc_service;

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

-- What a member does through a command: the service's role enters it for a tenant of its transaction, and never in
-- the name of an operator.
create function append_member_audit(
  member text, action text, target text, tenant_id text, request_id text, details jsonb, at timestamptz) returns bigint
  language plpgsql volatile security definer set search_path = svc, pg_temp
  as $$
  begin
    if tenant_id is null or array_position(current_tenants(), tenant_id) is null then
      raise exception 'the audit of a tenant is entered by its own requests' using errcode = 'insufficient_privilege';
    end if;
    return append_entry('member ' || member, action, target, tenant_id, request_id, details, at);
  end $$;

-- As before; and in a transaction of a member, the change is that member's.
create or replace function audit_change() returns trigger
  language plpgsql volatile security definer set search_path = svc, pg_temp
  as $$
  declare
    before  jsonb := case when tg_op <> 'INSERT' then to_jsonb(old) end;
    after   jsonb := case when tg_op <> 'DELETE' then to_jsonb(new) end;
    subject jsonb := coalesce(after, before);
    tenant  text := subject ->> tg_argv[2];
    actor   text;
    acted   jsonb;
    shown   jsonb;
    verb    text;
  begin
    select jsonb_object_agg(name, coalesce(after, before) -> name) into shown
      from unnest(string_to_array(tg_argv[3], ',')) as name
      where tg_op <> 'UPDATE' or after -> name is distinct from before -> name;
    if shown is null then
      return null;
    end if;
    verb := case
      when tg_op = 'INSERT' then 'created'
      when tg_op = 'DELETE' then 'deleted'
      when shown ->> 'revoked_at' is not null then 'revoked'
      when shown ->> 'accepted_at' is not null then 'accepted'
      when shown ->> 'retired_at' is not null then 'retired'
      when shown ->> 'disabled_at' is not null then 'disabled'
      when shown ? 'disabled_at' then 'enabled'
      else 'changed' end;
    if acts_for_operators() then
      actor := nullif(current_setting('svc.actor', true), '');
      acted := nullif(current_setting('svc.acted', true), '')::jsonb;
      acted := coalesce(acted -> (subject ->> tg_argv[1]), acted -> (subject ->> 'endpoint_id'));
    end if;
    perform append_entry(
      coalesce(actor, acted ->> 'actor',
        case when coalesce(current_setting('svc.tenants', true), '') <> '' then
          coalesce('member ' || nullif(current_setting('svc.member', true), ''), 'tenant ' || tenant) end,
        'role ' || session_user),
      tg_argv[0] || '.' || verb, subject ->> tg_argv[1], tenant,
      coalesce(nullif(current_setting('svc.request_id', true), ''), acted ->> 'requestId'), shown, clock_timestamp());
    return null;
  end $$;

revoke execute on all functions in schema svc from public;
grant execute on function directory_members, append_member_audit to svc_service;
