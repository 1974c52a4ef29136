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
  -- The partner is notified when a load brings the balance below it.
  low_balance_paise  bigint check (low_balance_paise >= 0),
  created_at         timestamptz not null,
  -- The account first: it also serves operators, who look an account up without knowing its partner.
  constraint card_accounts_by_id unique (card_account_id, company_id, partner_id),
  constraint company_is_the_partners foreign key (partner_id, company_id) references companies (partner_id, company_id)
);
create index card_accounts_by_company on card_accounts (partner_id, company_id);
alter table card_accounts add primary key (partner_id, card_account_id);
create constraint trigger audited after insert or update or delete on card_accounts deferrable initially deferred
  for each row execute function audit_change('card_account', 'card_account_id', 'partner_id',
    'company_id,product,account_type,programme,denomination_paise,low_balance_paise');
select secure_tenants('card_accounts', 'partner_id');
grant select, insert on card_accounts to svc_service;
-- The partner's own settings.
grant update (denomination_paise, low_balance_paise) on card_accounts to svc_service;
grant select, insert, update on card_accounts to svc_operator;

create table cards (
  svc_card_id     text collate "C" not null,
  partner_id      text collate "C" not null,
  company_id      text collate "C" not null,
  card_account_id text collate "C" not null,
  user_id         text collate "C" not null,
  -- The number: encrypted under the keyring for this card id; a keyed digest for equality; what may be shown.
  number_encrypted   bytea not null,
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
  ciphertext_hash       bytea,
  -- The partner's reference of its order, and what was ordered: kept where orders are compared (decision C22).
  reference_number text collate "C",
  order_digest     bytea,
  -- The end of a card (decision C21). Since when its expiry is announced, and since when it is dead: blocked or expired.
  expired_at      timestamptz,
  ended_at        timestamptz,
  -- From then on what is left on a dead card is unclaimed.
  unclaimed_at    timestamptz,
  -- The last announcement, in days before the expiry or before what is left is unclaimed.
  notice_days     smallint,
  -- When the background has to look at the card next.
  due_at          timestamptz,
  replaces        text collate "C",
  replaced_by     text collate "C",
  created_at      timestamptz not null,
  modified_at     timestamptz not null,
  constraint card_number_unique unique (number_digest),
  constraint referred_order_has_digest check (reference_number is null or order_digest is not null),
  constraint blocked_is_ended check (status <> 'BL' or ended_at is not null),
  constraint expired_is_ended check (expired_at is null or ended_at is not null),
  constraint ended_has_days check ((ended_at is null) = (unclaimed_at is null)),
  constraint replaced_is_blocked check (replaced_by is null or status = 'BL'),
  constraint replaces_another check (replaces <> svc_card_id and replaced_by <> svc_card_id),
  -- One reference for account, company and partner: each costs every card a lookup and a lock.
  constraint account_is_the_companys foreign key (partner_id, company_id, card_account_id)
    references card_accounts (partner_id, company_id, card_account_id),
  constraint user_is_the_partners foreign key (partner_id, user_id) references users (partner_id, user_id)
);
create index cards_of_account on cards (partner_id, company_id, card_account_id, svc_card_id);
alter table cards add primary key (partner_id, svc_card_id);
alter table cards
  add constraint replaced_card_is_the_partners
    foreign key (partner_id, replaces) references cards (partner_id, svc_card_id),
  add constraint replacement_is_the_partners
    foreign key (partner_id, replaced_by) references cards (partner_id, svc_card_id) deferrable initially deferred;
create unique index cards_replaced_once on cards (partner_id, replaces) where replaces is not null;
create index cards_due on cards (due_at) where due_at is not null;
create index cards_by_id on cards (svc_card_id);
-- The card network names a card by its token.
create unique index cards_by_token on cards (token);
create unique index cards_one_per_ciphertext on cards (partner_id, ciphertext_hash) where ciphertext_hash is not null;
create unique index cards_one_per_reference on cards (partner_id, reference_number) where reference_number is not null;
create index cards_by_order on cards (partner_id, order_digest, created_at) where order_digest is not null;
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
grant update (number_encrypted) on cards to svc_operator;

-- Encrypted orders that created no card and count as used all the same: rejected ones, which are rejected again, and
-- repeats of an earlier order, which return its card (decision R7).
create table card_used_orders (
  partner_id      text collate "C" not null references partners,
  ciphertext_hash bytea not null,
  -- of the order that it repeats
  svc_card_id     text collate "C",
  -- why it was rejected
  error           text,
  description     text,
  created_at      timestamptz not null,
  primary key (partner_id, ciphertext_hash),
  constraint card_or_error check ((svc_card_id is null) = (error is not null)),
  constraint error_has_description check ((error is null) = (description is null)),
  constraint card_is_the_partners foreign key (partner_id, svc_card_id) references cards (partner_id, svc_card_id)
);
select secure_tenants('card_used_orders', 'partner_id');
grant select, insert on card_used_orders to svc_service;
grant select on card_used_orders to svc_operator;

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

-- Holds on cards: of approved authorisations, and of stand-in advices of the card network.
create table card_authorizations (
  partner_id         text collate "C" not null,
  authorization_id   text collate "C" not null,
  svc_card_id        text collate "C" not null,
  -- the message that placed it, as the network identifies it
  acquirer_id        text collate "C" not null,
  stan               text collate "C" not null,
  transmission_at    timestamptz not null,
  authorization_code text not null,
  amount_paise       bigint not null check (amount_paise > 0),
  captured_paise     bigint not null default 0 check (captured_paise >= 0),
  voided_paise       bigint not null default 0 check (voided_paise >= 0),
  -- what is held now; nothing once it is closed
  held_paise         bigint not null check (held_paise >= 0),
  status             text not null check (status in ('OPEN', 'CAPTURED', 'VOIDED', 'EXPIRED')),
  -- placed by the network while it stood in, whatever the card had left
  forced             boolean not null,
  created_at         timestamptz not null,
  expires_at         timestamptz not null,
  closed_at          timestamptz,
  primary key (partner_id, authorization_id),
  constraint open_while_held check ((status = 'OPEN') = (held_paise > 0)),
  constraint closed_has_time check ((status = 'OPEN') = (closed_at is null)),
  constraint held_is_what_is_left check (status <> 'OPEN' or held_paise = amount_paise - captured_paise - voided_paise),
  constraint voided_within_amount check (voided_paise <= amount_paise),
  constraint card_is_the_partners foreign key (partner_id, svc_card_id) references cards (partner_id, svc_card_id)
);
create index card_authorizations_of_card on card_authorizations (partner_id, svc_card_id, authorization_id);
create index card_authorizations_to_expire on card_authorizations (expires_at) where status = 'OPEN';
select secure_tenants('card_authorizations', 'partner_id');
grant select, insert on card_authorizations to svc_service;
grant update (captured_paise, voided_paise, held_paise, status, closed_at) on card_authorizations to svc_service;
grant select on card_authorizations to svc_operator;

-- Every message of the card network that could be read, with its response: a repeat gets the same bytes.
create table card_messages (
  -- of the card, or the platform for a card that is not known
  partner_id      text collate "C" not null references tenants,
  message_id      text collate "C" not null,
  type            text not null
    check (type in ('authorization', 'capture', 'void', 'refund', 'advice', 'balance_inquiry')),
  acquirer_id     text collate "C" not null,
  stan            text collate "C" not null,
  transmission_at timestamptz not null,
  -- of what it asks for: a message of the same identity with another digest contradicts it
  content_digest  bytea not null,
  svc_card_id     text collate "C",
  -- what it refers to, where that was found
  authorization_id text collate "C",
  capture_id      text collate "C",
  -- the message that it refers to, as the network identifies it
  original_stan   text collate "C",
  original_transmission_at timestamptz,
  amount_paise    bigint check (amount_paise > 0),
  debited_paise   bigint not null check (debited_paise >= 0),
  credited_paise  bigint not null check (credited_paise >= 0),
  -- of a capture: what refunds have given back
  refunded_paise  bigint not null default 0,
  -- for people
  rrn             text,
  mcc             text,
  merchant_name   text,
  merchant_place  text,
  channel         text check (channel in ('pos', 'atm', 'ecommerce')),
  -- as the terminal wrote it
  local_time      text,
  -- ISO 8583 field 39
  response_code   text not null check (response_code ~ '^[0-9A-Z]{2}$'),
  -- the event that it caused
  event_type      text,
  response        text not null,
  created_at      timestamptz not null,
  primary key (partner_id, message_id),
  -- Never by the RRN: acquirers use one again.
  constraint one_response_per_message unique (acquirer_id, stan, transmission_at, type),
  constraint refunded_within_debited check (refunded_paise between 0 and debited_paise),
  constraint moves_within_amount check (debited_paise + credited_paise <= coalesce(amount_paise, 0)),
  constraint moves_need_a_card check (svc_card_id is not null or debited_paise + credited_paise = 0),
  constraint card_is_the_partners foreign key (partner_id, svc_card_id) references cards (partner_id, svc_card_id),
  constraint authorization_is_the_partners foreign key (partner_id, authorization_id)
    references card_authorizations (partner_id, authorization_id),
  constraint capture_is_the_partners foreign key (partner_id, capture_id)
    references card_messages (partner_id, message_id)
);
create index card_messages_of_card on card_messages (partner_id, svc_card_id, type, message_id);
select secure_tenants('card_messages', 'partner_id');
grant select, insert on card_messages to svc_service;
grant update (refunded_paise) on card_messages to svc_service;
grant select on card_messages to svc_operator;

-- What an operator has to look at: messages that could not be read, and money that fits no card or authorisation.
create table card_exceptions (
  partner_id   text collate "C" not null references tenants,
  exception_id text collate "C" not null,
  reason       text not null,
  svc_card_id  text collate "C",
  message_id   text collate "C",
  -- what the network took beyond the card, or gave back beyond the capture; in the account of exceptions
  debit_paise  bigint not null check (debit_paise >= 0),
  credit_paise bigint not null check (credit_paise >= 0),
  -- the message as it was signed, without card numbers
  body         bytea,
  created_at   timestamptz not null,
  primary key (partner_id, exception_id),
  constraint one_side check (debit_paise = 0 or credit_paise = 0),
  constraint message_or_body check (message_id is not null or body is not null),
  constraint message_is_the_partners foreign key (partner_id, message_id)
    references card_messages (partner_id, message_id)
);
create index card_exceptions_by_id on card_exceptions (exception_id);
create index card_exceptions_newest on card_exceptions (created_at desc, exception_id desc);
create index card_exceptions_of_message on card_exceptions (partner_id, message_id);
select secure_tenants('card_exceptions', 'partner_id');
grant select, insert on card_exceptions to svc_service;
grant select on card_exceptions to svc_operator;

-- What is left on a dead card goes back to the card account that funded it: it waits in the account `unclaimed` first,
-- and can be put back on the card as long as it waits (decision C21).
create table card_returns (
  partner_id        text collate "C" not null,
  return_id         text collate "C" not null,
  svc_card_id       text collate "C" not null,
  card_account_id   text collate "C" not null,
  -- the holder's recorded consent, or nobody claimed it in time
  basis             text not null check (basis in ('consent', 'unclaimed')),
  -- where the consent is recorded; names the return
  consent_reference text,
  amount_paise      bigint not null check (amount_paise > 0),
  status            text not null check (status in ('WAITING', 'RETURNED', 'REVERSED')),
  reversal_reason   text,
  created_at        timestamptz not null,
  due_at            timestamptz not null,
  closed_at         timestamptz,
  primary key (partner_id, return_id),
  constraint consent_is_recorded check ((basis = 'consent') = (consent_reference is not null)),
  constraint waits_until_closed check ((status = 'WAITING') = (closed_at is null)),
  constraint reversal_has_reason check ((status = 'REVERSED') = (reversal_reason is not null)),
  constraint card_is_the_partners foreign key (partner_id, svc_card_id) references cards (partner_id, svc_card_id),
  constraint account_is_the_partners foreign key (partner_id, card_account_id)
    references card_accounts (partner_id, card_account_id)
);
create index card_returns_of_card on card_returns (partner_id, svc_card_id, return_id);
create unique index card_returns_one_waiting on card_returns (partner_id, svc_card_id) where status = 'WAITING';
create unique index card_returns_one_per_consent on card_returns (partner_id, svc_card_id, consent_reference)
  where consent_reference is not null;
create index card_returns_newest on card_returns (created_at desc, return_id desc);
select secure_tenants('card_returns', 'partner_id');
grant select, insert on card_returns to svc_service;
grant update (status, reversal_reason, closed_at) on card_returns to svc_service;
grant select on card_returns to svc_operator;

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

-- For the card rail, which names a card by its token or number and knows no partner.
create function directory_cards(tokens text[], digests bytea[])
  returns table (token text, number_digest bytea, partner_id text, svc_card_id text)
  language sql stable security definer set search_path = svc, pg_temp
  as $$
    select c.token, c.number_digest, c.partner_id, c.svc_card_id from cards c where c.token = any (tokens)
    union
    select c.token, c.number_digest, c.partner_id, c.svc_card_id from cards c where c.number_digest = any (digests)
  $$;

-- A message is identified among all tenants.
create function directory_card_messages(acquirers text[], stans text[], times timestamptz[], types text[])
  returns table (acquirer_id text, stan text, transmission_at timestamptz, type text, content_digest bytea, response text)
  language sql stable security definer set search_path = svc, pg_temp
  as $$
    select m.acquirer_id, m.stan, m.transmission_at, m.type, m.content_digest, m.response
    from unnest(acquirers, stans, times, types) as k (acquirer_id, stan, transmission_at, type)
    join card_messages m using (acquirer_id, stan, transmission_at, type)
  $$;

create function directory_card_holds_expired(now timestamptz, most integer, only_tenants text[])
  returns table (partner_id text, svc_card_id text)
  language sql stable security definer set search_path = svc, pg_temp
  as $$
    select distinct e.partner_id, e.svc_card_id from (
      select a.partner_id, a.svc_card_id from card_authorizations a
      where a.status = 'OPEN' and a.expires_at <= now and (only_tenants is null or a.partner_id = any (only_tenants))
      order by a.expires_at limit most) e
  $$;

create function directory_cards_due(now timestamptz, most integer, only_tenants text[])
  returns table (partner_id text, svc_card_id text, replaced_by text)
  language sql stable security definer set search_path = svc, pg_temp
  as $$
    select c.partner_id, c.svc_card_id, c.replaced_by from cards c
    where c.due_at <= now and (only_tenants is null or c.partner_id = any (only_tenants))
    order by c.due_at limit most
  $$;

revoke execute on all functions in schema svc from public;
grant execute on function directory_card_numbers, directory_bulk_jobs, directory_cards, directory_card_messages,
  directory_card_holds_expired, directory_cards_due to svc_service;
