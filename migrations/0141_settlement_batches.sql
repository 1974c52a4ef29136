-- Transfers of the bank and of the card network as wholes (decision R11): what arrives or leaves is their net amount, and
-- their lines say of what it is. They are the platform's.
create table settlement_batches (
  tenant_id       text collate "C" not null references tenants check (tenant_id = 'house'),
  batch_id        text collate "C" not null,
  rail            text not null check (rail in ('upi', 'card')),
  batch_utr       text collate "C" not null,
  value_date      date not null,
  -- as the bank states it; null: what its lines add up to
  net_paise       bigint,
  -- a statement will show it: not so of the files with three columns, which name no transfer
  is_awaited      boolean not null,
  status          text not null default 'POSTED' check (status in ('INCOMPLETE', 'POSTED', 'CONFIRMED', 'DIFFERS', 'REVERSED')),
  -- what of the net amount is in no line yet, as posted
  remainder_paise bigint not null default 0,
  created_at      timestamptz not null,
  primary key (tenant_id, batch_id),
  constraint batches_are_named_once unique (tenant_id, rail, batch_utr),
  check (net_paise is not null or remainder_paise = 0)
);
create index settlement_batches_by_day on settlement_batches (tenant_id, value_date, batch_id);
select secure_tenants('settlement_batches', 'tenant_id');
grant select, insert, update (net_paise, status, remainder_paise) on settlement_batches to svc_service, svc_operator;

-- Lines of them, but for payments, which are `settlement_lines` of their merchants.
create table settlement_batch_lines (
  tenant_id    text collate "C" not null references tenants check (tenant_id = 'house'),
  batch_id     text collate "C" not null,
  -- its kind, and its reference or its number among those without one
  line_key     text collate "C" not null,
  kind         text not null,
  reference    text collate "C",
  -- above zero it is money to us
  amount_paise bigint not null check (amount_paise <> 0),
  occurred_on  date,
  note         text,
  status       text not null check (status in ('UNMATCHED', 'MATCHED', 'POSTED', 'REVERSED')),
  -- what it settles, and whose that is
  of_tenant    text collate "C" references tenants,
  document_id  text collate "C",
  -- what posted its money in the platform's books
  journal_id   text collate "C" not null,
  recorded_at  timestamptz not null,
  primary key (tenant_id, batch_id, line_key),
  constraint batch_is_there foreign key (tenant_id, batch_id) references settlement_batches,
  constraint journal_is_the_platforms foreign key (tenant_id, journal_id) references journals (tenant_id, journal_id)
    deferrable initially deferred,
  check ((status = 'MATCHED') = (document_id is not null)),
  check ((document_id is null) = (of_tenant is null))
);
-- Each is settled once.
create unique index settlement_batch_lines_once on settlement_batch_lines (kind, of_tenant, document_id)
  where document_id is not null and kind <> 'adjustment';
create index settlement_batch_lines_unmatched on settlement_batch_lines (recorded_at) where status = 'UNMATCHED';
create index settlement_batch_lines_by_reference on settlement_batch_lines (reference);
select secure_tenants('settlement_batch_lines', 'tenant_id');
grant select, insert, update (amount_paise, status, of_tenant, document_id, journal_id) on settlement_batch_lines
  to svc_service, svc_operator;

alter table settlement_lines add column batch_id text collate "C";
grant update (batch_id) on settlement_lines to svc_service;

revoke execute on all functions in schema svc from public;
