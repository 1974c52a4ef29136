-- Who may act is decided by two administrators in live mode, and nobody chooses the password of another (decisions O2, R10).

-- Whether a process in live mode works on this database; kept here so that a command line in sandbox mode cannot pass it by.
alter table approval_limit add column administrators_by_two boolean not null default false;
grant update (administrators_by_two) on approval_limit to svc_operator;
drop trigger audited on approval_limit;
create constraint trigger audited after insert or update or delete on approval_limit deferrable initially deferred
  for each row execute function audit_change('approval_limit', 'what', '', 'above_paise,cooling_days,administrators_by_two');

-- A link makes an operator, or lets an operator who exists choose another password.
alter table operator_invitations add column resets text collate "C";
alter table operator_invitations add constraint resets_an_operator foreign key (resets) references operators not valid;
alter table operator_invitations drop constraint operator_invitations_operator_id_key;
drop trigger audited on operator_invitations;
create constraint trigger audited after insert or update or delete on operator_invitations deferrable initially deferred
  for each row execute function audit_change('invitation', 'invitation_id', '', 'name,role,resets,expires_at,accepted_at,revoked_at');

-- What a second administrator decides: a link that makes an administrator or replaces a password, a role that may do more,
-- a disabled administrator who returns, a way to sign in that is removed.
create table access_requests (
  approval_id   text collate "C" not null,
  kind          text not null check (kind in ('link', 'role', 'enable', 'passkeys', 'second_factor', 'identity')),
  operator_id   text collate "C" references operators,
  invitation_id text collate "C" unique references operator_invitations,
  role          text,
  -- as the audit names them
  requested_by  text not null,
  requested_at  timestamptz not null,
  expires_at    timestamptz not null check (expires_at > requested_at),
  outcome       text check (outcome in ('APPROVED', 'REJECTED', 'EXPIRED')),
  decided_by    text,
  decided_at    timestamptz,
  check ((kind = 'link') = (invitation_id is not null)),
  check (kind = 'link' or operator_id is not null),
  check ((kind = 'role') = (role is not null)),
  check ((outcome is null) = (decided_by is null) and (outcome is null) = (decided_at is null))
);
alter table access_requests add primary key (approval_id);
create unique index access_requests_open on access_requests (operator_id, kind) where outcome is null and kind <> 'link';
create constraint trigger audited after insert or update or delete on access_requests deferrable initially deferred
  for each row execute function audit_change('access_request', 'approval_id', '', 'kind,operator_id,invitation_id,role,outcome');
grant select, insert on access_requests to svc_operator;
grant update (outcome, decided_by, decided_at) on access_requests to svc_operator;

-- What was done with the login of the database's owner in the place of an administrator: the first administrator, and where
-- none can sign in. Only that login writes it, before it acts, and operators are alerted.
create table owner_acts (
  act_id  bigint generated always as identity,
  at      timestamptz not null default clock_timestamp(),
  -- as the audit names them
  by      text not null,
  command text not null
);
alter table owner_acts add primary key (act_id);
grant select on owner_acts to svc_operator;

-- As before, and whom the requester of an approved access request armed.
create or replace function second_person_problem(requester text, approver text) returns text
  language sql stable security definer set search_path = svc, pg_temp
  as $$
    with recursive since as (
      select clock_timestamp() - l.cooling_days * interval '1 day' as at from approval_limit l),
    armed (by, who) as (
      select a.actor collate "C", 'operator ' || o.name
      from audit_log a join operators o on o.operator_id = a.target
      where a.action = any (arming_actions()) and a.actor <> 'operator ' || o.name
        and a.at_ms > extract(epoch from (select at from since)) * 1000
      union all
      select i.created_by collate "C", 'operator ' || i.name
      from operator_invitations i where i.accepted_at > (select at from since)
      union all
      select r.requested_by collate "C", 'operator ' || o.name
      from access_requests r join operators o on o.operator_id = r.operator_id
      where r.outcome = 'APPROVED' and r.decided_at > (select at from since)),
    of_requester (who) as (
      select requester collate "C" union select e.who from armed e join of_requester r on e.by = r.who),
    of_approver (who) as (
      select approver collate "C" union select e.who from armed e join of_approver r on e.by = r.who)
    select case
      when requester = approver then 'same_person'
      when exists (select from of_requester where who = approver) then 'armed_by_requester'
      when exists (select from of_approver where who = requester) then 'armed_requester' end
  $$;

create function require_second_administrator() returns trigger
  language plpgsql security definer set search_path = svc, pg_temp
  as $$
  begin
    if second_person_problem(new.requested_by, new.decided_by) is not null then
      raise exception '% is no second person beside %', new.decided_by, new.requested_by
        using errcode = 'integrity_constraint_violation', constraint = 'approved_by_a_second_person', table = tg_table_name;
    end if;
    return null;
  end $$;
create trigger approved_by_a_second_person after insert or update of outcome, decided_by on access_requests
  for each row when (new.outcome = 'APPROVED') execute function require_second_administrator();

revoke execute on all functions in schema svc from public;
