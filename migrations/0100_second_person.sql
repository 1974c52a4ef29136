-- Who may be the second person (decision R10), in one function for approvals, payouts and whatever else two people do. Who
-- created, invited, promoted or reset another operator lately knows how to sign in as them: the two count as one person.

alter table approval_limit add column cooling_days integer not null default 7;
grant update (cooling_days) on approval_limit to svc_operator;
drop trigger audited on approval_limit;
create constraint trigger audited after insert or update or delete on approval_limit deferrable initially deferred
  for each row execute function audit_change('approval_limit', 'what', '', 'above_paise,cooling_days');

-- What gives somebody else the means to act as an operator, or more rights, by the names of the audit. Its target is the
-- operator. Invitations are in their own table.
create function arming_actions() returns text[]
  language sql immutable parallel safe
  as $$ select array['operator.created', 'operator.enabled', 'operator.changed', 'operator.password_reset',
    'operator.passkeys_removed', 'second_factor.deleted', 'operator_identity.created', 'operator_identity.deleted'] $$;

-- Why `approver` is no second person beside `requester`, both as the audit names them; null: they are two people.
-- `same_person`; `armed_by_requester`: the requester, or an operator whom the requester armed, armed the approver within
-- the cooling time; `armed_requester`: the other way round.
create function second_person_problem(requester text, approver text) returns text
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
      from operator_invitations i where i.accepted_at > (select at from since)),
    of_requester (who) as (
      select requester collate "C" union select e.who from armed e join of_requester r on e.by = r.who),
    of_approver (who) as (
      select approver collate "C" union select e.who from armed e join of_approver r on e.by = r.who)
    select case
      when requester = approver then 'same_person'
      when exists (select from of_requester where who = approver) then 'armed_by_requester'
      when exists (select from of_approver where who = requester) then 'armed_requester' end
  $$;

-- What the program refuses with a message, whichever login writes it.
create function require_second_person() returns trigger
  language plpgsql security definer set search_path = svc, pg_temp
  as $$
  declare
    asked text[] := case tg_table_name when 'approvals' then array[to_jsonb(new) ->> 'requested_by']
      else array[to_jsonb(new) ->> 'prepared_by', to_jsonb(new) ->> 'account_set_by'] end;
    decided text := to_jsonb(new) ->> case tg_table_name when 'approvals' then 'decided_by' else 'approved_by' end;
  begin
    if exists (select from unnest(asked) as a (who) where second_person_problem(a.who, decided) is not null) then
      raise exception '% is no second person beside %', decided, array_to_string(asked, ' and ')
        using errcode = 'integrity_constraint_violation', constraint = 'approved_by_a_second_person', table = tg_table_name;
    end if;
    return null;
  end $$;
create trigger approved_by_a_second_person after insert or update of outcome, decided_by on approvals
  for each row when (new.outcome = 'APPROVED') execute function require_second_person();
create trigger approved_by_a_second_person after insert or update of approved_by on payouts
  for each row when (new.approved_by is not null) execute function require_second_person();

revoke execute on all functions in schema svc from public;
grant execute on function second_person_problem to svc_service, svc_operator;
