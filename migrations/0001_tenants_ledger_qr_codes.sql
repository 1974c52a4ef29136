-- Ids are text with a prefix, compared bytewise: they sort by time of creation on every cluster, whatever its locale.

-- Tenants that the current transaction serves, set with: set_config('svc.tenants', 'id,id', true).
-- A batch may serve several, so it is a set (design, rule 9). Unset means none.
create function current_tenants() returns text[]
  language sql stable parallel safe
  as $$ select string_to_array(current_setting('svc.tenants', true), ',') $$;

-- The minimal directory of who exists. Outside the tenant policy: it is read before any tenant is known.
create table tenants (
  tenant_id   text collate "C" primary key,
  kind        text not null check (kind in ('house', 'merchant', 'partner')),
  created_at  timestamptz not null,
  disabled_at timestamptz
);
-- The company that runs the service: it holds what fits no tenant, such as credits for codes that never existed.
insert into tenants values ('house', 'house', now(), null);

create table merchants (
  merchant_id text collate "C" primary key references tenants,
  name        text not null,
  vpa         text not null unique,
  mcc         text not null check (mcc ~ '^[0-9]{4}$'),
  access_key  text not null unique,
  created_at  timestamptz not null
);

-- Only a keyed digest of an API key is kept (decision A5); the prefix is for people and secret scanners.
create table api_keys (
  api_key_id text collate "C" primary key,
  tenant_id  text collate "C" not null references tenants,
  name       text not null,
  prefix     text not null,
  digest     bytea not null unique,
  created_at timestamptz not null,
  revoked_at timestamptz
);
create index api_keys_by_tenant on api_keys (tenant_id);
create index api_keys_revoked on api_keys (revoked_at) where revoked_at is not null;

-- Data keys, each wrapped by the master key, which is never in the database.
create table keyring (
  key_id     text collate "C" primary key,
  purpose    text not null,
  wrapped    bytea not null,
  wrapped_by text not null,
  created_at timestamptz not null default now(),
  retired_at timestamptz
);

-- One row for each committed batch of commands: after a connection lost around COMMIT it tells what happened.
create table batches (
  batch_id   text collate "C" primary key,
  created_at timestamptz not null default now()
);
create index batches_by_age on batches (created_at);

-- Answers of commands sent with an Idempotency-Key (decision C13), encrypted, kept for a setting's time.
create table idempotency_keys (
  tenant_id    text collate "C" not null references tenants,
  route        text not null,
  key          text collate "C" not null,
  request_hash bytea not null,
  status       smallint not null,
  answer       bytea not null,
  created_at   timestamptz not null,
  primary key (tenant_id, route, key)
);
create index idempotency_keys_by_age on idempotency_keys (created_at);

-- Events written in the transaction of their cause, delivered later.
create table outbox (
  event_id   text collate "C" primary key,
  tenant_id  text collate "C" not null references tenants,
  type       text not null,
  object_id  text collate "C" not null,
  payload    jsonb not null,
  created_at timestamptz not null
);

-- Double-entry ledger. `balance` is credits less debits in the unit's smallest part (paise for INR); an asset's is
-- negative. `floor` is the least balance that the account may have, null for none.
create table ledger_accounts (
  account_id text collate "C" primary key,
  tenant_id  text collate "C" not null references tenants,
  kind       text not null,
  unit       text not null,
  balance    bigint not null default 0,
  floor      bigint,
  created_at timestamptz not null,
  constraint balance_not_under_floor check (balance >= floor)
);
create index ledger_accounts_by_tenant on ledger_accounts (tenant_id);
insert into ledger_accounts (account_id, tenant_id, kind, unit, floor, created_at) values
  ('upi_clearing:house', 'house', 'upi_clearing', 'INR', null, now()),
  ('suspense:house', 'house', 'suspense', 'INR', 0, now());

-- Immutable movements: the service may insert and read them, nothing else.
create table ledger_transfers (
  transfer_id       text collate "C" primary key,
  tenant_id         text collate "C" not null references tenants,
  kind              text not null,
  debit_account_id  text collate "C" not null references ledger_accounts,
  credit_account_id text collate "C" not null references ledger_accounts,
  amount            bigint not null check (amount > 0),
  unit              text not null,
  object_id         text collate "C" not null,
  created_at        timestamptz not null,
  check (debit_account_id <> credit_account_id)
);
create index ledger_transfers_by_object on ledger_transfers (object_id);

create table qr_codes (
  qr_code_id       text collate "C" primary key,
  merchant_id      text collate "C" not null references merchants,
  tr               text collate "C" not null unique,
  upi_uri          text not null,
  qr_name          text,
  multiple_use     boolean not null,
  fixed_amount     boolean not null,
  amount_paise     bigint check (amount_paise > 0),
  description      text,
  expiry_at        timestamptz,
  custom_params    jsonb,
  status           text not null check (status in ('ACTIVE', 'CANCELLED')),
  customer_name    text,
  customer_email   text,
  customer_mobile  text,
  customer_id      text,
  reference_number text,
  -- True on the one code that a repeat of this reference number would answer (decision Q9).
  holds_reference  boolean not null,
  request_hash     bytea not null,
  accepted_count   integer not null default 0,
  accepted_paise   bigint not null default 0,
  created_at       timestamptz not null,
  modified_at      timestamptz not null,
  constraint amount_of_fixed_codes check (amount_paise is not null or not fixed_amount),
  constraint single_use_paid_once check (multiple_use or accepted_count <= 1)
);
create unique index qr_codes_reference on qr_codes (merchant_id, reference_number) where holds_reference;
create index qr_codes_newest on qr_codes (merchant_id, created_at desc, qr_code_id desc);
create index qr_codes_by_reference on qr_codes (merchant_id, reference_number) where reference_number is not null;
create index qr_codes_by_customer on qr_codes (merchant_id, customer_id) where customer_id is not null;

create table payments (
  payment_id   text collate "C" primary key,
  merchant_id  text collate "C" not null references tenants,
  -- null: the credit fitted no code at all and lies in the suspense account of the house
  qr_code_id   text collate "C" references qr_codes,
  utr          text collate "C" not null,
  tr           text not null,
  amount_paise bigint not null check (amount_paise > 0),
  payer_vpa    text not null,
  status       text not null check (status in ('ACCEPTED', 'REFUND_PENDING', 'REFUNDED', 'SUSPENSE')),
  reason       text,
  created_at   timestamptz not null,
  refunded_at  timestamptz,
  constraint one_credit_per_utr unique (utr)
);
create index payments_of_code on payments (merchant_id, qr_code_id, created_at desc, payment_id desc);
create index payments_to_refund on payments (created_at) where status = 'REFUND_PENDING';

-- Notices that the simulated UPI switch of the sandbox holds back (a delay, a late credit).
create table sandbox_upi_notices (
  notice_id text collate "C" primary key,
  due_at    timestamptz not null,
  notice    jsonb not null
);
create index sandbox_upi_notices_due on sandbox_upi_notices (due_at);

-- Row-level security: a second lock behind the tenant id in every `where`. The service sees the tenants that its
-- transaction names; the operator's role (command line, reconciliation, console) sees all.
do $$
declare
  secured record;
begin
  for secured in select * from (values
    ('merchants', 'merchant_id'), ('api_keys', 'tenant_id'), ('idempotency_keys', 'tenant_id'), ('outbox', 'tenant_id'),
    ('ledger_accounts', 'tenant_id'), ('ledger_transfers', 'tenant_id'), ('qr_codes', 'merchant_id'),
    ('payments', 'merchant_id')) as t (name, tenant)
  loop
    execute format('alter table %I enable row level security', secured.name);
    execute format(
      'create policy tenant on %I to svc_service using (%I = any ((select current_tenants())::text[]))',
      secured.name, secured.tenant);
    execute format('create policy operator on %I to svc_operator using (true)', secured.name);
  end loop;
end $$;

grant select on all tables in schema svc to svc_service, svc_operator;
grant insert on keyring, batches, idempotency_keys, outbox, ledger_transfers, qr_codes, payments,
  sandbox_upi_notices to svc_service;
grant update on qr_codes, payments to svc_service;
grant update (balance) on ledger_accounts to svc_service;
grant update, delete on sandbox_upi_notices to svc_service;
grant insert, update on tenants, merchants, api_keys, keyring, ledger_accounts to svc_operator;
grant insert on outbox to svc_operator;

-- What must be looked up before a tenant is known, by exact secret or reference only: nothing can be listed here.
create function directory_api_keys(digests bytea[])
  returns table (digest bytea, api_key_id text, tenant_id text, kind text, usable boolean)
  language sql stable security definer set search_path = svc
  as $$
    select k.digest, k.api_key_id, k.tenant_id, t.kind, k.revoked_at is null and t.disabled_at is null
    from api_keys k join tenants t using (tenant_id)
    where k.digest = any (digests)
  $$;

create function directory_qr_codes(trs text[])
  returns table (tr text, merchant_id text, qr_code_id text)
  language sql stable security definer set search_path = svc
  as $$ select q.tr, q.merchant_id, q.qr_code_id from qr_codes q where q.tr = any (trs) $$;

-- For the rail, which knows a credit by its bank reference: one reference names one credit among all tenants.
create function directory_payments(utrs text[])
  returns setof payments
  language sql stable security definer set search_path = svc
  as $$ select * from payments p where p.utr = any (utrs) $$;

-- Keys and tenants whose tokens must not be taken any more; older ones have no live tokens.
create function directory_revoked(since timestamptz)
  returns table (subject text)
  language sql stable security definer set search_path = svc
  as $$
    select api_key_id from api_keys where revoked_at >= since
    union all
    select tenant_id from tenants where disabled_at is not null
  $$;

-- The rail of the sandbox asks for these and confirms them.
create function directory_refunds_pending(before timestamptz, most integer)
  returns table (utr text)
  language sql stable security definer set search_path = svc
  as $$
    select p.utr from payments p where p.status = 'REFUND_PENDING' and p.created_at < before order by p.created_at limit most
  $$;

-- Housekeeping of rows that only time makes useless; a bounded number at a call.
create function forget_old_rows(answers_before timestamptz, batches_before timestamptz)
  returns bigint
  language sql volatile security definer set search_path = svc
  as $$
    with answers as (
      delete from idempotency_keys where ctid in (
        select ctid from idempotency_keys where created_at < answers_before limit 5000 for update skip locked)
      returning 1),
    settled as (
      delete from batches where ctid in (
        select ctid from batches where created_at < batches_before limit 5000 for update skip locked)
      returning 1)
    select (select count(*) from answers) + (select count(*) from settled)
  $$;

revoke execute on all functions in schema svc from public;
grant execute on all functions in schema svc to svc_service, svc_operator;
