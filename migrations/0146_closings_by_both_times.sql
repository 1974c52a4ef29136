-- A period with something open is closed for a reason, and where postings need two people, by two (decision R23).
alter table book_closings add column despite text, add column requested_by text;
alter table book_closings add constraint closed_despite_by_another check (requested_by is null or despite is not null) not valid;
alter table book_closings add constraint closing_states_a_reason check (despite <> '') not valid;

create table closing_requests (
  through      date primary key,
  -- what is open, and why the period is closed nevertheless
  open_items   text[] not null check (cardinality(open_items) > 0),
  despite      text not null check (despite <> ''),
  requested_by text not null,
  requested_at timestamptz not null default clock_timestamp()
);
create constraint trigger audited after insert or update or delete on closing_requests deferrable initially deferred
  for each row execute function audit_change('closing_request', 'through', null, 'through,open_items,despite,requested_by');
grant select on closing_requests to svc_service;
grant select, insert, update on closing_requests to svc_operator;

create function require_second_person_to_close() returns trigger
  language plpgsql security definer set search_path = svc, pg_temp
  as $$
  begin
    if new.despite is not null and exists (select from approval_limit where above_paise is not null) and (
      new.requested_by is null
      or not exists (select from closing_requests r where r.through = new.through and r.despite = new.despite
        and r.requested_by = new.requested_by)
      or second_person_problem(new.requested_by, new.closed_by) is not null)
    then
      raise exception 'a period with something open is closed by two people'
        using errcode = 'integrity_constraint_violation', constraint = 'closings_despite_are_approved', table = 'book_closings';
    end if;
    return new;
  end $$;
create trigger closings_despite_are_approved before insert on book_closings
  for each row execute function require_second_person_to_close();

revoke execute on all functions in schema svc from public;
