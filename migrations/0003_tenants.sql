-- Who exists. Outside the tenants' policy: it is read before any tenant is known.
create table tenants (
  tenant_id   text collate "C" primary key,
  kind        text not null check (kind in ('house', 'merchant', 'partner')),
  created_at  timestamptz not null,
  disabled_at timestamptz
);
create constraint trigger audited after update on tenants deferrable initially deferred
  for each row execute function audit_change('tenant', 'tenant_id', 'tenant_id', 'disabled_at');
grant select on tenants to svc_service;
grant select, insert, update on tenants to svc_operator;
-- The company that runs the service: it has what belongs to no tenant, such as credits for codes that never existed.
insert into tenants values ('house', 'house', now(), null);

-- The sandbox alone: tenants whose time is ahead of the service's.
create table test_clocks (
  tenant_id text collate "C" not null references tenants,
  ahead_ms  bigint not null check (ahead_ms > 0)
);
alter table test_clocks add primary key (tenant_id);
select secure_tenants('test_clocks', 'tenant_id');
grant select, insert, update on test_clocks to svc_service;
grant select on test_clocks to svc_operator;

create function directory_test_clocks() returns table (tenant_id text, ahead_ms bigint)
  language sql stable security definer set search_path = svc, pg_temp
  as $$ select c.tenant_id, c.ahead_ms from test_clocks c order by c.tenant_id $$;

create table merchants (
  merchant_id text collate "C" not null references tenants,
  name        text not null,
  vpa         text not null unique,
  mcc         text not null check (mcc ~ '^[0-9]{4}$'),
  access_key  text not null unique,
  created_at  timestamptz not null,
  -- The partner whose coin configurations the merchant reads (decision K4).
  linked_partner_id text collate "C" references tenants,
  constraint linked_tenant_is_a_partner check (linked_partner_id like 'par\_%')
);
-- Prefixes of names and addresses, which the console searches by, are compared bytewise.
create index merchants_by_name on merchants ((lower(name) collate "C"), merchant_id);
create index merchants_by_word on merchants using gin (to_tsvector('simple', name));
create index merchants_by_vpa on merchants ((lower(vpa) collate "C"));
alter table merchants add primary key (merchant_id);
create constraint trigger audited after insert or update or delete on merchants deferrable initially deferred
  for each row execute function audit_change('merchant', 'merchant_id', 'merchant_id', 'name,vpa,mcc,linked_partner_id');
select secure_tenants('merchants', 'merchant_id');

grant select on merchants to svc_service;
grant select, insert, update on merchants to svc_operator;

-- Only a keyed digest of an API key is stored (decision A5); the prefix is for people and secret scanners.
create table api_keys (
  api_key_id text collate "C" not null,
  tenant_id  text collate "C" not null references tenants,
  name       text not null,
  prefix     text not null,
  digest     bytea not null unique,
  created_at timestamptz not null,
  revoked_at timestamptz
);
alter table api_keys add primary key (tenant_id, api_key_id);
create index api_keys_by_id on api_keys (api_key_id);
create index api_keys_revoked on api_keys (revoked_at) where revoked_at is not null;
create constraint trigger audited after insert or update or delete on api_keys deferrable initially deferred
  for each row execute function audit_change('api_key', 'api_key_id', 'tenant_id', 'name,prefix,revoked_at');
select secure_tenants('api_keys', 'tenant_id');
grant select on api_keys to svc_service;
grant select, insert, update on api_keys to svc_operator;

create table partners (
  partner_id text collate "C" not null references tenants,
  name       text not null,
  products   text[] not null check (products <@ array['incentive', 'employee_rewards'] and cardinality(products) > 0),
  -- Sandbox only (decision C2): accepts requests that are not encrypted.
  plain_requests boolean not null default false,
  created_at timestamptz not null
);
create index partners_by_name on partners ((lower(name) collate "C"), partner_id);
create index partners_by_word on partners using gin (to_tsvector('simple', name));
alter table partners add primary key (partner_id);
create constraint trigger audited after insert or update or delete on partners deferrable initially deferred
  for each row execute function audit_change('partner', 'partner_id', 'partner_id', 'name,products,plain_requests');
select secure_tenants('partners', 'partner_id');
grant select on partners to svc_service;
grant select, insert, update on partners to svc_operator;

-- OAuth clients of partners. Only a keyed digest of the secret is stored.
create table oauth_clients (
  client_id     text collate "C" not null unique,
  tenant_id     text collate "C" not null references tenants,
  name          text not null,
  secret_digest bytea not null,
  created_at    timestamptz not null,
  revoked_at    timestamptz
);
create index oauth_clients_revoked on oauth_clients (revoked_at) where revoked_at is not null;
alter table oauth_clients add primary key (tenant_id, client_id);
create constraint trigger audited after insert or update or delete on oauth_clients deferrable initially deferred
  for each row execute function audit_change('oauth_client', 'client_id', 'tenant_id', 'name,revoked_at');
select secure_tenants('oauth_clients', 'tenant_id');
grant select on oauth_clients to svc_service;
grant select, insert, update on oauth_clients to svc_operator;

-- Keys that a partner and the service share (A256KW), encrypted under the keyring, and public keys that partners
-- registered for encrypted responses.
create table partner_encryption_keys (
  kid        text collate "C" not null,
  partner_id text collate "C" not null references partners,
  kind       text not null check (kind in ('shared', 'public')),
  alg        text not null,
  -- 'shared': the 32 bytes, encrypted; 'public': the JWK as text
  material   bytea not null,
  created_at timestamptz not null,
  retired_at timestamptz,
  primary key (partner_id, kid)
);
create constraint trigger audited after insert or update or delete on partner_encryption_keys deferrable initially deferred
  for each row execute function audit_change('encryption_key', 'kid', 'partner_id', 'kind,alg,retired_at');
select secure_tenants('partner_encryption_keys', 'partner_id');
grant select on partner_encryption_keys to svc_service;
grant select, insert, update on partner_encryption_keys to svc_operator;

create table companies (
  company_id text collate "C" not null,
  partner_id text collate "C" not null references partners,
  name       text not null,
  created_at timestamptz not null
);
create index companies_by_id on companies (company_id);
create index companies_by_name on companies ((lower(name) collate "C"), company_id);
create index companies_by_word on companies using gin (to_tsvector('simple', name));
alter table companies add primary key (partner_id, company_id);
create constraint trigger audited after insert or update or delete on companies deferrable initially deferred
  for each row execute function audit_change('company', 'company_id', 'partner_id', 'name');
select secure_tenants('companies', 'partner_id');
grant select, insert, update (name) on companies to svc_service;
grant select, insert, update on companies to svc_operator;

create table users (
  user_id      text collate "C" not null,
  partner_id   text collate "C" not null,
  company_id   text collate "C" not null,
  email        text,
  mobile       text,
  title        text,
  first_name   text,
  middle_name  text,
  last_name    text,
  gender       text,
  special_date text,
  tax_pan      text,
  created_at   timestamptz not null,
  -- `lower` is not leakproof, so row-level security would keep a lookup from using an index on it.
  email_key    text collate "C" generated always as (lower(email collate "C")) stored,
  constraint company_is_the_partners foreign key (partner_id, company_id) references companies (partner_id, company_id)
);
alter table users add primary key (partner_id, user_id);
create index users_by_id on users (user_id);
create unique index users_by_mobile on users (company_id, mobile) where mobile is not null;
create unique index users_by_email on users (company_id, email_key) where email_key is not null;
create index users_by_mobile_alone on users (mobile) where mobile is not null;
create index users_by_email_alone on users (email_key) where email_key is not null;
-- On an expression, so that no lookup by company and something else uses it in place of the right key (decision X8).
create index users_of_company_listed on users ((company_id || ''), user_id);
-- Holders that card orders bring along are no administration; those whom somebody registers are.
create constraint trigger audited after insert on users deferrable initially deferred for each row
  when (coalesce(current_setting('svc.actor', true), '') <> '')
  execute function audit_change('user', 'user_id', 'partner_id', 'company_id');
select secure_tenants('users', 'partner_id');
grant select, insert on users to svc_service;
grant update (email, mobile, title, first_name, middle_name, last_name, gender, special_date) on users to svc_service;
grant select, insert, update on users to svc_operator;

-- Lookups before a tenant is known, by exact secret or reference only: nothing can be listed with them (decision X4).
create function directory_key_holders(digests bytea[])
  returns table (digest bytea, api_key_id text, tenant_id text, access_key text, usable boolean)
  language sql stable security definer set search_path = svc, pg_temp
  as $$
    select k.digest, k.api_key_id, k.tenant_id, m.access_key, k.revoked_at is null and t.disabled_at is null
    from api_keys k join tenants t using (tenant_id) left join merchants m on m.merchant_id = k.tenant_id
    where k.digest = any (digests)
  $$;

create function directory_access_keys(keys text[]) returns table (access_key text, tenant_id text)
  language sql stable security definer set search_path = svc, pg_temp
  as $$
    select m.access_key, m.merchant_id from merchants m join tenants t on t.tenant_id = m.merchant_id
    where m.access_key = any (keys) and t.disabled_at is null
  $$;

create function directory_oauth_clients(client_ids text[])
  returns table (client_id text, secret_digest bytea, tenant_id text, usable boolean, products text[])
  language sql stable security definer set search_path = svc, pg_temp
  as $$
    select c.client_id, c.secret_digest, c.tenant_id, c.revoked_at is null and t.disabled_at is null, p.products
    from oauth_clients c join tenants t using (tenant_id) join partners p on p.partner_id = c.tenant_id
    where c.client_id = any (client_ids)
  $$;

-- Keys and tenants whose tokens are no longer accepted; earlier ones have no live tokens.
create function directory_revoked(since timestamptz) returns table (subject text)
  language sql stable security definer set search_path = svc, pg_temp
  as $$
    select api_key_id from api_keys where revoked_at >= since
    union all
    select client_id from oauth_clients where revoked_at >= since
    union all
    select tenant_id from tenants where disabled_at is not null
  $$;

revoke execute on all functions in schema svc from public;
-- The sandbox checks, as operator, whether the keys in sandbox.json still work.
grant execute on function directory_key_holders, directory_access_keys, directory_oauth_clients to svc_service, svc_operator;
grant execute on function directory_revoked, directory_test_clocks to svc_service;
