-- What of a transfer is in the books of tenants that live in another cell now (decision X40): a move enters it, nobody else.
alter table settlement_batches add column moved_paise bigint not null default 0;
