-- Cards: the accounts that fund them, the cards, what the network says of them, what they may spend, and orders in bulk.

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
  -- whether the money of its cards is taken back (decision C26)
  unallocate_fund_allowed boolean not null default false,
  -- what the records of a card account's cards say that its partner sets (decision C27), by the name of the field
  record_settings    jsonb not null default '{}',
  -- The account first: it also serves operators, who look an account up without knowing its partner.
  constraint card_accounts_by_id unique (card_account_id, company_id, partner_id),
  constraint company_is_the_partners foreign key (partner_id, company_id) references companies (partner_id, company_id),
  constraint gift_cards_keep_their_money
  check (account_type <> 'GIFT' or not unallocate_fund_allowed)
);
create index card_accounts_by_company on card_accounts (partner_id, company_id);
alter table card_accounts add primary key (partner_id, card_account_id);
create constraint trigger audited after insert or update or delete on card_accounts deferrable initially deferred
  for each row execute function audit_change('card_account', 'card_account_id', 'partner_id',
    'company_id,product,account_type,programme,denomination_paise,low_balance_paise');
select secure_tenants('card_accounts', 'partner_id');
-- The partner's own settings.
grant select, insert, update (denomination_paise, low_balance_paise, unallocate_fund_allowed, record_settings) on
  card_accounts to svc_service;
grant select, insert, update on card_accounts to svc_operator;

-- What the records of a partner's cards say where their card account does not (decision C27).
create table partner_record_settings (
  partner_id      text collate "C" not null references tenants,
  record_settings jsonb not null,
  modified_at     timestamptz not null,
  primary key (partner_id)
);
select secure_tenants('partner_record_settings', 'partner_id');
grant select, insert, update (record_settings, modified_at) on partner_record_settings to svc_service;
grant select on partner_record_settings to svc_operator;

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
create trigger stored_by_the_rail before insert on bank_credits for each statement
  when (not is_rail()) execute function refuse_unsigned();
select secure_tenants('bank_credits', 'partner_id');
grant select, insert on bank_credits to svc_service;
grant select on bank_credits to svc_operator;

-- Cards. The money of one is in the ledger, under card:<svc_card_id>.
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
grant select, insert, update (status, kyc_status, activated, pos_allowed, pos_allowed_admin, atm_allowed,
  atm_allowed_admin, online_allowed, online_allowed_admin, block_code, remarks, expired_at, ended_at, unclaimed_at,
  notice_days, due_at, replaced_by, modified_at) on cards to svc_service;
-- For the rotation of keys.
grant select, update (number_encrypted) on cards to svc_operator;

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

-- Of an erased user nothing personal is stored any more, and no card is issued (decision C23). Commands see to it; these
-- refuse what would slip past them.
create function refuse_text_of_erased() returns trigger
  language plpgsql set search_path = svc, pg_temp
  as $$
  begin
    if exists (
      select from users u
      where u.partner_id = new.partner_id and u.user_id = new.user_id and u.erased_at is not null)
    then
      raise exception 'nothing is written about an erased user'
        using errcode = 'integrity_constraint_violation', constraint = tg_name, table = tg_table_name;
    end if;
    return null;
  end $$;
create trigger erased_users_get_no_card after insert on cards
  for each row execute function refuse_text_of_erased();
create trigger erased_users_have_no_holder after update of holder, remarks on cards for each row
  when ((new.holder <> '{}' and new.holder <> old.holder) or (new.remarks <> '' and new.remarks <> old.remarks))
  execute function refuse_text_of_erased();

create function refuse_reason_of_erased() returns trigger
  language plpgsql set search_path = svc, pg_temp
  as $$
  begin
    if exists (
      select from cards c join users u on u.partner_id = c.partner_id and u.user_id = c.user_id
      where c.partner_id = new.partner_id and c.svc_card_id = new.svc_card_id and u.erased_at is not null)
    then
      raise exception 'nothing is written about an erased user'
        using errcode = 'integrity_constraint_violation', constraint = tg_name, table = tg_table_name;
    end if;
    return null;
  end $$;
create trigger erased_users_have_no_reasons after insert or update of reason on card_changes for each row
  when (new.reason <> '') execute function refuse_reason_of_erased();

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
  -- Under which counters a hold counts, on the business day of its authorisation; null: under none.
  counters           text[],
  counted_on         date,
  primary key (partner_id, authorization_id),
  constraint open_while_held check ((status = 'OPEN') = (held_paise > 0)),
  constraint closed_has_time check ((status = 'OPEN') = (closed_at is null)),
  constraint held_is_what_is_left check (status <> 'OPEN' or held_paise = amount_paise - captured_paise - voided_paise),
  constraint voided_within_amount check (voided_paise <= amount_paise),
  constraint card_is_the_partners foreign key (partner_id, svc_card_id) references cards (partner_id, svc_card_id)
);
create index card_authorizations_of_card on card_authorizations (partner_id, svc_card_id, authorization_id);
create index card_authorizations_to_expire on card_authorizations (expires_at) where status = 'OPEN';
create index card_authorizations_open on card_authorizations (partner_id, svc_card_id) include (held_paise)
  where status = 'OPEN';
select secure_tenants('card_authorizations', 'partner_id');
-- A raised hold is of more, and lasts longer.
grant select, insert, update (amount_paise, captured_paise, voided_paise, held_paise, status, expires_at, closed_at)
  on card_authorizations to svc_service;
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
  -- zero: a verification of the card, or a capture of nothing
  amount_paise    bigint check (amount_paise >= 0),
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
  -- Whether a capture was the last of its authorisation: a stand-in that arrives after it holds nothing (decision R1).
  is_final        boolean not null default false,
  -- Whether an authorisation raised the hold of an earlier one.
  raises          boolean not null default false,
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
    references card_messages (partner_id, message_id),
  -- SHA-256 of the message as it was written, decrypted: a signature names no operation, so that the same bytes are one
  -- message
  plain_digest    bytea,
  -- what a decision depended on, so that it can be made again with other rules
  basis           text,
  -- ISO 8583 field 43, positions 39 and 40
  merchant_country text,
  -- Of a void: what is left of its authorisation, ISO 8583 field 95
  replacement_paise bigint,
  constraint replacement_not_negative check (replacement_paise >= 0)
);
create index card_messages_of_card on card_messages (partner_id, svc_card_id, type, message_id);
create index card_messages_by_rrn on card_messages (rrn) where rrn is not null;
create trigger stored_by_the_rail before insert on card_messages for each statement
  when (not is_rail()) execute function refuse_unsigned();
select secure_tenants('card_messages', 'partner_id');
grant select, insert, update (refunded_paise) on card_messages to svc_service;
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
  -- which field could not be read, what it states and why (decision R1)
  detail       text,
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
grant select, insert, update (status, reversal_reason, closed_at) on card_returns to svc_service;
grant select on card_returns to svc_operator;

-- Loads after the first one, which is the card's own, and unloads.
create table card_loads (
  partner_id                 text collate "C" not null,
  -- that of the leg of the ledger, under another prefix
  load_id                    text collate "C" not null,
  svc_card_id                text collate "C" not null,
  card_account_id            text collate "C" not null,
  kind                       text collate "C" not null check (kind in ('load', 'unload')),
  amount_paise               bigint not null check (amount_paise > 0),
  -- after it, of the card and of the card account
  balance_paise              bigint not null check (balance_paise >= 0),
  account_balance_paise      bigint not null check (account_balance_paise >= 0),
  reference_number           text collate "C" not null,
  reason                     text,
  request_hash               bytea not null,
  created_at                 timestamptz not null,
  primary key (partner_id, load_id),
  constraint card_loads_once unique (partner_id, reference_number),
  constraint card_is_the_partners foreign key (partner_id, svc_card_id) references cards (partner_id, svc_card_id),
  constraint account_is_the_partners foreign key (partner_id, card_account_id)
    references card_accounts (partner_id, card_account_id)
);
create index card_loads_of_card on card_loads (partner_id, svc_card_id, created_at, load_id);
select secure_tenants('card_loads', 'partner_id');
grant select, insert on card_loads to svc_service;
grant select on card_loads to svc_operator;

-- A journal of a load or an unload has its row, of a card account that may, by the end of the transaction.
create function require_card_load() returns trigger
  language plpgsql security definer set search_path = svc, pg_temp
  as $$
  begin
    if not exists (
      select from card_loads l
        join cards c on c.partner_id = l.partner_id and c.svc_card_id = l.svc_card_id
        join card_accounts a on a.partner_id = c.partner_id and a.card_account_id = c.card_account_id
      where l.partner_id = new.tenant_id and l.load_id = 'cld_' || substr(new.transfer_id, 5)
        and l.svc_card_id = new.object_id and l.card_account_id = c.card_account_id and l.amount_paise = new.amount
        and l.kind = case new.kind when 'card_reload' then 'load' else 'unload' end
        and 'card:' || l.svc_card_id in (new.debit_account_id, new.credit_account_id)
        and 'card_funding:' || l.card_account_id in (new.debit_account_id, new.credit_account_id)
        and a.account_type <> 'GIFT')
    then
      raise exception 'no load or unload has this journal'
        using errcode = 'integrity_constraint_violation', constraint = 'loads_are_recorded', table = 'ledger_transfers';
    end if;
    return null;
  end $$;
create constraint trigger loads_are_recorded after insert on ledger_transfers deferrable initially deferred for each row
  when (new.kind in ('card_reload', 'card_unload')) execute function require_card_load();

-- What happened on each card, in one order: authorisations of the network, and each movement of its money (decision C25).
-- The rows follow from card messages and from legs of journals, whichever process and version writes those.
create table card_transactions (
  partner_id       text collate "C" not null references tenants,
  transaction_id   text collate "C" not null,
  svc_card_id      text collate "C" not null,
  card_account_id  text collate "C" not null,
  company_id       text collate "C" not null,
  kind             text collate "C" not null,
  amount_paise     bigint not null check (amount_paise >= 0),
  -- by what it changed the balance of the card; null: it did not
  moved_paise      bigint,
  -- of the card after it; null: it moved nothing
  balance_paise    bigint,
  -- the leg that moved the money; null of authorisations
  transfer_id      text collate "C",
  -- of the card network; null of what it knows nothing of
  message_id       text collate "C",
  authorization_id text collate "C",
  -- ISO 8583 field 39 of an authorisation
  response_code    text collate "C",
  channel          text collate "C",
  merchant_name    text,
  -- what a merchant is found by
  merchant_key     text collate "C" generated always as (lower(merchant_name collate "C")) stored,
  created_at       timestamptz not null,
  primary key (partner_id, transaction_id),
  constraint moves_its_amount check (abs(moved_paise) = amount_paise),
  constraint moved_has_balance check ((moved_paise is null) = (balance_paise is null)),
  constraint authorization_or_leg check ((kind = 'authorization') = (transfer_id is null)
    and (kind = 'authorization') = (response_code is not null))
);
-- Each list has its order in an index that begins with what it is of. An id of a card, an account or a company is of one partner.
create index card_transactions_of_card on card_transactions (svc_card_id, created_at, transaction_id);
create index card_transactions_of_account on card_transactions (card_account_id, created_at, transaction_id);
create index card_transactions_of_company on card_transactions (company_id, created_at, transaction_id);
create index card_transactions_of_partner on card_transactions (partner_id, created_at, transaction_id);
create index card_transactions_at_merchant on card_transactions (partner_id, merchant_key, created_at, transaction_id)
  where merchant_key is not null;
create index card_transactions_newest on card_transactions (created_at, transaction_id);
select secure_tenants('card_transactions', 'partner_id');
grant select on card_transactions to svc_service, svc_operator;

create function card_transaction_kind(leg_kind text) returns text
  language sql immutable parallel safe
  as $$
    select case leg_kind when 'card_load' then 'load' when 'card_reload' then 'load' when 'card_unload' then 'unload'
      when 'card_spend' then 'capture' when 'card_refund' then 'refund'
      when 'card_replacement' then 'replacement' when 'card_unclaimed' then 'unclaimed'
      when 'card_unclaimed_reversed' then 'unclaimed_reversed' when 'card_back_to_source' then 'return_to_source'
      else 'adjustment' end
  $$;

-- A leg from one card to another is a transaction of each: that of the card which pays has the random part of the id turned.
create function card_transaction_id(source_id text, is_second boolean) returns text
  language sql immutable parallel safe
  as $$
    select 'ctx_' || case when is_second then substr(source_id, 5, 10) || reverse(substr(source_id, 15))
      else substr(source_id, 5) end
  $$;

-- What a leg does to cards: it debits one, credits one, or ends the return of what was left on one.
create function cards_of_leg(debit_account text, credit_account text, leg_kind text, object text)
  returns table (account_id text, sign integer)
  language sql immutable parallel safe
  as $$
    select s.account_id, s.sign
    from (values (debit_account, -1), (credit_account, 1),
      (case when leg_kind = 'card_back_to_source' then 'card:' || object end, 0)) as s (account_id, sign)
    where s.account_id like 'card:%'
  $$;

create function list_card_authorizations() returns trigger
  language plpgsql security definer set search_path = svc, pg_temp
  as $$
  begin
    -- Most messages are none.
    if not exists (select from added m where m.type = 'authorization' or m.event_type = 'card.authorized') then
      return null;
    end if;
    insert into card_transactions (partner_id, transaction_id, svc_card_id, card_account_id, company_id, kind, amount_paise,
        message_id, authorization_id, response_code, channel, merchant_name, created_at)
      select m.partner_id, card_transaction_id(m.message_id, false), m.svc_card_id, c.card_account_id, c.company_id,
        'authorization', coalesce(m.amount_paise, 0), m.message_id, m.authorization_id, m.response_code, m.channel,
        m.merchant_name, m.created_at
      from added m join cards c on c.partner_id = m.partner_id and c.svc_card_id = m.svc_card_id
      where m.type = 'authorization' or m.type = 'advice' and m.event_type = 'card.authorized';
    return null;
  end $$;
create trigger transactions_of_cards after insert on card_messages referencing new table as added
  for each statement execute function list_card_authorizations();

-- Runs by its name behind `journals_are_whole`, which makes the balances: that before each of several legs of one card
-- follows from the balance after all of them.
create function list_card_movements() returns trigger
  language plpgsql security definer set search_path = svc, pg_temp
  as $$
  begin
    -- Most journals move no card's money.
    if not exists (select from added a cross join lateral
        cards_of_leg(a.debit_account_id, a.credit_account_id, a.kind, a.object_id)) then
      return null;
    end if;
    insert into card_transactions (partner_id, transaction_id, svc_card_id, card_account_id, company_id, kind, amount_paise,
        moved_paise, balance_paise, transfer_id, message_id, authorization_id, channel, merchant_name, created_at)
      select c.partner_id, card_transaction_id(t.transfer_id, t.sign < 0 and t.credit_account_id like 'card:%'), c.svc_card_id,
        c.card_account_id, c.company_id, card_transaction_kind(t.kind), t.amount, nullif(t.sign, 0) * t.amount, t.balance,
        t.transfer_id, m.message_id, m.authorization_id, m.channel, m.merchant_name, t.created_at
      from (
        select a.*, s.account_id, s.sign,
          case when s.sign <> 0 then l.balance - coalesce(sum(s.sign * a.amount) over (
            partition by s.account_id order by a.created_at desc, a.transfer_id desc
            rows between unbounded preceding and 1 preceding), 0) end as balance
        from added a cross join lateral cards_of_leg(a.debit_account_id, a.credit_account_id, a.kind, a.object_id) s
          join ledger_accounts l on l.tenant_id = a.tenant_id and l.account_id = s.account_id) t
      join cards c on c.partner_id = t.tenant_id and c.svc_card_id = substr(t.account_id, 6)
      left join card_messages m on m.partner_id = t.tenant_id and m.message_id = 'cmg_' || substr(t.journal_id, 5)
    -- A statement that inserts the card as well has listed what loads it.
    on conflict do nothing;
    return null;
  end $$;
create trigger transactions_of_cards after insert on ledger_transfers referencing new table as added
  for each statement execute function list_card_movements();

-- A card is inserted behind the journal that loads it.
create function list_first_card_movements() returns trigger
  language plpgsql security definer set search_path = svc, pg_temp
  as $$
  begin
    insert into card_transactions (partner_id, transaction_id, svc_card_id, card_account_id, company_id, kind, amount_paise,
        moved_paise, balance_paise, transfer_id, created_at)
      select c.partner_id, card_transaction_id(t.transfer_id, false), c.svc_card_id, c.card_account_id, c.company_id,
        card_transaction_kind(t.kind), t.amount, t.amount,
        sum(t.amount) over (partition by c.svc_card_id order by t.created_at, t.transfer_id), t.transfer_id, t.created_at
      from added c
        join ledger_transfers t on t.tenant_id = c.partner_id and t.credit_account_id = 'card:' || c.svc_card_id
      on conflict do nothing;
    return null;
  end $$;
create trigger transactions_of_cards after insert on cards referencing new table as added
  for each statement execute function list_first_card_movements();

-- Spend rules (decision C28): what a partner permits its cards, and how much of it in a day and a month.
create table spend_rules (
  partner_id        text collate "C" not null references tenants,
  spend_rule_id     text collate "C" not null,
  name              text not null,
  -- of one card, of the cards of one card account, or of all cards of the partner
  svc_card_id       text collate "C",
  card_account_id   text collate "C",
  of_id             text collate "C" generated always as (coalesce(svc_card_id, card_account_id, partner_id)) stored,
  -- the authorisations that it is about; null: whatever they say
  channels          text[],
  mccs              text[],
  except_mccs       text[],
  countries         text[],
  except_countries  text[],
  -- what it permits of them; without any of these, none
  transaction_paise bigint check (transaction_paise > 0),
  day_paise         bigint check (day_paise > 0),
  month_paise       bigint check (month_paise > 0),
  day_count         integer check (day_count > 0),
  month_count       integer check (month_count > 0),
  -- each card counts for itself, and not all of them together
  per_card          boolean not null,
  -- under what it counts: its own id, or that of the rule that it replaced
  counter           text collate "C" not null,
  created_at        timestamptz not null,
  removed_at        timestamptz,
  primary key (partner_id, spend_rule_id),
  constraint of_a_card_or_an_account check (svc_card_id is null or card_account_id is null),
  constraint card_is_the_partners foreign key (partner_id, svc_card_id) references cards (partner_id, svc_card_id),
  constraint account_is_the_partners foreign key (partner_id, card_account_id)
    references card_accounts (partner_id, card_account_id)
);
create index spend_rules_by_id on spend_rules (spend_rule_id);
create index spend_rules_of on spend_rules (of_id, spend_rule_id);
create index spend_rules_in_force on spend_rules (partner_id, of_id) where removed_at is null;
select secure_tenants('spend_rules', 'partner_id');
grant select, insert, update (svc_card_id, removed_at) on spend_rules to svc_service;
grant select on spend_rules to svc_operator;

-- What was authorised under each counter on each business day, less what was given back since.
create table spend_counters (
  partner_id     text collate "C" not null references tenants,
  counter        text collate "C" not null,
  day            date not null,
  amount_paise   bigint not null,
  authorizations integer not null,
  primary key (partner_id, counter, day)
);
select secure_tenants('spend_counters', 'partner_id');
grant select on spend_counters to svc_service, svc_operator;

-- Counters follow from holds, whoever changes those: a void or an expiry gives back, and so does a capture of less.
create function count_spending() returns trigger
  language plpgsql security definer set search_path = svc, pg_temp
  as $$
  declare
    before bigint := 0;
    after bigint := new.captured_paise + new.held_paise;
  begin
    if tg_op = 'UPDATE' then
      before := old.captured_paise + old.held_paise;
    end if;
    insert into spend_counters as s (partner_id, counter, day, amount_paise, authorizations)
      select new.partner_id, c, new.counted_on, after - before, (after > 0)::integer - (before > 0)::integer
      from unnest(new.counters) c order by c
      on conflict (partner_id, counter, day) do update
        set amount_paise = s.amount_paise + excluded.amount_paise,
          authorizations = s.authorizations + excluded.authorizations;
    return null;
  end $$;
create trigger spending_is_counted after insert or update of captured_paise, held_paise on card_authorizations
  for each row when (new.counters is not null) execute function count_spending();

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
  -- what its rows are: `issued` counts those that were carried out, of either kind
  kind        text collate "C" not null default 'issue' constraint bulk_job_kinds check (kind in ('issue', 'load')),
  constraint no_more_done_than_rows check (issued + failed <= row_count),
  constraint finished_when_all_done check ((finished_at is not null) = (issued + failed = row_count))
);
alter table bulk_jobs add primary key (partner_id, job_id);
create index bulk_jobs_open on bulk_jobs (partner_id, job_id) where finished_at is null;
select secure_tenants('bulk_jobs', 'partner_id');
grant select, insert, update (issued, failed, modified_at, started_at, finished_at) on bulk_jobs to svc_service;
grant select on bulk_jobs to svc_operator;

-- Their lines.
create table bulk_rows (
  job_id       text collate "C" not null,
  partner_id   text collate "C" not null,
  -- Number of the line in the upload, from 1.
  line         integer not null,
  status       text not null default 'PENDING'
    constraint bulk_row_statuses check (status in ('PENDING', 'ISSUED', 'LOADED', 'FAILED')),
  -- The line as it was sent, encrypted again under the keyring: it may contain what a partner sent by mistake. Deleted
  -- when the row is done.
  content      bytea,
  -- Until then a process works on it. A process that dies leaves the row to others.
  leased_until timestamptz not null default '-infinity',
  attempts     smallint not null default 0,
  svc_card_id  text collate "C",
  error        text,
  error_description text,
  load_id      text collate "C",
  constraint content_until_done check ((status = 'PENDING') = (content is not null)),
  constraint done_has_card check ((status in ('ISSUED', 'LOADED')) = (svc_card_id is not null)),
  constraint loaded_has_load check ((status = 'LOADED') = (load_id is not null)),
  constraint failed_has_error check ((status = 'FAILED') = (error is not null)),
  constraint job_is_the_partners foreign key (partner_id, job_id) references bulk_jobs (partner_id, job_id)
);
alter table bulk_rows add primary key (partner_id, job_id, line);
create index bulk_rows_waiting on bulk_rows (job_id, line) where status = 'PENDING';
select secure_tenants('bulk_rows', 'partner_id');
grant select, insert, update (status, content, leased_until, attempts, svc_card_id, load_id, error, error_description) on
  bulk_rows to svc_service;
-- For the rotation of keys.
grant select, update (content) on bulk_rows to svc_operator;

-- Lookups of the rails and of background work, before a partner is known (decision X4).
-- A number is unique among all partners; that a digest is in use reveals nothing about whose it is.
create function directory_card_numbers(digests bytea[]) returns table (digest bytea)
  language sql stable security definer set search_path = svc, pg_temp
  as $$ select c.number_digest from cards c where c.number_digest = any (digests) $$;

-- For the card rail, which names a card by its token or number and knows no partner.
create function directory_cards(tokens text[], digests bytea[])
  returns table (token text, number_digest bytea, partner_id text, svc_card_id text)
  language sql stable security definer set search_path = svc, pg_temp
  as $$
    select c.token, c.number_digest, c.partner_id, c.svc_card_id from cards c where c.token = any (tokens)
    union
    select c.token, c.number_digest, c.partner_id, c.svc_card_id from cards c where c.number_digest = any (digests)
  $$;

-- Card messages of these identities, of every type: a network gives each message its own STAN, and a signed message is bound
-- to its route by what is known of it (decisions Q11 and R1).

create function directory_card_messages_of(acquirers text[], stans text[], times timestamptz[])
  returns table (acquirer_id text, stan text, transmission_at timestamptz, type text, content_digest bytea,
    plain_digest bytea, response text)
  language sql stable security definer set search_path = svc, pg_temp
  as $$
    select m.acquirer_id, m.stan, m.transmission_at, m.type, m.content_digest, m.plain_digest, m.response
    from unnest(acquirers, stans, times) as k (acquirer_id, stan, transmission_at)
    join card_messages m using (acquirer_id, stan, transmission_at)
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

-- For the workers, before any tenant is known: of each partner the oldest job of orders that has a row to lease.
create function directory_bulk_jobs(most integer) returns table (partner_id text, job_id text)
  language sql volatile security definer set search_path = svc, pg_temp
  as $$
    select * from (
      select distinct on (j.partner_id) j.partner_id, j.job_id from bulk_jobs j
      where j.finished_at is null and j.kind = 'issue'
        -- The orders of a disabled partner wait for it to be enabled again.
        and exists (select from tenants t where t.tenant_id = j.partner_id and t.disabled_at is null)
        and exists (
          select from bulk_rows r
          where r.partner_id = j.partner_id and r.job_id = j.job_id and r.status = 'PENDING' and r.leased_until <= clock_timestamp())
      order by j.partner_id, j.job_id) oldest
    -- In random order, so that with more partners than `most` none waits for the others to be done.
    order by random() limit most
  $$;

-- Of each partner that is closing the oldest job that has a row to lease: its orders fail (decision A14).
create function directory_bulk_jobs_closing(most integer) returns table (partner_id text, job_id text)
  language sql volatile security definer set search_path = svc, pg_temp
  as $$
    select * from (
      select distinct on (j.partner_id) j.partner_id, j.job_id from bulk_jobs j
      where j.finished_at is null and j.kind = 'issue'
        and exists (select from tenants t where t.tenant_id = j.partner_id and t.closing_at is not null)
        and exists (
          select from bulk_rows r
          where r.partner_id = j.partner_id and r.job_id = j.job_id and r.status = 'PENDING' and r.leased_until <= clock_timestamp())
      order by j.partner_id, j.job_id) oldest
    order by random() limit most
  $$;

-- Of each partner the oldest job of loads that has a row to lease. The rows of a partner that is closing fail, those of a
-- disabled one wait.
create function directory_bulk_loads(most integer) returns table (partner_id text, job_id text, is_closing boolean)
  language sql volatile security definer set search_path = svc, pg_temp
  as $$
    select * from (
      select distinct on (j.partner_id) j.partner_id, j.job_id, t.closing_at is not null
      from bulk_jobs j join tenants t on t.tenant_id = j.partner_id
      where j.finished_at is null and j.kind = 'load' and (t.disabled_at is null or t.closing_at is not null)
        and exists (
          select from bulk_rows r
          where r.partner_id = j.partner_id and r.job_id = j.job_id and r.status = 'PENDING' and r.leased_until <= clock_timestamp())
      order by j.partner_id, j.job_id) oldest
    order by random() limit most
  $$;

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

revoke execute on all functions in schema svc from public;
grant execute on function directory_card_numbers, directory_cards, directory_card_messages_of,
  directory_card_holds_expired, directory_cards_due, directory_bulk_jobs, directory_bulk_jobs_closing,
  directory_bulk_loads, directory_virtual_accounts, directory_bank_credits to svc_service;
