-- Invoices of fees and their GST, by merchant and month (decision R24).

-- Who a merchant is to the tax office.
create table tax_registrations (
  merchant_id text collate "C" primary key references merchants,
  legal_name  text not null check (legal_name <> ''),
  address     text not null check (address <> ''),
  gstin       text collate "C" check (gstin ~ '^[0-9]{2}[A-Z0-9]{13}$'),
  -- GST state code: decides central and state tax, or integrated tax
  state       text collate "C" not null check (state ~ '^[0-9]{2}$'),
  updated_at  timestamptz not null,
  constraint state_is_the_gstins check (gstin is null or left(gstin, 2) = state)
);
create constraint trigger audited after insert or update or delete on tax_registrations deferrable initially deferred
  for each row execute function audit_change('tax_registration', 'merchant_id', 'merchant_id',
    'legal_name,address,gstin,state,updated_at');
select secure_tenants('tax_registrations', 'merchant_id');
grant select on tax_registrations to svc_service;
grant select, insert, update on tax_registrations to svc_operator;

-- The last number of each series in a financial year: the row is locked until the document is committed, so that no
-- number is missing.
create table tax_series (
  series         text collate "C" not null check (series ~ '^[A-Z0-9]{1,2}$'),
  financial_year text collate "C" not null check (financial_year ~ '^[0-9]{2}-[0-9]{2}$'),
  last_number    bigint not null check (last_number between 1 and 9999999),
  primary key (series, financial_year)
);
grant select on tax_series to svc_service;
grant select, insert, update (last_number) on tax_series to svc_operator;

create table tax_documents (
  merchant_id      text collate "C" not null references merchants,
  document_id      text collate "C" not null,
  number           text collate "C" not null unique,
  kind             text not null check (kind in ('INVOICE', 'CREDIT_NOTE')),
  issue_date       date not null,
  -- the first day of the month that it is of
  month            date not null check (extract(day from month) = 1),
  supplier         jsonb not null,
  recipient        jsonb not null,
  place_of_supply  text collate "C" not null,
  sac              text collate "C" not null,
  payment_count    integer not null check (payment_count >= 0),
  taxable_paise    bigint not null check (taxable_paise > 0),
  tax_basis_points integer not null check (tax_basis_points >= 0),
  cgst_paise       bigint not null check (cgst_paise >= 0),
  sgst_paise       bigint not null check (sgst_paise >= 0),
  igst_paise       bigint not null check (igst_paise >= 0),
  original_number  text collate "C",
  signed           text not null,
  created_at       timestamptz not null,
  primary key (merchant_id, document_id),
  constraint numbers_of_a_merchant unique (merchant_id, number),
  constraint invoice_is_the_merchants foreign key (merchant_id, original_number) references tax_documents (merchant_id, number),
  constraint credit_notes_name_an_invoice check ((kind = 'CREDIT_NOTE') = (original_number is not null))
);
create index tax_documents_of_month on tax_documents (month, number);
select secure_tenants('tax_documents', 'merchant_id');
grant select on tax_documents to svc_service;
grant select, insert on tax_documents to svc_operator;

-- The invoice that a journal of fees is in.
create table tax_document_journals (
  merchant_id text collate "C" not null,
  journal_id  text collate "C" not null,
  document_id text collate "C" not null,
  primary key (merchant_id, journal_id),
  constraint document_is_the_merchants foreign key (merchant_id, document_id)
    references tax_documents (merchant_id, document_id),
  constraint journal_is_the_merchants foreign key (merchant_id, journal_id) references journals (tenant_id, journal_id)
);
create index tax_document_journals_of_document on tax_document_journals (merchant_id, document_id);
select secure_tenants('tax_document_journals', 'merchant_id');
grant select on tax_document_journals to svc_service;
grant select, insert on tax_document_journals to svc_operator;
