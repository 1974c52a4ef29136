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

-- Under which counters a hold counts, on the business day of its authorisation; null: under none.
alter table card_authorizations add column counters text[];
alter table card_authorizations add column counted_on date;

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

-- What a decision depended on, so that it can be made again with other rules; null of messages before it was stored.
alter table card_messages add column basis text;
-- ISO 8583 field 43, positions 39 and 40
alter table card_messages add column merchant_country text;
-- Of a void: what is left of its authorisation, ISO 8583 field 95
alter table card_messages add column replacement_paise bigint;
alter table card_messages add constraint replacement_not_negative check (replacement_paise >= 0) not valid;

revoke execute on all functions in schema svc from public;
