-- What one person posts without a second one has a bound for all tenants together too: with a hundred tenants, the limit for
-- each is a hundred limits (decision R10).

create function limit_of_all_tenants() returns bigint
  language sql stable set search_path = svc, pg_temp
  as $$ select above_paise * 10 from approval_limit $$;

-- What a person posted within 24 hours, of whichever tenants.
create function posted_alone(by_person text) returns bigint
  language sql stable security definer set search_path = svc, pg_temp
  as $$
    select coalesce(sum(o.amount_paise), 0)::bigint from one_person_postings o
    where o.person = by_person and o.posted_at > clock_timestamp() - interval '24 hours'
  $$;

-- As before, by the person alone: two processes see each other's postings here, of whichever tenants.
create or replace function require_sum_within_limit() returns trigger
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
    perform pg_advisory_xact_lock(hashtextextended('svc alone ' || new.person, 0));
    select coalesce(sum(o.amount_paise), 0) into total from one_person_postings o
      where o.tenant_id = new.tenant_id and o.person = new.person
        and o.posted_at > clock_timestamp() - interval '24 hours';
    if total + new.amount_paise > above or posted_alone(new.person) + new.amount_paise > limit_of_all_tenants() then
      raise exception 'what % posted within 24 hours needs the approval of a second person', new.person
        using errcode = 'serialization_failure', constraint = 'sums_are_within_limit', table = 'one_person_postings';
    end if;
    return new;
  end $$;

revoke execute on all functions in schema svc from public;
grant execute on function posted_alone, limit_of_all_tenants to svc_service, svc_operator;
