-- What a token needs to be told of an API key, in one look-up. `directory_api_keys` stays for processes of the version
-- before, which may still run while this one is installed.
create function directory_key_holders(digests bytea[])
  returns table (digest bytea, api_key_id text, tenant_id text, access_key text, usable boolean)
  language sql stable security definer set search_path = svc
  as $$
    select k.digest, k.api_key_id, k.tenant_id, m.access_key, k.revoked_at is null and t.disabled_at is null
    from api_keys k join tenants t using (tenant_id) left join merchants m on m.merchant_id = k.tenant_id
    where k.digest = any (digests)
  $$;
revoke execute on function directory_key_holders from public;
grant execute on function directory_key_holders to svc_service, svc_operator;
