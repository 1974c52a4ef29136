-- What of the shares of a movement is in the books of tenants that live in another cell now (decision X40).
alter table own_funds_movements add column moved_paise bigint not null default 0;
