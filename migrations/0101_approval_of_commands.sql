-- An approval has the arguments of the command that waits: approving runs them (decision R10). And what one person posts
-- without a second one adds up: by person and tenant within 24 hours it stays within the limit.

-- as the command's own schema reads them; null: requested by the version before, to be requested again
alter table approvals add column arguments jsonb;

-- As before, for the arguments too.
create or replace function refuse_changed_approval() returns trigger
  language plpgsql set search_path = svc, pg_temp
  as $$
  begin
    if (new.tenant_id, new.approval_id, new.kind, new.amount_paise, new.reference, new.request, new.arguments, new.reason,
        new.requested_by, new.requested_at, new.expires_at)
      is distinct from (old.tenant_id, old.approval_id, old.kind, old.amount_paise, old.reference, old.request,
        old.arguments, old.reason, old.requested_by, old.requested_at, old.expires_at)
      or old.journal_id is not null and new is distinct from old
      or old.outcome is not null
        and (new.outcome, new.decided_by, new.decided_at) is distinct from (old.outcome, old.decided_by, old.decided_at)
        and not (old.outcome = 'APPROVED' and new.outcome = 'REJECTED' and new.journal_id is null)
    then
      raise exception 'what an approval is of, its decision and its journal do not change'
        using errcode = 'integrity_constraint_violation', constraint = 'approvals_are_final', table = 'approvals';
    end if;
    return new;
  end $$;

-- Batches of operators' commands run as the service, on the operators' login: what waits is entered by this function, which
-- no other login may use. An expired request of the same reference makes room.
create function request_approval(
  tenant text, id text, of_kind text, amount bigint, of_reference text, facts jsonb, args jsonb, why text, by text,
  hours integer) returns void
  language plpgsql volatile security definer set search_path = svc, pg_temp
  as $$
  begin
    if not acts_for_operators() then
      raise exception 'this login requests no approvals' using errcode = 'insufficient_privilege';
    end if;
    update approvals p set outcome = 'EXPIRED', decided_by = 'svc', decided_at = clock_timestamp()
      where p.tenant_id = tenant and p.kind = of_kind and p.reference = of_reference and p.outcome is null
        and p.expires_at <= clock_timestamp();
    insert into approvals (tenant_id, approval_id, kind, amount_paise, reference, request, arguments, reason, requested_by,
        requested_at, expires_at)
      values (tenant, id, of_kind, amount, of_reference, facts, args, why, by, clock_timestamp(),
        clock_timestamp() + hours * interval '1 hour');
  end $$;

-- What one person moved without a second one, each by its journal.
create table one_person_postings (
  tenant_id    text collate "C" not null references tenants,
  journal_id   text collate "C" not null,
  -- as the audit names them
  person       text collate "C" not null,
  -- that of an approval
  kind         text not null,
  amount_paise bigint not null check (amount_paise > 0),
  posted_at    timestamptz not null default clock_timestamp(),
  primary key (tenant_id, journal_id),
  constraint posted_alone_is_of_the_tenant
    foreign key (tenant_id, journal_id) references journals (tenant_id, journal_id) deferrable initially deferred
);
create index one_person_postings_by_person on one_person_postings (tenant_id, person, posted_at);
select secure_tenants('one_person_postings', 'tenant_id');
grant select, insert on one_person_postings to svc_service, svc_operator;

-- Two processes see each other's postings here, at the latest: who is second decides again, and finds the limit reached.
-- A login that acts for no operator is one person.
create function require_sum_within_limit() returns trigger
  language plpgsql security definer set search_path = svc, pg_temp
  as $$
  declare
    above bigint := (select l.above_paise from approval_limit l);
    total bigint;
  begin
    if not acts_for_operators() then
      new.person := 'role ' || session_user;
    end if;
    new.posted_at := clock_timestamp();
    if above is null then
      return new;
    end if;
    perform pg_advisory_xact_lock(hashtextextended('svc alone ' || new.tenant_id || ' ' || new.person, 0));
    select coalesce(sum(o.amount_paise), 0) into total from one_person_postings o
      where o.tenant_id = new.tenant_id and o.person = new.person
        and o.posted_at > clock_timestamp() - interval '24 hours';
    if total + new.amount_paise > above then
      raise exception 'what % posted within 24 hours needs the approval of a second person', new.person
        using errcode = 'serialization_failure', constraint = 'sums_are_within_limit', table = 'one_person_postings';
    end if;
    return new;
  end $$;
create trigger sums_are_within_limit before insert on one_person_postings
  for each row execute function require_sum_within_limit();

-- A posting by hand within the limit is somebody's: it counts among what that person posted. What was approved, or is
-- proved by a signed message, is not. Above the limit `require_whole_journals` requires an approval.
create function require_counted_postings() returns trigger
  language plpgsql security definer set search_path = svc, pg_temp
  as $$
  declare
    manual constant text[] := array(select distinct r.leg_kind from posting_rules r where r.is_manual);
  begin
    if not exists (select from added a where a.kind = any (manual)) then
      return null;
    end if;
    if exists (
      select from (
        select a.tenant_id, a.journal_id, a.kind, sum(a.amount) as amount from added a
        where a.kind = any (manual) group by a.tenant_id, a.journal_id, a.kind) t
      cross join approval_limit l
      where l.above_paise is not null
      and not exists (
        select from one_person_postings o
        where o.tenant_id = t.tenant_id and o.journal_id = t.journal_id and o.amount_paise = t.amount)
      and not exists (
        select from approvals p
        where p.tenant_id = t.tenant_id and p.journal_id = t.journal_id and p.amount_paise = t.amount)
      and not exists (
        select from bank_credits b
        where b.partner_id = t.tenant_id and b.journal_id = t.journal_id and t.kind = 'card_funding')
      and not exists (
        select from merchant_refunds r join journals j on j.tenant_id = t.tenant_id and j.journal_id = t.journal_id
        where r.merchant_id = t.tenant_id and r.refund_id = 'rfd_' || substr(j.reverses, 5)
          and t.kind = 'merchant_refund_failed' and r.outcome_notice is not null)
      and not exists (
        select from disputes d join journals j on j.tenant_id = t.tenant_id and j.journal_id = t.journal_id
        where d.merchant_id = t.tenant_id and d.dispute_id = 'dsp_' || substr(j.reverses, 5)
          and t.kind = 'dispute_won' and d.outcome_notice is not null)
    ) then
      raise exception 'a posting by hand counts among what its person posted'
        using errcode = 'integrity_constraint_violation', constraint = 'postings_are_counted', table = 'journals';
    end if;
    return null;
  end $$;
create trigger postings_are_counted after insert on ledger_transfers referencing new table as added
  for each statement execute function require_counted_postings();

revoke execute on all functions in schema svc from public;
grant execute on function request_approval to svc_service;
