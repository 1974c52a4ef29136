-- run: statement by statement
-- A fee is corrected by another one of the same day: rows are no longer replaced (decision Q15).
drop index concurrently if exists merchant_fees_recorded;
create unique index concurrently merchant_fees_recorded on merchant_fees (merchant_id, valid_from, created_at);
