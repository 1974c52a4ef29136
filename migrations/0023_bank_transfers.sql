-- Numbers of virtual accounts, to which partners transfer money for their card accounts (decision R15). A number
-- is drawn when its instructions are read first, names one card account among all tenants, and never changes.
create table virtual_accounts (
  partner_id      text collate "C" not null,
  card_account_id text collate "C" not null,
  number          text collate "C" not null check (number ~ '^[A-Z0-9]{14,20}$'),
  created_at      timestamptz not null,
  primary key (partner_id, card_account_id),
  constraint one_card_account_per_number unique (number),
  constraint card_account_is_the_partners
    foreign key (partner_id, card_account_id) references card_accounts (partner_id, card_account_id)
);
select secure_tenants('virtual_accounts', 'partner_id');
grant select, insert on virtual_accounts to svc_service;
grant select on virtual_accounts to svc_operator;

-- Transfers of money to those numbers, as the bank reports them by signed notices. One reference names one transfer.
create table bank_credits (
  partner_id       text collate "C" not null,
  credit_id        text collate "C" not null,
  card_account_id  text collate "C" not null,
  -- the bank's reference, and the number as the notice has it, both in canonical form
  utr              text collate "C" not null constraint one_bank_credit_per_utr unique,
  virtual_account  text collate "C" not null,
  amount_paise     bigint not null check (amount_paise > 0),
  -- who transferred it, as the bank reports it: personal data and bank data
  remitter_name    text,
  remitter_account text,
  -- NEFT, RTGS, IMPS, as the bank has it
  mode             text,
  transaction_at   timestamptz,
  flags            text[] not null,
  -- the notice as the bank signed it
  notice           bytea not null,
  -- the funding that it is, and whether an operator had entered it before the notice came
  journal_id       text collate "C" not null,
  entered_before   boolean not null,
  created_at       timestamptz not null,
  primary key (partner_id, credit_id),
  constraint card_account_is_the_partners
    foreign key (partner_id, card_account_id) references card_accounts (partner_id, card_account_id),
  constraint journal_is_the_partners
    foreign key (partner_id, journal_id) references journals (tenant_id, journal_id) deferrable initially deferred
);
create unique index bank_credits_by_journal on bank_credits (partner_id, journal_id);
create index bank_credits_by_account on bank_credits (card_account_id, credit_id);
select secure_tenants('bank_credits', 'partner_id');
grant select, insert on bank_credits to svc_service;
grant select on bank_credits to svc_operator;

-- Of notices of transfers: the card account that the notice is about, or was assigned to.
alter table rail_notices add column card_account_id text collate "C";
grant update (card_account_id) on rail_notices to svc_service;

-- For the rail, which knows a card account by its number.
create function directory_virtual_accounts(numbers text[])
  returns table (number text, partner_id text, card_account_id text)
  language sql stable security definer set search_path = svc, pg_temp
  as $$
    select v.number, v.partner_id, v.card_account_id from virtual_accounts v where v.number = any (numbers)
  $$;

-- One reference names one transfer among all tenants.
create function directory_bank_credits(utrs text[]) returns setof bank_credits
  language sql stable security definer set search_path = svc, pg_temp
  as $$ select * from bank_credits b where b.utr = any (utrs) $$;

-- What was entered under a reference, for whichever partner. Entered again after a reversal, it has a number behind it.
create function directory_fundings(refs text[])
  returns table (partner_id text, reference text, journal_id text, transfer_id text, card_account_id text,
    amount_paise bigint, created_at timestamptz, reversed boolean)
  language sql stable security definer set search_path = svc, pg_temp
  as $$
    select j.tenant_id, w.reference, j.journal_id, t.transfer_id, t.object_id, t.amount, t.created_at,
      exists (select from journals r where r.tenant_id = j.tenant_id and r.reverses = j.journal_id)
    from (select distinct * from unnest(refs)) as w (reference)
    cross join generate_series(1, 9) as entry
    join journals j on j.kind = 'card_funding'
      and j.reference = w.reference || case when entry = 1 then '' else '~' || entry end
    join ledger_transfers t on t.tenant_id = j.tenant_id and t.journal_id = j.journal_id
  $$;

revoke execute on all functions in schema svc from public;
grant execute on function directory_virtual_accounts, directory_bank_credits, directory_fundings to svc_service;
