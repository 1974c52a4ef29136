-- One person alone does not send money away. Who set the bank account of a payout does not approve it (decision Q15), and
-- what operators refund of one payment counts together against their limit (decision R10).

-- who set it; null: before this was recorded
alter table payout_details add column set_by text;
-- The name that the audit has, also for the version that runs beside, which does not know the column.
create function name_who_set_account() returns trigger
  language plpgsql set search_path = svc, pg_temp
  as $$
  begin
    new.set_by := coalesce(nullif(current_setting('svc.actor', true), ''), 'role ' || session_user);
    return new;
  end $$;
create trigger set_by_is_recorded before insert or update on payout_details
  for each row execute function name_who_set_account();

-- who set the bank account that the payout keeps
alter table payouts add column account_set_by text;
alter table payouts add constraint approved_by_another_than_set_the_account
  check (approved_by is null or account_set_by is null or approved_by <> account_set_by) not valid;

-- the operator who made the refund; null: the merchant itself, or before this was recorded
alter table merchant_refunds add column requested_by text;

revoke execute on all functions in schema svc from public;
