-- A credential that was replaced works until then, so that programs can change over (decision A15).
alter table api_keys add column expires_at timestamptz;
alter table oauth_clients add column expires_at timestamptz;
-- Members of tenants replace their own.
grant update (expires_at) on api_keys, oauth_clients to svc_service;
drop trigger audited on api_keys;
create constraint trigger audited after insert or update or delete on api_keys deferrable initially deferred
  for each row execute function audit_change('api_key', 'api_key_id', 'tenant_id', 'name,prefix,revoked_at,expires_at');
drop trigger audited on oauth_clients;
create constraint trigger audited after insert or update or delete on oauth_clients deferrable initially deferred
  for each row execute function audit_change('oauth_client', 'client_id', 'tenant_id', 'name,revoked_at,expires_at');

-- When a credential was used last, half a minute late at the most.
create table credential_uses (
  tenant_id     text collate "C" not null references tenants,
  credential_id text collate "C" not null,
  last_used_at  timestamptz not null,
  primary key (tenant_id, credential_id)
);
select secure_tenants('credential_uses', 'tenant_id');
grant select, insert, update on credential_uses to svc_service;
grant select on credential_uses to svc_operator;

create or replace function directory_key_holders(digests bytea[])
  returns table (digest bytea, api_key_id text, tenant_id text, access_key text, usable boolean)
  language sql stable security definer set search_path = svc, pg_temp
  as $$
    select k.digest, k.api_key_id, k.tenant_id, m.access_key,
      k.revoked_at is null and (k.expires_at is null or k.expires_at > clock_timestamp()) and t.disabled_at is null
    from api_keys k join tenants t using (tenant_id) left join merchants m on m.merchant_id = k.tenant_id
    where k.digest = any (digests)
  $$;

create or replace function directory_oauth_clients(client_ids text[])
  returns table (client_id text, secret_digest bytea, tenant_id text, usable boolean, products text[])
  language sql stable security definer set search_path = svc, pg_temp
  as $$
    select c.client_id, c.secret_digest, c.tenant_id,
      c.revoked_at is null and (c.expires_at is null or c.expires_at > clock_timestamp()) and t.disabled_at is null,
      p.products
    from oauth_clients c join tenants t using (tenant_id) join partners p on p.partner_id = c.tenant_id
    where c.client_id = any (client_ids)
  $$;

-- Keys and tenants whose tokens are no longer accepted; earlier ones have no live tokens.
create or replace function directory_revoked(since timestamptz) returns table (subject text)
  language sql stable security definer set search_path = svc, pg_temp
  as $$
    select api_key_id from api_keys where revoked_at >= since
    union all
    select client_id from oauth_clients where revoked_at >= since
    union all
    select api_key_id from api_keys where expires_at >= since and expires_at <= clock_timestamp()
    union all
    select client_id from oauth_clients where expires_at >= since and expires_at <= clock_timestamp()
    union all
    select tenant_id from tenants where disabled_at is not null
  $$;
