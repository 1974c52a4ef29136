-- run: statement by statement
-- Stored notices are looked up by their bytes: rarely, and by their hash.
drop index concurrently if exists rail_notices_by_body;
create index concurrently rail_notices_by_body on rail_notices using hash (body);
alter table ledger_accounts validate constraint lock_only_means_nothing;
