-- Of each partner that is closing the oldest job that has a row to lease: its orders fail (decision A14).
create function directory_bulk_jobs_closing(most integer) returns table (partner_id text, job_id text)
  language sql volatile security definer set search_path = svc, pg_temp
  as $$
    select * from (
      select distinct on (j.partner_id) j.partner_id, j.job_id from bulk_jobs j
      where j.finished_at is null
        and exists (select from tenants t where t.tenant_id = j.partner_id and t.closing_at is not null)
        and exists (
          select from bulk_rows r
          where r.partner_id = j.partner_id and r.job_id = j.job_id and r.status = 'PENDING' and r.leased_until <= clock_timestamp())
      order by j.partner_id, j.job_id) oldest
    order by random() limit most
  $$;

revoke execute on all functions in schema svc from public;
grant execute on function directory_bulk_jobs_closing to svc_service;
