-- A company's funding account for cards. Its money is in the ledger, under card_funding:<card_account_id>.
create table card_accounts (
  card_account_id    text collate "C" not null,
  partner_id         text collate "C" not null,
  company_id         text collate "C" not null,
  product            text not null check (product in ('incentive', 'employee_rewards')),
  account_type       text not null check (account_type in
    ('RELOADABLE_GPR', 'GIFT', 'MEAL', 'FUEL', 'VIRTUAL_ACCOUNT', 'EMPLOYEE_REWARDS')),
  bin_type           text not null,
  programme          text not null,
  -- The load of a card whose request has none.
  denomination_paise bigint not null check (denomination_paise > 0 and denomination_paise % 100 = 0),
  created_at         timestamptz not null,
  -- The account first: it also serves operators, who look an account up without knowing its partner.
  constraint card_accounts_by_id unique (card_account_id, company_id, partner_id),
  constraint company_is_the_partners foreign key (partner_id, company_id) references companies (partner_id, company_id)
);
create index card_accounts_by_company on card_accounts (partner_id, company_id);
alter table card_accounts add primary key (partner_id, card_account_id);
create constraint trigger audited after insert or update or delete on card_accounts deferrable initially deferred
  for each row execute function audit_change('card_account', 'card_account_id', 'partner_id',
    'company_id,product,account_type,programme,denomination_paise');
select secure_tenants('card_accounts', 'partner_id');
grant select on card_accounts to svc_service;
grant select, insert, update on card_accounts to svc_operator;

create table cards (
  svc_card_id     text collate "C" not null,
  partner_id      text collate "C" not null,
  company_id      text collate "C" not null,
  card_account_id text collate "C" not null,
  user_id         text collate "C" not null,
  -- The number: encrypted under the keyring for this card id; a keyed digest for equality; what may be shown.
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
  -- Holder and addresses as the request sent them, wire names included; personal data.
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
  constraint card_number_unique unique (number_digest),
  -- One reference for account, company and partner: each costs every card a lookup and a lock.
  constraint account_is_the_companys foreign key (partner_id, company_id, card_account_id)
    references card_accounts (partner_id, company_id, card_account_id),
  constraint user_is_the_partners foreign key (partner_id, user_id) references users (partner_id, user_id)
);
create index cards_of_account on cards (partner_id, company_id, card_account_id, svc_card_id);
alter table cards add primary key (partner_id, svc_card_id);
create index cards_by_id on cards (svc_card_id);
create unique index cards_one_per_seal on cards (partner_id, seal_hash) where seal_hash is not null;
-- What people read out to support.
create index cards_by_last_four on cards (right(masked_number, 4), svc_card_id);
create index cards_of_user on cards (user_id);
-- Nearly all cards are unlocked; the others are what people search for.
create index cards_not_unlocked on cards (status, svc_card_id) where status <> 'UL';
create index cards_not_unlocked_of_account on cards (partner_id, company_id, card_account_id, status, svc_card_id)
  where status <> 'UL';
select secure_tenants('cards', 'partner_id');
grant select, insert, update on cards to svc_service;
grant select on cards to svc_operator;
-- For the rotation of keys.
grant update (number_sealed) on cards to svc_operator;

-- Every change of a card's state: cardStatus, kycStatus or a flag, with time, actor and reason.
create table card_changes (
  change_id   text collate "C" not null,
  partner_id  text collate "C" not null,
  svc_card_id text collate "C" not null,
  field       text not null,
  from_value  text,
  to_value    text not null,
  actor       text not null,
  reason      text not null,
  created_at  timestamptz not null,
  constraint card_is_the_partners foreign key (partner_id, svc_card_id) references cards (partner_id, svc_card_id)
);
alter table card_changes add primary key (partner_id, change_id);
create index card_changes_of_card on card_changes (svc_card_id, change_id);
select secure_tenants('card_changes', 'partner_id');
grant select, insert on card_changes to svc_service;
grant select on card_changes to svc_operator;

-- Uploads of many encrypted orders (issue of cards in bulk), carried out in the background.
create table bulk_jobs (
  job_id      text collate "C" not null,
  partner_id  text collate "C" not null references partners,
  row_count   integer not null check (row_count > 0),
  issued      integer not null default 0,
  failed      integer not null default 0,
  created_at  timestamptz not null,
  modified_at timestamptz not null,
  started_at  timestamptz,
  finished_at timestamptz,
  constraint no_more_done_than_rows check (issued + failed <= row_count),
  constraint finished_when_all_done check ((finished_at is not null) = (issued + failed = row_count))
);
alter table bulk_jobs add primary key (partner_id, job_id);
create index bulk_jobs_open on bulk_jobs (partner_id, job_id) where finished_at is null;
select secure_tenants('bulk_jobs', 'partner_id');
grant select, insert on bulk_jobs to svc_service;
grant update (issued, failed, modified_at, started_at, finished_at) on bulk_jobs to svc_service;
grant select on bulk_jobs to svc_operator;

create table bulk_rows (
  job_id       text collate "C" not null,
  partner_id   text collate "C" not null,
  -- Number of the line in the upload, from 1.
  line         integer not null,
  status       text not null default 'PENDING' check (status in ('PENDING', 'ISSUED', 'FAILED')),
  -- The line as it was sent, encrypted again under the keyring: it may contain what a partner sent by mistake. Deleted
  -- when the row is done.
  content      bytea,
  -- Until then a process works on it. A process that dies leaves the row to others.
  leased_until timestamptz not null default '-infinity',
  attempts     smallint not null default 0,
  svc_card_id  text collate "C",
  error        text,
  error_description text,
  constraint content_until_done check ((status = 'PENDING') = (content is not null)),
  constraint issued_has_card check ((status = 'ISSUED') = (svc_card_id is not null)),
  constraint failed_has_error check ((status = 'FAILED') = (error is not null)),
  constraint job_is_the_partners foreign key (partner_id, job_id) references bulk_jobs (partner_id, job_id)
);
alter table bulk_rows add primary key (partner_id, job_id, line);
create index bulk_rows_waiting on bulk_rows (job_id, line) where status = 'PENDING';
select secure_tenants('bulk_rows', 'partner_id');
grant select, insert on bulk_rows to svc_service;
grant update (status, content, leased_until, attempts, svc_card_id, error, error_description) on bulk_rows to svc_service;
grant select on bulk_rows to svc_operator;
-- For the rotation of keys.
grant update (content) on bulk_rows to svc_operator;

-- A number is unique among all partners; that a digest is in use reveals nothing about whose it is.
create function directory_card_numbers(digests bytea[]) returns table (digest bytea)
  language sql stable security definer set search_path = svc, pg_temp
  as $$ select c.number_digest from cards c where c.number_digest = any (digests) $$;

-- For the workers, before any tenant is known: of each partner the oldest job that has a row to lease.
create function directory_bulk_jobs(most integer) returns table (partner_id text, job_id text)
  language sql volatile security definer set search_path = svc, pg_temp
  as $$
    select * from (
      select distinct on (j.partner_id) j.partner_id, j.job_id from bulk_jobs j
      where j.finished_at is null
        -- The orders of a disabled partner wait for it to be enabled again.
        and exists (select from tenants t where t.tenant_id = j.partner_id and t.disabled_at is null)
        and exists (
          select from bulk_rows r
          where r.partner_id = j.partner_id and r.job_id = j.job_id and r.status = 'PENDING' and r.leased_until <= clock_timestamp())
      order by j.partner_id, j.job_id) oldest
    -- In random order, so that with more partners than `most` none waits for the others to be done.
    order by random() limit most
  $$;

revoke execute on all functions in schema svc from public;
grant execute on function directory_card_numbers, directory_bulk_jobs to svc_service;
