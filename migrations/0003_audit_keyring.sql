-- The audit, and the keys that encrypt what the database stores.

-- The audit: who did what (decision O3). `content` is the whole entry as it was hashed; the columns beside it are
-- generated from it, so that none of them can differ from it. Each tenant has a chain of its own, numbered without gaps;
-- what concerns none is in that of the installation, which is named ''. What names an entry is its chain and its number in
-- it: a tenant that moved here from another cell brings numbers of that cell's sequence.
create sequence audit_log_sequence;
create table audit_log (
  -- The order of entering, over all chains; the numbers of transactions that were rolled back are missing.
  sequence      bigint not null,
  content       text not null,
  previous_hash bytea not null,
  hash          bytea not null,
  at_ms         bigint generated always as ((content::jsonb ->> 'at')::bigint) stored,
  actor         text generated always as (content::jsonb ->> 'actor') stored,
  action        text generated always as (content::jsonb ->> 'action') stored,
  target        text generated always as (content::jsonb ->> 'target') stored,
  tenant_id     text generated always as (content::jsonb ->> 'tenantId') stored,
  chain         text collate "C" generated always as (coalesce(content::jsonb ->> 'tenantId', '')) stored,
  number        bigint generated always as ((content::jsonb ->> 'number')::bigint) stored,
  constraint audit_numbered_once primary key (chain, number)
);
create index audit_log_by_time on audit_log (at_ms);
create index audit_log_by_actor on audit_log (actor, sequence);
create index audit_log_by_action on audit_log (action, sequence);
create index audit_log_by_target on audit_log (target, sequence);
create index audit_log_by_tenant on audit_log (tenant_id, sequence);
create index audit_log_by_sequence on audit_log (sequence);
select secure_tenants('audit_log', 'tenant_id');
grant select on audit_log to svc_service, svc_operator;

create function refuse_change() returns trigger
  language plpgsql set search_path = svc
  as $$ begin raise exception '% is append-only', tg_table_name; end $$;
create trigger append_only before update or delete on audit_log for each row execute function refuse_change();
create trigger append_only_whole before truncate on audit_log for each statement execute function refuse_change();

-- The end of each chain, and how far the chain of the installation vouches for it. Only the functions here read it.
create table audit_heads (
  chain    text collate "C" primary key,
  number   bigint not null default 0,
  hash     bytea not null default decode(repeat('00', 32), 'hex'),
  anchored bigint not null default 0
) with (fillfactor = 50);

-- Chained by SHA-256 over the previous hash and the entry. A chain has one writer at a time, until its COMMIT: to be
-- called when all other locks of the transaction are held. The login that enters it stands beside the actor that the login
-- names: who logged in is no matter of what a program says.
create function append_entry(
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

create function append_audit(
  actor text, action text, target text, tenant_id text, request_id text, details jsonb, at timestamptz) returns bigint
  language plpgsql volatile security definer set search_path = svc, pg_temp
  as $$
  begin
    if not acts_for_operators() then
      raise exception 'this login does not append to the audit' using errcode = 'insufficient_privilege';
    end if;
    return append_entry(actor, action, target, tenant_id, request_id, details, at);
  end $$;

-- What a member does through a command: the service's role enters it for a tenant of its transaction, and never in
-- the name of an operator.
create function append_member_audit(
  member text, action text, target text, tenant_id text, request_id text, details jsonb, at timestamptz) returns bigint
  language plpgsql volatile security definer set search_path = svc, pg_temp
  as $$
  begin
    if tenant_id is null or array_position(current_tenants(), tenant_id) is null then
      raise exception 'the audit of a tenant is entered by its own requests' using errcode = 'insufficient_privilege';
    end if;
    return append_entry('member ' || member, action, target, tenant_id, request_id, details, at);
  end $$;

-- Enters the ends of the chains that have grown in the chain of the installation, and returns its end, which processes
-- write to their logs. A chain whose tenant is just entering something is left to the next call.
create function anchor_audit() returns table (number bigint, hash bytea)
  language plpgsql volatile security definer set search_path = svc, pg_temp
  as $$
  declare
    heads jsonb;
  begin
    insert into audit_heads (chain) values ('') on conflict do nothing;
    perform from audit_heads h where h.chain = '' for update;
    with grown as (
      select h.chain from audit_heads h where h.chain <> '' and h.number > h.anchored
      order by h.chain limit 1000 for update skip locked),
    anchored as (
      update audit_heads h set anchored = h.number from grown g where h.chain = g.chain
      returning h.chain, h.number, h.hash)
    select jsonb_object_agg(a.chain, a.number || ':' || encode(a.hash, 'hex')) into heads from anchored a;
    if heads is not null then
      perform append_entry('service', 'audit.anchored', 'audit', null, null,
        jsonb_build_object('heads', heads), clock_timestamp());
    end if;
    return query select h.number, h.hash from audit_heads h where h.chain = '' and h.number > 0;
  end $$;

-- Who acts in a transaction that names no operator: the member or the tenant of it, else the login.
create function acting_without_operator(tenant text) returns text
  language sql stable
  as $$
    select coalesce(case when coalesce(current_setting('svc.tenants', true), '') <> '' then
      coalesce('member ' || nullif(current_setting('svc.member', true), ''), 'tenant ' || tenant) end, 'role ' || session_user)
  $$;

-- Records changes of what decides who may do what, also those made with `psql`. Arguments: the noun, the columns of its
-- id and its tenant, and the columns that may be shown. The actor is `svc.actor`, or what a batch of several actors says
-- of this row in `svc.acted`, both from logins of operators only; else the member or the tenant of the transaction, else
-- the login.
create function audit_change() returns trigger
  language plpgsql volatile security definer set search_path = svc, pg_temp
  as $$
  declare
    before  jsonb := case when tg_op <> 'INSERT' then to_jsonb(old) end;
    after   jsonb := case when tg_op <> 'DELETE' then to_jsonb(new) end;
    subject jsonb := coalesce(after, before);
    tenant  text := subject ->> tg_argv[2];
    actor   text;
    acted   jsonb;
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
      when shown ->> 'accepted_at' is not null then 'accepted'
      when shown ->> 'retired_at' is not null then 'retired'
      when shown ->> 'disabled_at' is not null then 'disabled'
      when shown ? 'disabled_at' then 'enabled'
      else 'changed' end;
    if acts_for_operators() then
      actor := nullif(current_setting('svc.actor', true), '');
      acted := nullif(current_setting('svc.acted', true), '')::jsonb;
      acted := coalesce(acted -> (subject ->> tg_argv[1]), acted -> (subject ->> 'endpoint_id'));
    end if;
    perform append_entry(
      coalesce(actor, acted ->> 'actor', acting_without_operator(tenant)),
      tg_argv[0] || '.' || verb, subject ->> tg_argv[1], tenant,
      coalesce(nullif(current_setting('svc.request_id', true), ''), acted ->> 'requestId'), shown, clock_timestamp());
    return null;
  end $$;

-- Records changes that no entry may show, such as of what a person signs in with: that it changed, and by which login. The
-- program says itself why it does it, by one of some actions: then nothing is added. Arguments: the action, the columns of
-- the target's id and its tenant, and the actions of the program.
create function audit_secret() returns trigger
  language plpgsql volatile security definer set search_path = svc, pg_temp
  as $$
  declare
    subject jsonb := to_jsonb(new);
    id text := subject ->> tg_argv[1];
    tenant text := subject ->> tg_argv[2];
  begin
    if not exists (
      select from (select a.action, a.xmin from audit_log a where a.target = id order by a.sequence desc limit 20) a
      where a.action = any (string_to_array(tg_argv[3], ',')) and a.xmin = pg_current_xact_id()::xid)
    then
      perform append_entry(
        coalesce(case when acts_for_operators() then nullif(current_setting('svc.actor', true), '') end,
          acting_without_operator(tenant)),
        tg_argv[0], id, tenant, nullif(current_setting('svc.request_id', true), ''), '{}'::jsonb, clock_timestamp());
    end if;
    return null;
  end $$;

-- Tables of the files before this one:
create constraint trigger audited after update on tenants deferrable initially deferred
  for each row execute function audit_change('tenant', 'tenant_id', 'tenant_id', 'disabled_at');
create constraint trigger audited after insert or update or delete on retention deferrable initially deferred
  for each row execute function audit_change('retention', 'what', '', 'keep,rows');

-- The steps of a closing, also those made with `psql`. A command that records its step itself says why: then nothing is
-- added. Enabling ends a closing too and has its own entry. Only what `reopen_closed_tenants` reopens is named the
-- service's: it alone runs as the owner, inside another statement.
create function audit_closing() returns trigger
  language plpgsql volatile security definer set search_path = svc, pg_temp
  as $$
  declare
    verb text := 'tenant.' || case
      when new.closing_at is null then 'changed'
      when old.closed_at is not null and new.closed_at is null then 'reopened'
      when old.closed_at is null and new.closed_at is not null then 'closed'
      when old.closing_at is null then 'closing'
      else 'changed' end;
    actor text := coalesce(tg_argv[0],
      case when acts_for_operators() then nullif(current_setting('svc.actor', true), '') end,
      'role ' || session_user);
    shown jsonb;
  begin
    if exists (
      select from audit_log a
      where a.target = new.tenant_id and a.action = verb and a.xmin = pg_current_xact_id()::xid)
    then
      return null;
    end if;
    select jsonb_object_agg(c.name, c.after) into shown
      from (values ('closing_at', to_jsonb(old.closing_at), to_jsonb(new.closing_at)),
        ('closed_at', to_jsonb(old.closed_at), to_jsonb(new.closed_at))) as c (name, before, after)
      where c.after is distinct from c.before;
    perform append_entry(actor, verb, new.tenant_id, new.tenant_id,
      nullif(current_setting('svc.request_id', true), ''), shown, clock_timestamp());
    return null;
  end $$;
create constraint trigger closing_audited after update on tenants deferrable initially deferred for each row
  when ((old.closing_at, old.closed_at) is distinct from (new.closing_at, new.closed_at)
    and (old.disabled_at is null or new.disabled_at is not null)
    and not (pg_trigger_depth() > 0 and current_user = 'svc_owner'))
  execute function audit_closing();
create constraint trigger reopened after update on tenants deferrable initially deferred for each row
  when (old.closed_at is not null and new.closed_at is null and pg_trigger_depth() > 0 and current_user = 'svc_owner')
  execute function audit_closing('service');

-- Data keys, each wrapped by the master key, which is never in the database.
create table keyring (
  key_id     text collate "C" primary key,
  purpose    text not null,
  wrapped    bytea not null,
  wrapped_by text not null,
  created_at timestamptz not null default now(),
  retired_at timestamptz,
  -- A new key decrypts at once, and encrypts from here on, when every process has read it.
  effective_at timestamptz not null default now()
);
-- Deferred, here and everywhere: the entry is appended when the transaction holds all its other locks.
create constraint trigger audited after insert or update or delete on keyring deferrable initially deferred
  for each row execute function audit_change('data_key', 'key_id', '', 'purpose,wrapped_by,retired_at');
grant select, insert on keyring to svc_service;
grant select, insert, update on keyring to svc_operator;

revoke execute on all functions in schema svc from public;
grant execute on function append_audit to svc_service, svc_operator;
grant execute on function append_member_audit, anchor_audit to svc_service;
