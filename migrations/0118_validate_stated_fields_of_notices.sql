-- run: statement by statement
alter table rail_notices validate constraint rail_notices_status_check;
alter table rail_notices validate constraint ignored_by_settings;
