-- A card's account is its company's and its partner's, a user's company is its partner's, and PostgreSQL holds them to
-- it: one reference says what two or three said of the ids alone, each of which cost every card a look-up and a lock.
alter table companies add constraint companies_of_partner unique (company_id, partner_id);
alter table users
  drop constraint users_company_id_fkey,
  drop constraint users_partner_id_fkey,
  add constraint company_is_the_partners foreign key (company_id, partner_id) references companies (company_id, partner_id);
alter table card_accounts
  drop constraint card_accounts_company_id_fkey,
  drop constraint card_accounts_partner_id_fkey,
  add constraint company_is_the_partners foreign key (company_id, partner_id) references companies (company_id, partner_id),
  add constraint card_accounts_of_company unique (card_account_id, company_id, partner_id);
alter table cards
  drop constraint cards_card_account_id_fkey,
  drop constraint cards_company_id_fkey,
  drop constraint cards_partner_id_fkey,
  add constraint account_is_the_companys foreign key (card_account_id, company_id, partner_id)
    references card_accounts (card_account_id, company_id, partner_id);

-- Tenants are never deleted, and whatever an answer tells of has its own reference to its tenant.
alter table idempotency_keys drop constraint idempotency_keys_tenant_id_fkey;
