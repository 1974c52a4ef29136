-- What the console's lists of webhook endpoints and of their attempts search by.
create index webhook_endpoints_by_url on webhook_endpoints ((left(lower(url), 255) collate "C"));
create index webhook_attempts_of_event on webhook_attempts (event_id);
create index webhook_attempts_failed on webhook_attempts (tenant_id, endpoint_id, started_at desc, attempt_id desc)
  where status is null or status not between 200 and 299;

-- As before, and besides: a batch carries out commands of many tenants, some of them given by operators on behalf of a
-- tenant, so it has no one actor. It says in `svc.acted` who acted on which thing, and by which request; that name wins
-- over the tenant's, for the thing and for what belongs to it.
create or replace function audit_change() returns trigger
  language plpgsql volatile security definer set search_path = svc
  as $$
  declare
    before  jsonb := case when tg_op <> 'INSERT' then to_jsonb(old) end;
    after   jsonb := case when tg_op <> 'DELETE' then to_jsonb(new) end;
    subject jsonb := coalesce(after, before);
    tenant  text := subject ->> tg_argv[2];
    acted   jsonb := nullif(current_setting('svc.acted', true), '')::jsonb;
    shown   jsonb;
    verb    text;
  begin
    select jsonb_object_agg(name, coalesce(after, before) -> name) into shown
      from unnest(string_to_array(tg_argv[3], ',')) as name
      where tg_op <> 'UPDATE' or after -> name is distinct from before -> name;
    if shown is null then
      return null;
    end if;
    verb := case
      when tg_op = 'INSERT' then 'created'
      when tg_op = 'DELETE' then 'deleted'
      when shown ->> 'revoked_at' is not null then 'revoked'
      when shown ->> 'retired_at' is not null then 'retired'
      when shown ->> 'disabled_at' is not null then 'disabled'
      when shown ? 'disabled_at' then 'enabled'
      else 'changed' end;
    acted := coalesce(acted -> (subject ->> tg_argv[1]), acted -> (subject ->> 'endpoint_id'));
    perform append_audit(
      coalesce(nullif(current_setting('svc.actor', true), ''), acted ->> 'actor',
        case when coalesce(current_setting('svc.tenants', true), '') <> '' then 'tenant ' || tenant end,
        'role ' || session_user),
      tg_argv[0] || '.' || verb, subject ->> tg_argv[1], tenant,
      coalesce(nullif(current_setting('svc.request_id', true), ''), acted ->> 'requestId'), shown, clock_timestamp());
    return null;
  end $$;
