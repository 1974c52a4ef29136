-- A payout that the bank reported as failed, and paid after all (decision Q15).

alter table payouts
  -- of a payout that was paid after all: when it had failed
  add column failed_at timestamptz,
  -- when the bank reported that it had paid a failed payout whose money had been paid again, or was not there any more
  add column paid_late_at timestamptz;
alter table payouts
  add constraint failed_before_it_was_paid check (failed_at is null or status = 'PAID') not valid,
  add constraint paid_late_when_failed check (paid_late_at is null or status = 'FAILED' and utr is not null) not valid;
grant update (failed_at, paid_late_at) on payouts to svc_service;
