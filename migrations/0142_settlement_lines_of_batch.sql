-- run: statement by statement
-- The lines of a transfer of the bank that are payments, of whichever merchants.
drop index concurrently if exists settlement_lines_of_batch;
create index concurrently settlement_lines_of_batch on settlement_lines (batch_id) where batch_id is not null;
