-- Our accounts at banks, and what the banks say of them (decision R14): lines that follow one another by their balances.
-- They are the platform's.
create table bank_accounts (
  tenant_id       text collate "C" not null references tenants check (tenant_id = 'house'),
  bank_account_id text collate "C" not null,
  purpose         text not null check (purpose in ('merchant_escrow', 'ppi_escrow', 'own_funds')),
  -- two a purpose
  place           smallint not null check (place in (1, 2)),
  name            text not null,
  account_number  text not null,
  ifsc            text not null,
  -- what the bank has at the beginning of the first day of which we have statements
  opening_paise   bigint not null,
  opened_on       date not null,
  created_by      text not null,
  created_at      timestamptz not null,
  primary key (tenant_id, bank_account_id),
  constraint bank_accounts_two_a_purpose unique (tenant_id, purpose, place),
  constraint bank_accounts_are_named_once unique (tenant_id, account_number, ifsc)
);
select secure_tenants('bank_accounts', 'tenant_id');
grant select on bank_accounts to svc_service;
grant select, insert on bank_accounts to svc_operator;

-- Files of banks, each imported once.
create table bank_statements (
  tenant_id       text collate "C" not null references tenants check (tenant_id = 'house'),
  statement_id    text collate "C" not null,
  bank_account_id text collate "C" not null,
  opening_paise   bigint not null,
  closing_paise   bigint not null,
  -- the day that it ends with, and the place of its last line in that day; no place: without a line
  through         date,
  last_place      integer not null check (last_place >= 0),
  lines           integer not null check (lines >= 0),
  new_lines       integer not null check (new_lines between 0 and lines),
  imported_by     text not null,
  imported_at     timestamptz not null,
  primary key (tenant_id, statement_id),
  constraint account_is_there foreign key (tenant_id, bank_account_id) references bank_accounts
);
create index bank_statements_of_account on bank_statements (tenant_id, bank_account_id, through);
select secure_tenants('bank_statements', 'tenant_id');
grant select on bank_statements to svc_service;
grant select, insert on bank_statements to svc_operator;

create table statement_lines (
  tenant_id       text collate "C" not null references tenants check (tenant_id = 'house'),
  line_id         text collate "C" not null,
  bank_account_id text collate "C" not null,
  purpose         text not null,
  statement_id    text collate "C" not null,
  booked_on       date not null,
  -- 1, 2, 3 … within the day
  place           integer not null check (place > 0),
  -- above zero it is money to us
  amount_paise    bigint not null check (amount_paise <> 0),
  -- of the account, after the line
  balance_paise   bigint not null,
  reference       text not null,
  narration       text not null,
  status          text not null check (status in ('UNMATCHED', 'MATCHED', 'DIFFERS', 'RESOLVED')),
  -- the movement in the books that it is, and what was posted because of it
  document_id     text collate "C",
  journal_id      text collate "C",
  journal_tenant  text collate "C" references tenants,
  resolved_as     text,
  -- who is to find out what it is
  owner           text not null,
  recorded_at     timestamptz not null,
  primary key (tenant_id, line_id),
  constraint lines_have_a_place unique (tenant_id, bank_account_id, booked_on, place),
  constraint statement_is_there foreign key (tenant_id, statement_id) references bank_statements
    deferrable initially deferred,
  constraint document_when_explained check ((status = 'UNMATCHED') = (document_id is null)),
  constraint resolved_as_a_whole check ((status = 'RESOLVED') = (resolved_as is not null)),
  check ((journal_id is null) = (journal_tenant is null))
);
-- A booked movement has at most one line; between two of our accounts it has one in each.
create unique index statement_lines_once on statement_lines (purpose, document_id) where document_id is not null;
create index statement_lines_open on statement_lines (line_id) where status in ('UNMATCHED', 'DIFFERS');
create index statement_lines_of_statement on statement_lines (tenant_id, statement_id);
select secure_tenants('statement_lines', 'tenant_id');
grant select, update (status, document_id, journal_id, journal_tenant, resolved_as) on statement_lines to svc_service;
grant select, insert, update (status, document_id, journal_id, journal_tenant, resolved_as, owner) on statement_lines
  to svc_operator;

-- Proofs of funds as they were signed each night.
create table funds_proofs (
  tenant_id   text collate "C" not null references tenants check (tenant_id = 'house'),
  proven_on   date not null,
  -- 1, 2, 3 … of the day: again when a statement has come that was missing
  version     integer not null check (version > 0),
  provisional boolean not null,
  -- of all purposes together, and what escrow accounts have less than is owed out of them
  unexplained_paise bigint not null check (unexplained_paise >= 0),
  shortfall_paise   bigint not null check (shortfall_paise >= 0),
  -- a compact JWS, which has all of it
  signed      text not null,
  created_at  timestamptz not null,
  primary key (tenant_id, proven_on, version)
);
select secure_tenants('funds_proofs', 'tenant_id');
grant select on funds_proofs to svc_service;
grant select, insert on funds_proofs to svc_operator;
