-- A payout that the bank paid, and whose money came back (decision Q15).

alter table payouts
  -- when the bank reported that what it had paid came back
  add column returned_at timestamptz,
  -- the bank's own reference of the return
  add column return_utr text collate "C";
alter table payouts drop constraint failed_before_it_was_paid;
alter table payouts
  add constraint failed_before_it_was_paid
    check (failed_at is null or status = 'PAID' or returned_at is not null) not valid,
  add constraint returned_after_it_was_paid check ((returned_at is null) = (return_utr is null)
    and (returned_at is null or status = 'FAILED' and utr is not null and paid_late_at is null)) not valid;
grant update (returned_at, return_utr) on payouts to svc_service;

create or replace function directory_payouts(utrs text[]) returns table (utr text, payout_id text)
  language sql stable security definer set search_path = svc, pg_temp
  as $$
    select y.utr, y.payout_id from payouts y where y.utr = any (utrs)
    union all
    select y.return_utr, y.payout_id from payouts y where y.return_utr = any (utrs)
  $$;
