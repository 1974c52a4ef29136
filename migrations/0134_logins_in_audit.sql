-- As before, with the login that entered it, beside the actor that the login names: who logged in is no matter of what a
-- program says.
create or replace function append_entry(
  actor text, action text, target text, tenant_id text, request_id text, details jsonb, at timestamptz) returns bigint
  language plpgsql volatile security definer set search_path = svc, pg_temp
  as $$
  declare
    head  audit_heads;
    place bigint := nextval('audit_log_sequence');
    entry text;
  begin
    insert into audit_heads (chain) values (coalesce(tenant_id, '')) on conflict do nothing;
    select * into strict head from audit_heads h where h.chain = coalesce(tenant_id, '') for update;
    entry := jsonb_strip_nulls(jsonb_build_object(
      'sequence', place, 'number', head.number + 1, 'at', floor(extract(epoch from at) * 1000)::bigint,
      'actor', actor, 'login', session_user, 'action', action, 'target', target, 'tenantId', tenant_id, 'requestId', request_id,
      'details', details))::text;
    with entered as (
      insert into audit_log (sequence, content, previous_hash, hash)
        values (place, entry, head.hash, sha256(head.hash || convert_to(entry, 'UTF8')))
        returning chain, number, hash)
    update audit_heads h set number = e.number, hash = e.hash from entered e where h.chain = e.chain;
    return place;
  end $$;


-- Up to which amount one person posts, and for how long the requester's creatures are no second persons, is the owner's to
-- loosen: the operators' login may only make it stricter (decision R10).
create function keep_approval_limit() returns trigger
  language plpgsql set search_path = svc, pg_temp
  as $$
  begin
    if not pg_has_role(session_user, 'svc_owner', 'member') and (
      old.above_paise is not null and (new.above_paise is null or new.above_paise > old.above_paise)
      or new.cooling_days < old.cooling_days)
    then
      raise exception 'only the owner of the schema loosens the limit'
        using errcode = 'integrity_constraint_violation', constraint = tg_name, table = tg_table_name;
    end if;
    return new;
  end $$;
create trigger approval_limit_is_the_owners before update on approval_limit for each row
  execute function keep_approval_limit();

revoke execute on all functions in schema svc from public;
