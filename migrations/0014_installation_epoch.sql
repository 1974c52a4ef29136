-- Names what the database holds. A restore puts other data in its place and gives it another name: processes that see it
-- change drop all that they remember and begin anew.
create table installation (
  only_row boolean primary key default true check (only_row),
  epoch    text not null default gen_random_uuid()::text
);
insert into installation default values;
grant select on installation to svc_service, svc_operator;
