-- run: statement by statement
alter table settlement_batches validate constraint settlement_batches_status_check;
alter table settlement_batches validate constraint reversed_batches_are_empty;
