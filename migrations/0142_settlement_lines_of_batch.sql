-- run: statement by statement
-- The lines of a transfer of the bank that are payments, of whichever merchants.
drop index concurrently if exists settlement_lines_of_batch;
create index concurrently settlement_lines_of_batch on settlement_lines (batch_id) where batch_id is not null;
drop index concurrently if exists payment_adjustments_by_reference;
create index concurrently payment_adjustments_by_reference on payment_adjustments (reference);
drop index concurrently if exists card_messages_by_rrn;
create index concurrently card_messages_by_rrn on card_messages (rrn) where rrn is not null;
