-- What the records of a card account's cards say that its partner sets (decision C27), by the name of the field.
alter table card_accounts add column record_settings jsonb not null default '{}';
grant update (record_settings) on card_accounts to svc_service;
