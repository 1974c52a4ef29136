-- The second factor of a member is removed by two administrators in live mode, as that of an operator: who removes it can
-- make the member a new link, and act as the member (decision R10).
alter table access_requests
  -- the tenant of the member: requests are of operators, and of no tenant
  add column member_tenant text collate "C",
  add column member_id text collate "C",
  drop constraint access_requests_kind_check,
  add constraint access_requests_kind_check check (kind in
    ('link', 'role', 'enable', 'passkeys', 'second_factor', 'identity', 'member_second_factor')) not valid,
  drop constraint access_requests_check2,
  add constraint access_is_of_somebody
    check (kind in ('link', 'member_second_factor') or operator_id is not null) not valid,
  add constraint access_of_a_member check ((kind = 'member_second_factor') = (member_id is not null)) not valid,
  add constraint member_is_the_tenants foreign key (member_tenant, member_id) references members (tenant_id, member_id) not valid;
drop trigger audited on access_requests;
create constraint trigger audited after insert or update or delete on access_requests deferrable initially deferred
  for each row execute function audit_change('access_request', 'approval_id', '',
    'kind,operator_id,invitation_id,member_tenant,member_id,role,outcome');
