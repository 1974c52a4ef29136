-- Loads of cards in bulk (decision C26), by the jobs and rows of bulk orders: `kind` says what a job's rows are. `issued`
-- counts rows that were carried out, of either kind.
alter table bulk_jobs add column kind text collate "C" not null default 'issue';
alter table bulk_jobs add constraint bulk_job_kinds check (kind in ('issue', 'load')) not valid;
alter table bulk_rows add column load_id text collate "C";
alter table bulk_rows drop constraint bulk_rows_status_check;
alter table bulk_rows add constraint bulk_row_statuses
  check (status in ('PENDING', 'ISSUED', 'LOADED', 'FAILED')) not valid;
alter table bulk_rows drop constraint issued_has_card;
alter table bulk_rows add constraint done_has_card
  check ((status in ('ISSUED', 'LOADED')) = (svc_card_id is not null)) not valid;
alter table bulk_rows add constraint loaded_has_load check ((status = 'LOADED') = (load_id is not null)) not valid;
grant update (load_id) on bulk_rows to svc_service;

-- The version that runs beside reads these, and knows orders only.
create or replace function directory_bulk_jobs(most integer) returns table (partner_id text, job_id text)
  language sql volatile security definer set search_path = svc, pg_temp
  as $$
    select * from (
      select distinct on (j.partner_id) j.partner_id, j.job_id from bulk_jobs j
      where j.finished_at is null and j.kind = 'issue'
        -- The orders of a disabled partner wait for it to be enabled again.
        and exists (select from tenants t where t.tenant_id = j.partner_id and t.disabled_at is null)
        and exists (
          select from bulk_rows r
          where r.partner_id = j.partner_id and r.job_id = j.job_id and r.status = 'PENDING' and r.leased_until <= clock_timestamp())
      order by j.partner_id, j.job_id) oldest
    -- In random order, so that with more partners than `most` none waits for the others to be done.
    order by random() limit most
  $$;
create or replace function directory_bulk_jobs_closing(most integer) returns table (partner_id text, job_id text)
  language sql volatile security definer set search_path = svc, pg_temp
  as $$
    select * from (
      select distinct on (j.partner_id) j.partner_id, j.job_id from bulk_jobs j
      where j.finished_at is null and j.kind = 'issue'
        and exists (select from tenants t where t.tenant_id = j.partner_id and t.closing_at is not null)
        and exists (
          select from bulk_rows r
          where r.partner_id = j.partner_id and r.job_id = j.job_id and r.status = 'PENDING' and r.leased_until <= clock_timestamp())
      order by j.partner_id, j.job_id) oldest
    order by random() limit most
  $$;

-- Of each partner the oldest job of loads that has a row to lease. The rows of a partner that is closing fail, those of
-- a disabled one wait.
create function directory_bulk_loads(most integer) returns table (partner_id text, job_id text, is_closing boolean)
  language sql volatile security definer set search_path = svc, pg_temp
  as $$
    select * from (
      select distinct on (j.partner_id) j.partner_id, j.job_id, t.closing_at is not null
      from bulk_jobs j join tenants t on t.tenant_id = j.partner_id
      where j.finished_at is null and j.kind = 'load' and (t.disabled_at is null or t.closing_at is not null)
        and exists (
          select from bulk_rows r
          where r.partner_id = j.partner_id and r.job_id = j.job_id and r.status = 'PENDING' and r.leased_until <= clock_timestamp())
      order by j.partner_id, j.job_id) oldest
    order by random() limit most
  $$;

revoke execute on all functions in schema svc from public;
grant execute on function directory_bulk_loads to svc_service;
