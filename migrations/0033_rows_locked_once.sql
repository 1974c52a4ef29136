-- A subquery that locks rows is read once: behind `in`, a plan may read it for every row of the table, and each time it
-- passes over what it has locked and finds the next ones, so that its limit limits nothing.

create or replace function forget_old_rows(responses_before timestamptz, batches_before timestamptz) returns bigint
  language sql volatile security definer set search_path = svc, pg_temp
  as $$
    with responses as (
      delete from idempotency_keys where ctid = any (array(
        select ctid from idempotency_keys
        where created_at < least(responses_before, (select retained_since('idempotency_keys')))
        limit 5000 for update skip locked))
      returning 1),
    settled as (
      delete from batches where ctid = any (array(
        select ctid from batches
        where created_at < least(batches_before, (select retained_since('batches')))
        limit 5000 for update skip locked))
      returning 1)
    select (select count(*) from responses) + (select count(*) from settled)
  $$;

create or replace function forget_webhook_attempts(before timestamptz) returns bigint
  language sql volatile security definer set search_path = svc, pg_temp
  as $$
    with gone as (
      delete from webhook_attempts where ctid = any (array(
        select ctid from webhook_attempts
        where started_at < least(before, (select retained_since('webhook_attempts')))
        limit 5000 for update skip locked))
      returning 1)
    select count(*) from gone
  $$;
