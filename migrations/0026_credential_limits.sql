-- From where a credential may be used, and for what (decision A16). Without a row, or with nulls, everywhere and for
-- everything.
create table credential_limits (
  tenant_id     text collate "C" not null references tenants,
  credential_id text collate "C" not null,
  -- in CIDR notation
  addresses     text[],
  scopes        text[],
  -- Rises with every change: a token names the one with which it was issued.
  revision      integer not null check (revision > 0),
  changed_at    timestamptz not null,
  constraint some_networks
    check (addresses is null or (cardinality(addresses) between 1 and 20 and addresses::cidr[] is not null)),
  constraint some_scopes check (cardinality(scopes) between 1 and 64)
);
create index credential_limits_by_age on credential_limits (changed_at);
alter table credential_limits add primary key (tenant_id, credential_id);
create constraint trigger audited after insert or update or delete on credential_limits deferrable initially deferred
  for each row execute function audit_change('credential_limits', 'credential_id', 'tenant_id', 'addresses,scopes');
select secure_tenants('credential_limits', 'tenant_id');
grant select, insert, update on credential_limits to svc_service, svc_operator;

-- The last time that a valid secret or token came from an address that its credential does not allow: one row, written
-- at most every five minutes. The audit of its tenant gets an entry with each write.
create table credential_refusals (
  tenant_id     text collate "C" not null references tenants,
  credential_id text collate "C" not null,
  address       text not null check (length(address) <= 64),
  refused_at    timestamptz not null
);
alter table credential_refusals add primary key (tenant_id, credential_id);
create constraint trigger audited after insert or update or delete on credential_refusals deferrable initially deferred
  for each row execute function audit_change('credential_refusal', 'credential_id', 'tenant_id', 'address,refused_at');
select secure_tenants('credential_refusals', 'tenant_id');
grant select, insert, update on credential_refusals to svc_service;
grant select on credential_refusals to svc_operator;

-- `directory_key_holders` and `directory_oauth_clients` with the limits. The version before calls those by themselves.
create function directory_api_keys(digests bytea[])
  returns table (digest bytea, api_key_id text, tenant_id text, access_key text, usable boolean,
    revision integer, addresses text[], scopes text[])
  language sql stable security definer set search_path = svc, pg_temp
  as $$
    select k.digest, k.api_key_id, k.tenant_id, k.access_key, k.usable, coalesce(l.revision, 0), l.addresses, l.scopes
    from directory_key_holders(digests) k
      left join credential_limits l on l.tenant_id = k.tenant_id and l.credential_id = k.api_key_id
  $$;

create function directory_clients(client_ids text[])
  returns table (client_id text, secret_digest bytea, tenant_id text, usable boolean,
    revision integer, addresses text[], scopes text[])
  language sql stable security definer set search_path = svc, pg_temp
  as $$
    select c.client_id, c.secret_digest, c.tenant_id, c.usable, coalesce(l.revision, 0), l.addresses, l.scopes
    from directory_oauth_clients(client_ids) c
      left join credential_limits l on l.tenant_id = c.tenant_id and l.credential_id = c.client_id
  $$;

-- What processes must know of credentials whose tokens live: those of `directory_revoked`, and, with a revision, those
-- whose limits changed.
create function directory_credential_changes(since timestamptz) returns table (subject text, revision integer)
  language sql stable security definer set search_path = svc, pg_temp
  as $$
    select r.subject, null::integer from directory_revoked(since) r
    union all
    select l.credential_id, l.revision from credential_limits l where l.changed_at >= since
  $$;

revoke execute on all functions in schema svc from public;
grant execute on function directory_api_keys, directory_clients, directory_credential_changes to svc_service;
