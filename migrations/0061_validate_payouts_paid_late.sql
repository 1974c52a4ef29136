-- run: statement by statement
alter table payouts validate constraint failed_before_it_was_paid;
alter table payouts validate constraint paid_late_when_failed;
