create table partners (
  partner_id text collate "C" primary key references tenants,
  name       text not null,
  products   text[] not null check (products <@ array['incentive', 'employee_rewards'] and cardinality(products) > 0),
  -- Sandbox only (decision C2): takes requests that are not sealed.
  plain_requests boolean not null default false,
  created_at timestamptz not null
);

-- OAuth clients of partners. Only a keyed digest of the secret is kept.
create table oauth_clients (
  client_id     text collate "C" primary key,
  tenant_id     text collate "C" not null references tenants,
  name          text not null,
  secret_digest bytea not null,
  created_at    timestamptz not null,
  revoked_at    timestamptz
);
create index oauth_clients_by_tenant on oauth_clients (tenant_id);
create index oauth_clients_revoked on oauth_clients (revoked_at) where revoked_at is not null;

-- Keys that a partner and the service share (A256KW), sealed under the keyring, and public keys that partners
-- registered for sealed answers.
create table partner_seal_keys (
  kid        text collate "C" not null,
  partner_id text collate "C" not null references partners,
  kind       text not null check (kind in ('shared', 'public')),
  alg        text not null,
  -- 'shared': the sealed 32 bytes; 'public': the JWK as text
  material   bytea not null,
  created_at timestamptz not null,
  retired_at timestamptz,
  primary key (partner_id, kid)
);

create table companies (
  company_id text collate "C" primary key,
  partner_id text collate "C" not null references partners,
  name       text not null,
  created_at timestamptz not null
);
create index companies_by_partner on companies (partner_id);

create table users (
  user_id      text collate "C" primary key,
  partner_id   text collate "C" not null references partners,
  company_id   text collate "C" not null references companies,
  email        text,
  mobile       text,
  title        text,
  first_name   text,
  middle_name  text,
  last_name    text,
  gender       text,
  special_date text,
  tax_pan      text,
  created_at   timestamptz not null
);
create unique index users_by_mobile on users (company_id, mobile) where mobile is not null;
create unique index users_by_email on users (company_id, lower(email)) where email is not null;
create index users_by_partner on users (partner_id);

-- A company's funding account for cards. Its money is in the ledger, under card_funding:<card_account_id>.
create table card_accounts (
  card_account_id    text collate "C" primary key,
  partner_id         text collate "C" not null references partners,
  company_id         text collate "C" not null references companies,
  product            text not null check (product in ('incentive', 'employee_rewards')),
  account_type       text not null check (account_type in
    ('RELOADABLE_GPR', 'GIFT', 'MEAL', 'FUEL', 'VIRTUAL_ACCOUNT', 'EMPLOYEE_REWARDS')),
  bin_type           text not null,
  programme          text not null,
  -- What a card is loaded with when its request does not say.
  denomination_paise bigint not null check (denomination_paise > 0 and denomination_paise % 100 = 0),
  created_at         timestamptz not null
);
create index card_accounts_by_company on card_accounts (partner_id, company_id);

create table cards (
  svc_card_id     text collate "C" primary key,
  partner_id      text collate "C" not null references partners,
  company_id      text collate "C" not null references companies,
  card_account_id text collate "C" not null references card_accounts,
  user_id         text collate "C" not null references users,
  -- The number: sealed under the keyring for this card id; a keyed digest for equality; what may be shown.
  number_sealed   bytea not null,
  number_digest   bytea not null,
  masked_number   text not null,
  token           text not null,
  expiry_month    smallint not null check (expiry_month between 1 and 12),
  expiry_year     smallint not null,
  status          text not null check (status in ('L', 'UL', 'BL', 'AP')),
  kyc_status      text not null,
  physical        boolean not null,
  activated       boolean not null,
  -- Holder and addresses as the request sent them, wire names and all; personal data.
  holder          jsonb not null,
  physical_requested_at timestamptz,
  load_paise      bigint not null check (load_paise > 0),
  load_transfer_id text not null,
  pos_allowed     boolean not null default true,
  pos_allowed_admin boolean not null default true,
  atm_allowed     boolean not null default false,
  atm_allowed_admin boolean not null default false,
  online_allowed  boolean not null default true,
  online_allowed_admin boolean not null default true,
  block_code      text not null default '',
  remarks         text not null default '',
  seal_hash       bytea,
  created_at      timestamptz not null,
  modified_at     timestamptz not null,
  constraint card_number_unique unique (number_digest)
);
create index cards_of_account on cards (partner_id, company_id, card_account_id, svc_card_id);
create unique index cards_one_per_seal on cards (partner_id, seal_hash) where seal_hash is not null;
create index cards_of_user on cards (user_id);

-- Every change of a card's state: cardStatus, kycStatus or a flag, with time, actor and reason.
create table card_changes (
  change_id   text collate "C" primary key,
  partner_id  text collate "C" not null references partners,
  svc_card_id text collate "C" not null references cards,
  field       text not null,
  from_value  text,
  to_value    text not null,
  actor       text not null,
  reason      text not null,
  created_at  timestamptz not null
);
create index card_changes_of_card on card_changes (svc_card_id, change_id);

-- A seal counts once (decision C13): its first answer is found by the seal too.
alter table idempotency_keys add column seal_hash bytea;
create unique index idempotency_keys_by_seal on idempotency_keys (tenant_id, seal_hash) where seal_hash is not null;

do $$
declare
  secured record;
begin
  for secured in select * from (values
    ('partners', 'partner_id'), ('oauth_clients', 'tenant_id'), ('partner_seal_keys', 'partner_id'),
    ('companies', 'partner_id'), ('users', 'partner_id'), ('card_accounts', 'partner_id'), ('cards', 'partner_id'),
    ('card_changes', 'partner_id')) as t (name, tenant)
  loop
    execute format('alter table %I enable row level security', secured.name);
    execute format(
      'create policy tenant on %I to svc_service using (%I = any ((select current_tenants())::text[]))',
      secured.name, secured.tenant);
    execute format('create policy operator on %I to svc_operator using (true)', secured.name);
  end loop;
end $$;

grant select on partners, oauth_clients, partner_seal_keys, companies, users, card_accounts, cards, card_changes
  to svc_service, svc_operator;
grant insert on users, cards, card_changes, ledger_accounts to svc_service;
grant update on cards to svc_service;
grant insert, update on partners, oauth_clients, partner_seal_keys, companies, users, card_accounts to svc_operator;
grant insert on ledger_transfers to svc_operator;
grant update (number_sealed) on cards to svc_operator;

create function directory_oauth_clients(client_ids text[])
  returns table (client_id text, secret_digest bytea, tenant_id text, usable boolean, products text[])
  language sql stable security definer set search_path = svc
  as $$
    select c.client_id, c.secret_digest, c.tenant_id, c.revoked_at is null and t.disabled_at is null, p.products
    from oauth_clients c join tenants t using (tenant_id) join partners p on p.partner_id = c.tenant_id
    where c.client_id = any (client_ids)
  $$;

-- A number is unique among all partners; whether a digest is taken tells nothing about whose it is.
create function directory_card_numbers(digests bytea[])
  returns table (digest bytea)
  language sql stable security definer set search_path = svc
  as $$ select c.number_digest from cards c where c.number_digest = any (digests) $$;

create or replace function directory_revoked(since timestamptz)
  returns table (subject text)
  language sql stable security definer set search_path = svc
  as $$
    select api_key_id from api_keys where revoked_at >= since
    union all
    select client_id from oauth_clients where revoked_at >= since
    union all
    select tenant_id from tenants where disabled_at is not null
  $$;

revoke execute on function directory_oauth_clients, directory_card_numbers from public;
grant execute on function directory_oauth_clients, directory_card_numbers to svc_service, svc_operator;
