-- What the console's lists search by. Begins of names and addresses are compared bytewise, whatever the locale.
create index merchants_by_name on merchants ((lower(name) collate "C"), merchant_id);
create index merchants_by_vpa on merchants ((lower(vpa) collate "C"));
create index partners_by_name on partners ((lower(name) collate "C"), partner_id);
create index companies_by_name on companies ((lower(name) collate "C"), company_id);
create index companies_of_partner_listed on companies (partner_id, company_id);
drop index companies_by_partner;
create index users_by_mobile_alone on users (mobile) where mobile is not null;
create index users_by_email_alone on users (email_key) where email_key is not null;
-- On an expression, so that no look-up of the write path by company and something else can take it for its own: with
-- old statistics it would look as cheap as the right key, and read all users of the company (see 0007).
create index users_of_company_listed on users ((company_id || ''), user_id);
-- Nearly all cards are unlocked; the others are what people look for.
create index cards_not_unlocked on cards (status, svc_card_id) where status <> 'UL';
create index ledger_transfers_debited on ledger_transfers (debit_account_id, transfer_id);
create index ledger_transfers_credited on ledger_transfers (credit_account_id, transfer_id);
