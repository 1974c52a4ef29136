-- With a member's link or more rights an operator could act as the tenant, and move its money: a second administrator lets
-- further people in (decision R10).

-- The link that nobody approved yet; one that the tenant's own administrators make has another digest.
alter table members add column waiting_link bytea;

alter table access_requests
  drop constraint access_requests_kind_check,
  add constraint access_requests_kind_check check (kind in
    ('link', 'role', 'enable', 'passkeys', 'second_factor', 'identity', 'member_second_factor', 'member_link', 'member_role',
      'member_enable')) not valid,
  drop constraint access_is_of_somebody,
  add constraint access_is_of_somebody
    check (kind = 'link' or kind like 'member\_%' or operator_id is not null) not valid,
  drop constraint access_of_a_member,
  add constraint access_of_a_member check ((kind like 'member\_%') = (member_id is not null)) not valid,
  drop constraint access_requests_check3,
  add constraint access_of_a_role check ((kind in ('role', 'member_role')) = (role is not null)) not valid;
