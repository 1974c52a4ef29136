-- run: statement by statement
drop index concurrently if exists access_requests_open_of_member;
create unique index concurrently access_requests_open_of_member on access_requests (member_id, kind)
  where outcome is null and member_id is not null;
alter table access_requests validate constraint access_requests_kind_check;
alter table access_requests validate constraint access_is_of_somebody;
alter table access_requests validate constraint access_of_a_member;
alter table access_requests validate constraint member_is_the_tenants;
