-- run: statement by statement
alter table merchant_refunds validate constraint failed_before_it_was_refunded;
alter table merchant_refunds validate constraint refunded_late_when_failed;
