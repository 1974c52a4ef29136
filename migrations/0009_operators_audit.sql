-- People who use the console (decision O2). Only `svc_operator` sees them: no request of a tenant comes near.
create table operators (
  operator_id     text collate "C" primary key,
  name            text collate "C" not null unique check (name ~ '^[a-z0-9][a-z0-9._@-]{1,63}$'),
  role            text not null check (role in ('viewer', 'operator', 'admin')),
  -- argon2id in its own notation; null for the sandbox's one-click administrator, who has none
  password_hash   text,
  created_at      timestamptz not null,
  disabled_at     timestamptz,
  last_sign_in_at timestamptz
);

-- Who is signed in. Read with every request, so that a session that ends here ends in every process at once.
create table operator_sessions (
  digest      bytea primary key,
  operator_id text collate "C" not null references operators,
  created_at  timestamptz not null,
  seen_at     timestamptz not null,
  expires_at  timestamptz not null
);
create index operator_sessions_of on operator_sessions (operator_id);
create index operator_sessions_by_age on operator_sessions (expires_at);
grant select, insert, update on operators to svc_operator;
grant select, insert, update, delete on operator_sessions to svc_operator;

-- Who did what (decision O3). `content` is the whole entry as it was hashed; the columns beside it are made from it,
-- so that none of them can say anything else.
create table audit_log (
  sequence      bigint primary key,
  content       text not null,
  previous_hash bytea not null,
  hash          bytea not null,
  at_ms         bigint generated always as ((content::jsonb ->> 'at')::bigint) stored,
  actor         text generated always as (content::jsonb ->> 'actor') stored,
  action        text generated always as (content::jsonb ->> 'action') stored,
  target        text generated always as (content::jsonb ->> 'target') stored,
  tenant_id     text generated always as (content::jsonb ->> 'tenantId') stored
);
create index audit_log_by_time on audit_log (at_ms);
create index audit_log_by_actor on audit_log (actor, sequence);
create index audit_log_by_action on audit_log (action, sequence);
create index audit_log_by_target on audit_log (target, sequence);
create index audit_log_by_tenant on audit_log (tenant_id, sequence);
alter table audit_log enable row level security;
create policy tenant on audit_log to svc_service using (tenant_id = any ((select current_tenants())::text[]));
create policy operator on audit_log to svc_operator using (true);
grant select on audit_log to svc_service, svc_operator;

create function refuse_change() returns trigger
  language plpgsql set search_path = svc
  as $$ begin raise exception '% is append-only', tg_table_name; end $$;
create trigger append_only before update or delete on audit_log for each row execute function refuse_change();
create trigger append_only_whole before truncate on audit_log for each statement execute function refuse_change();

-- Chained by SHA-256 over the hash before and the entry. One writer at a time, from here to its COMMIT: to be called
-- when all other locks of the transaction are held, so that nobody waits for anybody in a circle.
create function append_audit(
  actor text, action text, target text, tenant_id text, request_id text, details jsonb, at timestamptz)
  returns bigint
  language plpgsql volatile security definer set search_path = svc
  as $$
  declare
    former audit_log;
    number bigint;
    entry  text;
  begin
    perform pg_advisory_xact_lock(hashtext('svc audit'));
    select * into former from audit_log l order by l.sequence desc limit 1;
    number := coalesce(former.sequence, 0) + 1;
    former.hash := coalesce(former.hash, decode(repeat('00', 32), 'hex'));
    entry := jsonb_strip_nulls(jsonb_build_object(
      'sequence', number, 'at', floor(extract(epoch from at) * 1000)::bigint, 'actor', actor, 'action', action,
      'target', target, 'tenantId', tenant_id, 'requestId', request_id, 'details', details))::text;
    insert into audit_log (sequence, content, previous_hash, hash)
      values (number, entry, former.hash, sha256(former.hash || convert_to(entry, 'UTF8')));
    return number;
  end $$;

-- Changes of what decides who may do what are audited here, whoever makes them and by whatever way, `psql` included:
-- nobody has to remember. Arguments: what it is called, its id, its tenant, and the columns that may be shown.
-- Who did it is what the transaction says of itself, else the tenant that it serves, else the role of the connection.
create function audit_change() returns trigger
  language plpgsql volatile security definer set search_path = svc
  as $$
  declare
    before  jsonb := case when tg_op <> 'INSERT' then to_jsonb(old) end;
    after   jsonb := case when tg_op <> 'DELETE' then to_jsonb(new) end;
    subject jsonb := coalesce(after, before);
    tenant  text := subject ->> tg_argv[2];
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
      when shown ->> 'retired_at' is not null then 'retired'
      when shown ->> 'disabled_at' is not null then 'disabled'
      when shown ? 'disabled_at' then 'enabled'
      else 'changed' end;
    perform append_audit(
      coalesce(nullif(current_setting('svc.actor', true), ''),
        case when coalesce(current_setting('svc.tenants', true), '') <> '' then 'tenant ' || tenant end,
        'role ' || session_user),
      tg_argv[0] || '.' || verb, subject ->> tg_argv[1], tenant,
      nullif(current_setting('svc.request_id', true), ''), shown, clock_timestamp());
    return null;
  end $$;

-- At the end of the transaction, when all its other locks are held.
do $$
declare
  audited record;
begin
  for audited in select * from (values
    ('tenants', 'update', 'tenant', 'tenant_id', 'tenant_id', 'disabled_at'),
    ('merchants', 'insert or update or delete', 'merchant', 'merchant_id', 'merchant_id', 'name,vpa,mcc'),
    ('partners', 'insert or update or delete', 'partner', 'partner_id', 'partner_id', 'name,products,plain_requests'),
    ('api_keys', 'insert or update or delete', 'api_key', 'api_key_id', 'tenant_id', 'name,prefix,revoked_at'),
    ('oauth_clients', 'insert or update or delete', 'oauth_client', 'client_id', 'tenant_id', 'name,revoked_at'),
    ('partner_seal_keys', 'insert or update or delete', 'seal_key', 'kid', 'partner_id', 'kind,alg,retired_at'),
    ('companies', 'insert or update or delete', 'company', 'company_id', 'partner_id', 'name'),
    ('card_accounts', 'insert or update or delete', 'card_account', 'card_account_id', 'partner_id',
      'company_id,product,account_type,programme,denomination_paise'),
    ('webhook_endpoints', 'insert or update or delete', 'webhook_endpoint', 'endpoint_id', 'tenant_id',
      'types,enabled,disabled_reason,modified_at'),
    ('webhook_secrets', 'insert or delete', 'webhook_secret', 'secret_id', 'tenant_id', 'endpoint_id'),
    ('keyring', 'insert or update or delete', 'data_key', 'key_id', '', 'purpose,retired_at'),
    ('operators', 'insert or update or delete', 'operator', 'operator_id', '', 'name,role,disabled_at')
  ) as t (name, events, noun, id, tenant, shown)
  loop
    execute format(
      'create constraint trigger audited after %s on %I deferrable initially deferred for each row
       execute function audit_change(%L, %L, %L, %L)',
      audited.events, audited.name, audited.noun, audited.id, audited.tenant, audited.shown);
  end loop;
end $$;
-- Holders that card orders bring along are no administration; those whom somebody registers are.
create constraint trigger audited after insert on users deferrable initially deferred for each row
  when (coalesce(current_setting('svc.actor', true), '') <> '')
  execute function audit_change('user', 'user_id', 'partner_id', 'company_id');

-- The end of the chain, for the anchor that every process writes to its log.
create function audit_head()
  returns table (sequence bigint, hash bytea)
  language sql stable security definer set search_path = svc
  as $$ select l.sequence, l.hash from audit_log l order by l.sequence desc limit 1 $$;

revoke execute on function append_audit, audit_change, refuse_change, audit_head from public;
grant execute on function append_audit, audit_head to svc_service, svc_operator;
