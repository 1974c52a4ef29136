-- run: statement by statement
drop index concurrently if exists one_payout_per_return;
create unique index concurrently one_payout_per_return on payouts (return_utr) where return_utr is not null;
alter table payouts validate constraint failed_before_it_was_paid;
alter table payouts validate constraint returned_after_it_was_paid;
