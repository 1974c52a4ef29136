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
    select case leg_kind when 'card_load' then 'load' when 'card_spend' then 'capture' when 'card_refund' then 'refund'
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

revoke execute on all functions in schema svc from public;
