-- A refund that the bank reported as failed, and made after all (decision Q14).

alter table merchant_refunds
  -- of a refund that was made after all: when it had failed
  add column failed_at timestamptz,
  -- when the bank reported that it had made a failed refund whose money was spent, or not left of its payment
  add column refunded_late_at timestamptz;
alter table merchant_refunds
  add constraint failed_before_it_was_refunded check (failed_at is null or status = 'REFUNDED') not valid,
  add constraint refunded_late_when_failed
    check (refunded_late_at is null or status = 'FAILED' and utr is not null) not valid;
grant update (failed_at, refunded_late_at) on merchant_refunds to svc_service;
