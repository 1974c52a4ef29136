-- Notices in quarantine that an operator ends without effect.

alter table rail_notices
  -- why an operator ended it without effect
  add column dismissal text;
alter table rail_notices drop constraint rail_notices_status_check;
alter table rail_notices drop constraint rail_notices_check;
alter table rail_notices
  add constraint rail_notices_status_check
    check (status in ('QUARANTINED', 'ASSIGNED', 'DISMISSED', 'DUPLICATE')) not valid,
  add constraint rail_notices_check
    check ((status in ('ASSIGNED', 'DISMISSED')) = (assigned_at is not null and assigned_by is not null)) not valid,
  add constraint dismissed_with_reason check ((status = 'DISMISSED') = (dismissal is not null)) not valid;
grant update (dismissal) on rail_notices to svc_service;
