-- Merchants and partners, their credentials, and the companies and users of partners.

-- Merchants, who collect payments.
create table merchants (
  merchant_id text collate "C" not null references tenants,
  name        text not null,
  vpa         text not null unique,
  mcc         text not null check (mcc ~ '^[0-9]{4}$'),
  access_key  text not null unique,
  created_at  timestamptz not null,
  -- The partner whose coin configurations the merchant reads (decision K4).
  linked_partner_id text collate "C" references tenants,
  -- a new payment address, which waits
  next_vpa    text,
  -- when it takes the place of the present one
  next_vpa_from timestamptz,
  next_vpa_by text,
  -- payment addresses that it had before, in small letters: printed codes and late payments name them
  former_vpas text[] collate "C" not null default '{}',
  constraint linked_tenant_is_a_partner check (linked_partner_id like 'par\_%')
);
-- Prefixes of names and addresses, which the console searches by, are compared bytewise.
create index merchants_by_name on merchants ((lower(name) collate "C"), merchant_id);
create index merchants_by_word on merchants using gin (to_tsvector('simple', name));
create index merchants_by_vpa on merchants ((lower(vpa) collate "C"));
alter table merchants add primary key (merchant_id);
-- Those that wait are few: what is due is found without the others.
create unique index merchants_by_next_vpa on merchants ((lower(next_vpa collate "C"))) where next_vpa is not null;
create index merchants_by_former_vpa on merchants using gin (former_vpas);
create constraint trigger audited after insert or update or delete on merchants deferrable initially deferred
  for each row execute function audit_change('merchant', 'merchant_id', 'merchant_id',
    'name,vpa,mcc,linked_partner_id,next_vpa,next_vpa_from');
select secure_tenants('merchants', 'merchant_id');
-- The merchant takes back an address that waits.
grant select, update (next_vpa) on merchants to svc_service;
grant select, insert, update (name, vpa, mcc, linked_partner_id, next_vpa, next_vpa_from, next_vpa_by) on merchants
  to svc_operator;

-- Whoever changes the payment address of a merchant redirects its money (decision O8): a new address waits for as long as
-- `approval_limit` says, the merchant is notified, and until then anyone of both sides can take it back.
create function payment_address_waits() returns trigger
  language plpgsql set search_path = svc, pg_temp
  as $$
  begin
    if new.vpa is distinct from old.vpa then
      if old.next_vpa is distinct from new.vpa or old.next_vpa_from > clock_timestamp()
        or not may_act(old.next_vpa_by, 'operations') then
        raise exception 'a payment address changes when its waiting time is over'
          using errcode = 'integrity_constraint_violation', constraint = 'payment_address_waits', table = 'merchants';
      end if;
      new.next_vpa := null;
      new.former_vpas := array_remove(old.former_vpas, lower(old.vpa collate "C")) || lower(old.vpa collate "C");
    else
      new.former_vpas := old.former_vpas;
    end if;
    if new.next_vpa is null then
      new.next_vpa_from := null;
      new.next_vpa_by := null;
    elsif new.next_vpa is distinct from old.next_vpa then
      if not has_column_privilege('svc.merchants', 'name', 'update') then
        raise exception 'only operators enter a payment address' using errcode = 'insufficient_privilege';
      end if;
      new.next_vpa_from := clock_timestamp() + (select cooling_days from approval_limit) * interval '1 day';
      new.next_vpa_by := coalesce(nullif(current_setting('svc.actor', true), ''), 'role ' || session_user);
    else
      new.next_vpa_from := old.next_vpa_from;
      new.next_vpa_by := old.next_vpa_by;
    end if;
    return new;
  end $$;
create trigger payment_address_waits before update on merchants
  for each row execute function payment_address_waits();

-- A credit that fits no code is of the merchant whom the payer paid, in any case of letters: an address is one merchant's,
-- also one that waits, and for ever one that it had. Otherwise one person who registers another merchant with it gets what
-- is paid to the first, late or by a code that is printed (decision O8).
create function keep_addresses_apart() returns trigger
  language plpgsql security definer set search_path = svc, pg_temp
  as $$
  declare
    named text[] := array_remove(array[lower(new.vpa collate "C"), lower(new.next_vpa collate "C")], null);
  begin
    if tg_op = 'INSERT' then
      new.former_vpas := '{}';
    end if;
    perform pg_advisory_xact_lock(hashtextextended('svc payment addresses', 0));
    if exists (select from merchants m where m.merchant_id <> new.merchant_id
      and (lower(m.vpa collate "C") = any (named) or lower(m.next_vpa collate "C") = any (named) or m.former_vpas && named))
      or exists (select from moved_references r
        where r.what = 'vpa' and r.reference = any (named) and r.tenant_id <> new.merchant_id)
    then
      raise exception 'another merchant has this payment address, waits for it or had it'
        using errcode = 'unique_violation', constraint = tg_name, table = tg_table_name;
    end if;
    return new;
  end $$;
create trigger addresses_are_apart before insert on merchants for each row execute function keep_addresses_apart();
create trigger next_addresses_are_apart before update on merchants for each row
  when (new.next_vpa is distinct from old.next_vpa and new.next_vpa is not null) execute function keep_addresses_apart();

-- Only a keyed digest of an API key is stored (decision A5); the prefix is for people and secret scanners.
create table api_keys (
  api_key_id text collate "C" not null,
  tenant_id  text collate "C" not null references tenants,
  name       text not null,
  prefix     text not null,
  digest     bytea not null unique,
  created_at timestamptz not null,
  revoked_at timestamptz,
  -- A credential that was replaced works until then, so that programs can change over (decision A15).
  expires_at timestamptz
);
alter table api_keys add primary key (tenant_id, api_key_id);
create index api_keys_by_id on api_keys (api_key_id);
create index api_keys_revoked on api_keys (revoked_at) where revoked_at is not null;
create index api_keys_expiring on api_keys (expires_at) where expires_at is not null;
create constraint trigger audited after insert or update or delete on api_keys deferrable initially deferred
  for each row execute function audit_change('api_key', 'api_key_id', 'tenant_id', 'name,prefix,revoked_at,expires_at');
select secure_tenants('api_keys', 'tenant_id');
-- Members administrate the keys of their tenant.
grant select, insert, update (revoked_at, expires_at) on api_keys to svc_service;
grant select, insert, update (revoked_at, expires_at) on api_keys to svc_operator;

-- Partners, who issue cards and award coins.
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
grant select, insert, update (name) on partners to svc_operator;

-- OAuth clients of partners. Only a keyed digest of the secret is stored.
create table oauth_clients (
  client_id     text collate "C" not null unique,
  tenant_id     text collate "C" not null references tenants,
  name          text not null,
  secret_digest bytea not null,
  created_at    timestamptz not null,
  revoked_at    timestamptz,
  expires_at    timestamptz
);
create index oauth_clients_revoked on oauth_clients (revoked_at) where revoked_at is not null;
alter table oauth_clients add primary key (tenant_id, client_id);
create index oauth_clients_expiring on oauth_clients (expires_at) where expires_at is not null;
create constraint trigger audited after insert or update or delete on oauth_clients deferrable initially deferred
  for each row execute function audit_change('oauth_client', 'client_id', 'tenant_id', 'name,revoked_at,expires_at');
select secure_tenants('oauth_clients', 'tenant_id');
grant select, insert, update (revoked_at, expires_at) on oauth_clients to svc_service;
grant select, insert, update (revoked_at, expires_at) on oauth_clients to svc_operator;

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
-- A new data key encrypts a shared key again. What a partner's responses are encrypted to stays: under another public key
-- its cards would be read by others.
create function keep_public_key() returns trigger
  language plpgsql set search_path = svc, pg_temp
  as $$
  begin
    raise exception 'a public key is not changed: another one is registered'
      using errcode = 'integrity_constraint_violation', constraint = tg_name, table = tg_table_name;
  end $$;
create trigger public_keys_stay before update of material on partner_encryption_keys for each row
  when (old.kind = 'public' and new.material is distinct from old.material) execute function keep_public_key();
create constraint trigger material_audited after update of material on partner_encryption_keys deferrable initially deferred
  for each row when (new.material is distinct from old.material)
  execute function audit_secret('encryption_key.changed', 'kid', 'partner_id', 'encryption_key.changed');
-- The shared key is issued by the request that opens a link (`handovers`), of that tenant alone.
-- Members end them, too.
grant select, insert, update (retired_at) on partner_encryption_keys to svc_service;
grant select, insert, update (material, retired_at) on partner_encryption_keys to svc_operator;

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
grant select, insert, update (addresses, scopes, revision, changed_at) on credential_limits to svc_service;
grant select, insert, update on credential_limits to svc_operator;

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
grant select, insert, update (address, refused_at) on credential_refusals to svc_service;
grant select on credential_refusals to svc_operator;

-- When a credential was used last, half a minute late at the most.
create table credential_uses (
  tenant_id     text collate "C" not null references tenants,
  credential_id text collate "C" not null,
  last_used_at  timestamptz not null,
  primary key (tenant_id, credential_id)
);
select secure_tenants('credential_uses', 'tenant_id');
grant select, insert, update (last_used_at) on credential_uses to svc_service;
grant select on credential_uses to svc_operator;

-- Companies of partners, whose users get cards and coins.
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

-- People of a company: holders of cards, owners of coins. Personal data.
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
  -- When its personal data was erased (decision C23). The row stays: cards, coins and the ledger refer to it.
  erased_at    timestamptz,
  constraint company_is_the_partners foreign key (partner_id, company_id) references companies (partner_id, company_id),
  constraint erased_is_unknown check (erased_at is null
    or num_nonnulls(email, mobile, title, first_name, middle_name, last_name, gender, special_date, tax_pan) = 0)
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
grant select, insert, update (email, mobile, title, first_name, middle_name, last_name, gender, special_date, tax_pan,
  erased_at) on users to svc_service;
grant select, insert, update on users to svc_operator;

-- Erasing is for good. Otherwise a user could be erased for a moment, and what events and history say with it.
create function refuse_unerasing() returns trigger
  language plpgsql set search_path = svc, pg_temp
  as $$
  begin
    raise exception 'a user stays erased'
      using errcode = 'integrity_constraint_violation', constraint = tg_name, table = tg_table_name;
  end $$;
create trigger erased_for_good before update of erased_at on users for each row
  when (old.erased_at is not null and new.erased_at is distinct from old.erased_at)
  execute function refuse_unerasing();

-- Lookups before a tenant is known, by exact secret or reference only: nothing can be listed with them (decision X4).
create function directory_key_holders(digests bytea[])
  returns table (digest bytea, api_key_id text, tenant_id text, access_key text, usable boolean)
  language sql stable security definer set search_path = svc, pg_temp
  as $$
    select k.digest, k.api_key_id, k.tenant_id, m.access_key,
      k.revoked_at is null and (k.expires_at is null or k.expires_at > clock_timestamp()) and t.disabled_at is null
    from api_keys k join tenants t using (tenant_id) left join merchants m on m.merchant_id = k.tenant_id
    where k.digest = any (digests)
  $$;

-- The same with the limits of the credential.
create function directory_api_keys(digests bytea[])
  returns table (digest bytea, api_key_id text, tenant_id text, access_key text, usable boolean,
    revision integer, addresses text[], scopes text[])
  language sql stable security definer set search_path = svc, pg_temp
  as $$
    select k.digest, k.api_key_id, k.tenant_id, k.access_key, k.usable, coalesce(l.revision, 0), l.addresses, l.scopes
    from directory_key_holders(digests) k
      left join credential_limits l on l.tenant_id = k.tenant_id and l.credential_id = k.api_key_id
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
    select c.client_id, c.secret_digest, c.tenant_id,
      c.revoked_at is null and (c.expires_at is null or c.expires_at > clock_timestamp()) and t.disabled_at is null,
      p.products
    from oauth_clients c join tenants t using (tenant_id) join partners p on p.partner_id = c.tenant_id
    where c.client_id = any (client_ids)
  $$;

-- The same with the limits of the credential.
create function directory_clients(client_ids text[])
  returns table (client_id text, secret_digest bytea, tenant_id text, usable boolean,
    revision integer, addresses text[], scopes text[])
  language sql stable security definer set search_path = svc, pg_temp
  as $$
    select c.client_id, c.secret_digest, c.tenant_id, c.usable, coalesce(l.revision, 0), l.addresses, l.scopes
    from directory_oauth_clients(client_ids) c
      left join credential_limits l on l.tenant_id = c.tenant_id and l.credential_id = c.client_id
  $$;

-- Keys and tenants whose tokens are no longer accepted; earlier ones have no live tokens.
create function directory_revoked(since timestamptz) returns table (subject text)
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

-- What processes must know of credentials whose tokens live: those of `directory_revoked`, and, with a revision, those
-- whose limits changed.
create function directory_credential_changes(since timestamptz) returns table (subject text, revision integer)
  language sql stable security definer set search_path = svc, pg_temp
  as $$
    select r.subject, null::integer from directory_revoked(since) r
    union all
    select l.credential_id, l.revision from credential_limits l where l.changed_at >= since
  $$;

-- A credit that fits no code belongs to the merchant whom the payer paid, where the bank says whom.
create function directory_payees(vpas text[])
  returns table (vpa text, merchant_id text)
  language sql stable security definer set search_path = svc, pg_temp
  as $$
    select lower(m.vpa), m.merchant_id from merchants m where lower(m.vpa) collate "C" = any (vpas)
    union
    select f.vpa, m.merchant_id from merchants m cross join lateral unnest(m.former_vpas) as f (vpa)
    where m.former_vpas && vpas and f.vpa = any (vpas)
  $$;

revoke execute on all functions in schema svc from public;
grant execute on function directory_key_holders, directory_access_keys, directory_oauth_clients to svc_service,
  svc_operator;
grant execute on function directory_api_keys, directory_clients, directory_revoked, directory_credential_changes,
  directory_payees to svc_service;
