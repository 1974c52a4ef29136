-- Uploads of many sealed orders (issue of cards in bulk), carried out by and by in the background.
create table bulk_jobs (
  job_id      text collate "C" primary key,
  partner_id  text collate "C" not null references partners,
  row_count   integer not null check (row_count > 0),
  issued      integer not null default 0,
  failed      integer not null default 0,
  created_at  timestamptz not null,
  modified_at timestamptz not null,
  started_at  timestamptz,
  finished_at timestamptz,
  constraint no_more_done_than_rows check (issued + failed <= row_count),
  constraint finished_when_all_done check ((finished_at is not null) = (issued + failed = row_count))
);
create index bulk_jobs_open on bulk_jobs (partner_id, job_id) where finished_at is null;

create table bulk_rows (
  job_id       text collate "C" not null references bulk_jobs,
  partner_id   text collate "C" not null references partners,
  -- Number of the line in the upload, from 1.
  line         integer not null,
  status       text not null default 'PENDING' check (status in ('PENDING', 'ISSUED', 'FAILED')),
  -- The line as it was sent, sealed once more under the keyring: whatever a partner sends by mistake is not in the
  -- open either. Gone when the row is done.
  content      bytea,
  -- Until then some process is at it. A process that dies leaves the row to others.
  leased_until timestamptz not null default '-infinity',
  attempts     smallint not null default 0,
  svc_card_id  text collate "C",
  error        text,
  error_description text,
  primary key (job_id, line),
  constraint content_until_done check ((status = 'PENDING') = (content is not null)),
  constraint issued_has_card check ((status = 'ISSUED') = (svc_card_id is not null)),
  constraint failed_has_error check ((status = 'FAILED') = (error is not null))
);
create index bulk_rows_waiting on bulk_rows (job_id, line) where status = 'PENDING';

do $$
declare
  secured text;
begin
  foreach secured in array array['bulk_jobs', 'bulk_rows']
  loop
    execute format('alter table %I enable row level security', secured);
    execute format(
      'create policy tenant on %I to svc_service using (partner_id = any ((select current_tenants())::text[]))', secured);
    execute format('create policy operator on %I to svc_operator using (true)', secured);
    execute format('grant select on %I to svc_service, svc_operator', secured);
    execute format('grant insert on %I to svc_service', secured);
  end loop;
end $$;
grant update (issued, failed, modified_at, started_at, finished_at) on bulk_jobs to svc_service;
grant update (status, content, leased_until, attempts, svc_card_id, error, error_description) on bulk_rows to svc_service;

-- For those who carry jobs out, before any tenant is known: of each partner the oldest job that has a row to take.
create function directory_bulk_jobs(most integer)
  returns table (partner_id text, job_id text)
  language sql volatile security definer set search_path = svc
  as $$
    select * from (
      select distinct on (j.partner_id) j.partner_id, j.job_id from bulk_jobs j
      where j.finished_at is null
        -- The orders of a disabled partner wait for it to be enabled again.
        and exists (select from tenants t where t.tenant_id = j.partner_id and t.disabled_at is null)
        and exists (
          select from bulk_rows r
          where r.job_id = j.job_id and r.status = 'PENDING' and r.leased_until <= clock_timestamp())
      order by j.partner_id, j.job_id) oldest
    -- Any of them first, so that with more partners than that none waits for the others to be done.
    order by random() limit most
  $$;
revoke execute on function directory_bulk_jobs from public;
grant execute on function directory_bulk_jobs to svc_service, svc_operator;
