-- run: statement by statement
alter table access_requests validate constraint access_requests_kind_check;
alter table access_requests validate constraint access_is_of_somebody;
alter table access_requests validate constraint access_of_a_member;
alter table access_requests validate constraint access_of_a_role;
