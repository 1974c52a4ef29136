-- Cards are loaded again, and their money is taken back where their card account says so (decision C26).
insert into posting_rules
  (journal_kind, leg_kind, debit_kind, credit_kind, on_word_of, is_manual, is_reversible) values
  ('card_reload', 'card_reload', 'card_funding', 'card', 'program', false, false),
  ('card_unload', 'card_unload', 'card', 'card_funding', 'program', false, false);

alter table card_accounts add column unallocate_fund_allowed boolean not null default false;
alter table card_accounts add constraint gift_cards_keep_their_money
  check (account_type <> 'GIFT' or not unallocate_fund_allowed) not valid;
grant update (unallocate_fund_allowed) on card_accounts to svc_service;

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

create or replace function card_transaction_kind(leg_kind text) returns text
  language sql immutable parallel safe
  as $$
    select case leg_kind when 'card_load' then 'load' when 'card_reload' then 'load' when 'card_unload' then 'unload'
      when 'card_spend' then 'capture' when 'card_refund' then 'refund'
      when 'card_replacement' then 'replacement' when 'card_unclaimed' then 'unclaimed'
      when 'card_unclaimed_reversed' then 'unclaimed_reversed' when 'card_back_to_source' then 'return_to_source'
      else 'adjustment' end
  $$;

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

revoke execute on all functions in schema svc from public;
