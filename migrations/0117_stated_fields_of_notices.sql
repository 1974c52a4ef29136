-- What cannot be read in a notice: the field, and what it states; notices that the settings have ignored (decision Q11).

alter table rail_notices
  add column field text,
  add column detail text;
alter table rail_notices drop constraint rail_notices_status_check;
alter table rail_notices
  add constraint rail_notices_status_check
    check (status in ('QUARANTINED', 'ASSIGNED', 'DISMISSED', 'DUPLICATE', 'IGNORED')) not valid,
  add constraint ignored_by_settings
    check ((status = 'IGNORED') = (reason is not distinct from 'ignored')) not valid;
